"""The golden traces that ship: both sides true, every differing line ruled, and nothing ruled that does not differ."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

import pytest
import trio

from pi_trio.conformance.compare import canonical, fingerprint
from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import Golden, golden_names, propose, read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors

RELEASE = "1.6.0"
VECTORS = Vectors.shipped()
NAMES = sorted(golden_names(VECTORS, RELEASE))
IN_FORCE = ("D-01", "D-02", "D-03", "D-04", "D-05", "D-06", "D-07", "D-09")

every_one = pytest.mark.parametrize("name", NAMES)


def golden(name: str) -> Golden:
    found = read_golden(VECTORS, RELEASE, name)
    assert found is not None
    return found


def rulings() -> dict[str, set[str]]:
    """The table of rulings: the scenarios that each names, by its id."""
    text = (VECTORS.spec / "deviations" / "rulings.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for section in re.split(r"^## (?=D-)", text, flags=re.MULTILINE)[1:]:
        heading, upstream, ours, scenarios = re.split(
            r"^- (?:upstream|pi_trio|scenarios): ", section, flags=re.MULTILINE
        )
        ruling = heading.split()[0]
        assert ruling not in found, f"{ruling} has two headings"
        assert len(heading.strip().split("\n\n")) == 2, f"{ruling} is a heading and a sentence"
        assert upstream.strip(), ruling
        assert ours.strip(), ruling
        found[ruling] = set(re.findall(r"`(\w+)`", scenarios))
    return found


@pytest.fixture(scope="module")
def runs() -> dict[str, Run | Exception]:
    """What the runtime does in each scenario that is ruled."""
    chosen = [scenario for scenario in all_scenarios() if scenario.name in NAMES]
    with first_in_first_out():
        return trio.run(consult_runtime, runtime_inside(f"pi-{RELEASE}", 30), chosen)


@every_one
def test_it_is_whole(name: str) -> None:
    trace = golden(name)
    assert trace.faults() == []
    assert (trace.scenario, trace.release) == (name, RELEASE)


@every_one
def test_its_ids_are_in_the_table(name: str) -> None:
    assert set(golden(name).rulings()) <= rulings().keys()


@every_one
def test_without_what_only_the_runtime_says_it_is_the_recording(name: str) -> None:
    recording = VECTORS.read(RELEASE, name)
    assert recording is not None
    assert fingerprint(golden(name).release_side()) == fingerprint(recording.lines)


@every_one
def test_without_what_only_the_release_says_it_is_the_runtimes_trace(
    name: str, runs: dict[str, Run | Exception]
) -> None:
    run = runs[name]
    assert isinstance(run, Run)
    assert run.fault is None
    assert fingerprint(golden(name).runtime_side()) == fingerprint(run.lines)


@every_one
def test_ruling_it_again_changes_nothing(name: str, runs: dict[str, Run | Exception]) -> None:
    recording, run = VECTORS.read(RELEASE, name), runs[name]
    assert recording is not None
    assert isinstance(run, Run)
    trace = golden(name)
    assert propose(name, RELEASE, recording.lines, run.lines, "D-00", former=trace) == trace


@every_one
def test_it_is_entered_by_the_last_command_before_the_first_difference(name: str) -> None:
    trace = golden(name)
    first = next(index for index, entry in enumerate(trace.entries) if entry.mark != "=")
    assert trace.enters == max(index for index in range(first) if "send" in trace.entries[index].line)


@every_one
def test_no_line_is_ruled_that_both_say_at_that_place(name: str) -> None:
    for differs, entries in groupby(golden(name).entries, key=lambda entry: entry.mark != "="):
        if differs:
            sides: dict[str, set[str]] = {"+": set(), "-": set()}
            for entry in entries:
                sides[entry.mark].add(canonical(entry.line))
            assert not sides["+"] & sides["-"]


@every_one
def test_shared_lines_have_no_ruling(name: str) -> None:
    assert not [entry for entry in golden(name).entries if entry.mark == "=" and entry.ruling]


def test_no_two_scenarios_have_one_trace() -> None:
    release, runtime = Counter[str](), Counter[str]()
    for name in VECTORS.names(RELEASE):
        recording, trace = VECTORS.read(RELEASE, name), read_golden(VECTORS, RELEASE, name)
        assert recording is not None
        release[fingerprint(recording.lines)] += 1
        runtime[fingerprint(recording.lines if trace is None else trace.runtime_side())] += 1
    assert set(release.values()) == set(runtime.values()) == {1}


def test_every_ruling_in_force_has_a_scenario() -> None:
    used = {ruling for name in NAMES for ruling in golden(name).rulings()}
    assert used == set(IN_FORCE)


def test_the_table_names_exactly_the_scenarios_of_each_ruling() -> None:
    table = rulings()
    used = {ruling: {name for name in NAMES if ruling in golden(name).rulings()} for ruling in table}
    assert table == used
