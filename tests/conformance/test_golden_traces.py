"""The golden traces that ship: both sides true, every differing line ruled, and nothing ruled that does not differ."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
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
from pi_trio.profile import PROFILES

VECTORS = Vectors.shipped()
RELEASES = tuple(profile.release for profile in PROFILES.values())
GOLDEN = [(release, name) for release in RELEASES for name in sorted(golden_names(VECTORS, release))]
IN_FORCE = {"D-01", "D-02", "D-03", "D-04", "D-05", "D-06", "D-07", "D-09"}

every_one = pytest.mark.parametrize(("release", "name"), GOLDEN)
every_release = pytest.mark.parametrize("release", RELEASES)


@cache
def golden(release: str, name: str) -> Golden:
    found = read_golden(VECTORS, release, name)
    assert found is not None
    return found


def ruled_by(release: str) -> set[tuple[str, str]]:
    """The rulings of a release, each with a scenario in which it shows."""
    return {
        (ruling, name)
        for name in golden_names(VECTORS, release)
        for ruling in golden(release, name).rulings()
    }


@cache
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


@cache
def runs(release: str) -> dict[str, Run | Exception]:
    """What the runtime does as this release in each scenario that is ruled."""
    names = golden_names(VECTORS, release)
    chosen = [scenario for scenario in all_scenarios() if scenario.name in names]
    with first_in_first_out():
        return trio.run(consult_runtime, runtime_inside(f"pi-{release}", 30), chosen)


@every_one
def test_it_is_true_of_both_sides_and_ruled_where_they_differ(release: str, name: str) -> None:
    trace, recording, run = golden(release, name), VECTORS.read(release, name), runs(release)[name]
    assert trace.faults() == []
    assert (trace.scenario, trace.release) == (name, release)
    assert set(trace.rulings()) <= rulings().keys(), "an id is not in the table"
    assert not [entry for entry in trace.entries if entry.mark == "=" and entry.ruling], (
        "a shared line is ruled"
    )
    assert recording is not None
    assert isinstance(run, Run)
    assert run.fault is None
    assert fingerprint(trace.release_side()) == fingerprint(recording.lines)
    assert fingerprint(trace.runtime_side()) == fingerprint(run.lines)
    again = propose(name, release, recording.lines, run.lines, "D-00", former=trace)
    assert again == trace, "to rule it again changes something"
    first = next(index for index, entry in enumerate(trace.entries) if entry.mark != "=")
    commands = [index for index in range(first) if "send" in trace.entries[index].line]
    assert trace.enters == commands[-1], "it is entered by the last command before the first difference"
    for differs, entries in groupby(trace.entries, key=lambda entry: entry.mark != "="):
        if differs:
            sides: dict[str, set[str]] = {"+": set(), "-": set()}
            for entry in entries:
                sides[entry.mark].add(canonical(entry.line))
            assert not sides["+"] & sides["-"], "a line is ruled that both say at that place"


@every_release
def test_no_two_scenarios_have_one_trace(release: str) -> None:
    release_side, runtime_side = Counter[str](), Counter[str]()
    for name in VECTORS.names(release):
        recording = VECTORS.read(release, name)
        assert recording is not None
        release_side[own := fingerprint(recording.lines)] += 1
        ruled = (release, name) in GOLDEN
        runtime_side[fingerprint(golden(release, name).runtime_side()) if ruled else own] += 1
    assert set(release_side.values()) == set(runtime_side.values()) == {1}


@every_release
def test_every_ruling_in_force_has_a_scenario(release: str) -> None:
    only_before_1_0 = {"D-12"} if release.startswith("0.") else set[str]()
    assert {ruling for ruling, _ in ruled_by(release)} == IN_FORCE | only_before_1_0


def test_the_table_names_exactly_the_scenarios_of_each_ruling() -> None:
    """Those in which it shows in one release or another."""
    shown = {pair for release in RELEASES for pair in ruled_by(release)}
    assert {(ruling, name) for ruling, names in rulings().items() for name in names} == shown
