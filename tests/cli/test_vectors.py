"""`pi-trio vectors rule`: a golden trace is proposed for review. (Recording needs a real release: tests/upstream.)"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pi_trio.cli import main
from pi_trio.conformance.ruled import golden_path, read_golden
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.vectors import Recording, Vectors, spec_folder

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
    code, out, _ = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-04")
    assert code == 0
    assert "1 lines differ, under D-04" in out
    assert "it enters at: prompt p1" in out
    golden = read_golden(spec, "1.6.0", "text_plain")
    assert golden is not None
    assert [(entry.mark, entry.line["event"]["type"]) for entry in golden.entries if entry.ruling] == [
        ("+", "turn_start")
    ]
    assert pi_trio("conform", scenarios=("text_plain",))[0] == 0
    shown = pi_trio("explain-run", "text_plain", "--ruled")[1].splitlines()
    assert [line.split() for line in shown if line.startswith("+")] == [["+", "L", "turn_start", "D-04"]]


def test_where_nothing_differs_there_is_nothing_to_rule(pi_trio: PiTrio, spec: Vectors) -> None:
    code, out, _ = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-04")
    assert code == 1
    assert "nothing differs" in out
    assert read_golden(spec, "1.6.0", "text_plain") is None


@pytest.mark.parametrize("action", ["rule", "cancel"])
def test_nothing_is_written_of_a_runtime_that_broke_off(
    pi_trio: PiTrio, spec: Vectors, peer: Callable[..., str], monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    broken = shlex.split(peer([None, [{"stderr": "why"}, {"exit": 3}]]))
    monkeypatch.setattr(
        "pi_trio.cli.vectors.runtime_inside",
        lambda profile, patience: partial(open_process_subject, broken, profile=profile, patience=patience),
    )
    before = sorted(spec.spec.rglob("*"))
    code, _, err = pi_trio("vectors", action, "text_plain", "--ruling", "D-04")
    assert code == 4
    assert "text_plain: the runtime broke off: " in err
    assert err.endswith("it exited with code 3\nwhy\n")
    assert sorted(spec.spec.rglob("*")) == before


def test_names_may_stand_behind_the_options(pi_trio: PiTrio) -> None:
    """As in the commands that the tester recommends."""
    code, out, _ = pi_trio("vectors", "rule", "--release", "1.6.0", "--ruling", "D-04", "text_plain")
    assert (code, "text_plain: nothing differs" in out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["rule", "text_plain"], "needs the name of a scenario, and --ruling"),
        (["rule", "--ruling", "D-04"], "needs the name of a scenario, and --ruling"),
        (["rule", "no_such", "--ruling", "D-04"], "no scenario is called no_such"),
        (["rule", "abort_when_idle", "--ruling", "D-04"], "is not recorded"),
        (["rule", "text_plain", "--ruling", "D-04", "--release", "9.9.9"], "the runtime can be as 0.80.2, "),
        (["cancel", "text_plain", "--release", "9.9.9"], "the runtime can be as 0.80.2, "),
        (["cancel", "text_plain", "--release", "/tmp"], "the runtime can be as 0.80.2, "),
        (["record", "text_plain", "--release", "~nosuchuser/x"], "there is no such home"),
    ],
)
def test_wrong_usage_is_told(pi_trio: PiTrio, arguments: list[str], tells: str) -> None:
    code, _, err = pi_trio("vectors", *arguments)
    assert code == 2
    assert tells in err


def test_only_what_is_needed_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["vectors"])
    assert capsys.readouterr().err.endswith("required: action\n")


def test_a_ruling_has_been_written_down(pi_trio: PiTrio, spec: Vectors) -> None:
    """In this very spec folder, if it has the document, or else in the one of the installation."""
    forget(spec, "text_plain", "turn_start")
    code, _, err = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-99")
    assert code == 2
    assert err.startswith(f"pi-trio: --ruling D-99: {spec_folder()}/deviations/rulings.md has no such ruling")
    assert read_golden(spec, "1.6.0", "text_plain") is None
    own = spec.spec / "deviations" / "rulings.md"
    own.parent.mkdir()
    own.write_text("# Ours\n\n## D-99 turns\n\nThey begin.\n")
    assert pi_trio("vectors", "rule", "text_plain", "--ruling", "D-99")[0] == 0
    assert pi_trio("vectors", "rule", "text_plain", "--ruling", "D-04")[0] == 2


def test_a_cut_off_recording_is_ruled_by_nobody(pi_trio: PiTrio, spec: Vectors) -> None:
    path = spec.path("1.6.0", "text_plain")
    path.write_text(path.read_text().partition("\n")[0] + "\n")
    code, _, err = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-04")
    assert (code, err) == (
        4,
        f"pi-trio: {path}, line 1: the trace breaks off here: its last line is an end\n",
    )
    assert read_golden(spec, "1.6.0", "text_plain") is None
    code, out, _ = pi_trio("conform", scenarios=("text_plain",))
    assert code == 4
    assert "HARNESS" in out
    assert str(path) in out


def test_what_is_to_be_recorded_first_goes_into_the_same_folder(pi_trio: PiTrio, spec: Vectors) -> None:
    _, _, err = pi_trio("vectors", "rule", "abort_when_idle", "--ruling", "D-04")
    assert f"run `pi-trio vectors record --release 1.6.0 abort_when_idle --spec {spec.spec}` first" in err


@pytest.mark.parametrize(
    "arguments",
    [["vectors", "verify", "two_runs"], ["conform"], ["fit"], ["explain-run", "two_runs", "--ruled"]],
)
def test_a_folder_that_is_to_be_read_has_to_be_there(
    arguments: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--spec", str(tmp_path / "no")]) == 2
    assert capfd.readouterr().err == f"pi-trio: --spec {tmp_path / 'no'}: there is no such folder\n"


def test_a_ruling_has_an_id(pi_trio: PiTrio, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        pi_trio("vectors", "rule", "text_plain", "--ruling", "NONSENSE")
    assert caught.value.code == 2
    assert "the id of a ruling is such as D-02" in capfd.readouterr().err


@pytest.mark.parametrize("below", ["", "nope"])
def test_a_place_that_cannot_be_written_is_told_before_anything_runs(
    below: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    assert main(["vectors", "record", "text_plain", "--spec", str(file / below)]) == 2
    err = capfd.readouterr().err
    assert err.startswith("pi-trio: --spec ")
    assert err.count("\n") == 1


def test_a_folder_in_the_place_of_a_vector_is_told(pi_trio: PiTrio, spec: Vectors) -> None:
    forget(spec, "text_plain", "turn_start")
    golden_path(spec, "1.6.0", "text_plain").mkdir(parents=True)
    code, _, err = pi_trio("vectors", "rule", "text_plain", "--ruling", "D-04")
    assert (code, err.count("\n")) == (2, 1)
    assert "text_plain.jsonl: Is a directory" in err


def test_the_help_says_where_it_writes(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["vectors", "--help"])
    out = capfd.readouterr().out
    assert str(spec_folder() / "vectors") in out
    assert "folder of your own with --spec" in out


def test_a_release_that_cannot_be_had_is_told(pi_trio: PiTrio, tmp_path) -> None:
    code, _, err = pi_trio("vectors", "record", "--release", str(tmp_path / "nothing"))
    assert code == 3
    assert "nothing" in err
