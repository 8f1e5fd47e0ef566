"""`pi-trio vectors rule`: a golden trace is proposed for review. (Recording needs a real release: tests/upstream.)"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.vectors import Recording, Vectors

from .conftest import Finished

PiTrio = Callable[..., Finished]


def forget(spec: Vectors, name: str, kind: str) -> None:
    """Make the release not say events of that type."""
    recording = spec.read("1.6.0", name)
    assert recording is not None
    lines = tuple(line for line in recording.lines if line.get("event", {}).get("type") != kind)
    spec.write(Recording(scenario=recording.scenario, release="1.6.0", lines=lines))


def test_what_differs_is_written_down_under_the_ruling(pi_trio: PiTrio, spec: Vectors) -> None:
    forget(spec, "text_plain", "turn_start")
    code, out, _ = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-99")
    assert code == 0
    assert "1 lines differ, under D-99" in out
    assert "it enters at: prompt p1" in out
    golden = read_golden(spec, "1.6.0", "text_plain")
    assert golden is not None
    assert [(entry.mark, entry.line["event"]["type"]) for entry in golden.entries if entry.ruling] == [
        ("+", "turn_start")
    ]
    assert pi_trio("conform", scenarios=("text_plain",))[0] == 0
    shown = pi_trio("explain-run", "text_plain", "--ruled")[1].splitlines()
    assert [line.split() for line in shown if line.startswith("+")] == [["+", "L", "turn_start", "D-99"]]


def test_where_nothing_differs_there_is_nothing_to_rule(pi_trio: PiTrio, spec: Vectors) -> None:
    code, out, _ = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-99")
    assert code == 1
    assert "nothing differs" in out
    assert read_golden(spec, "1.6.0", "text_plain") is None


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["rule", "text_plain"], "needs the name of a scenario, and --ruling"),
        (["rule", "--ruling", "D-99"], "needs the name of a scenario, and --ruling"),
        (["rule", "no_such", "--ruling", "D-99"], "no scenario is called no_such"),
        (["rule", "abort_when_idle", "--ruling", "D-99"], "is not recorded"),
    ],
)
def test_wrong_usage_is_told(pi_trio: PiTrio, arguments: list[str], tells: str) -> None:
    code, _, err = pi_trio("vectors", *arguments)
    assert code == 2
    assert tells in err


def test_a_release_that_cannot_be_had_is_told(pi_trio: PiTrio, tmp_path) -> None:
    code, _, err = pi_trio("vectors", "record", "--release", str(tmp_path / "nothing"))
    assert code == 3
    assert "nothing" in err
