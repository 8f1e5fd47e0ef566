"""The cancelling abort, in every scenario: as the advisory one without an abort, and as reviewed with one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio

from pi_trio.conformance.cancelling import cancel_golden_path, created_by, in_both_modes, read_cancel_golden
from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import expected_of_runtime
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.mirror import aborts, cancelling
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES

VECTORS = Vectors.shipped()
RELEASES = tuple(profile.release for profile in PROFILES.values())
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
RECORDED = {release: VECTORS.names(release) for release in RELEASES}


def chosen(release: str) -> Iterator[str]:
    """The scenarios with an abort, and of the others, in which the mode should not show, those whose turn it is."""
    for number, (name, scenario) in enumerate(SCENARIOS.items()):
        recorded = [each for each in RELEASES if name in RECORDED[each]]
        if release in recorded and (aborts(scenario) or recorded[number % len(recorded)] == release):
            yield name


async def played(release: str) -> dict[str, tuple[tuple[Object, ...], tuple[Object, ...]]]:
    """What the runtime does as this release in the advisory mode and in the cancelling one. Without an abort, what it
    does in the former is in the vectors.
    """
    found: dict[str, tuple[tuple[Object, ...], tuple[Object, ...]]] = {}
    async with open_keeper(runtime_inside(f"pi-{release}", 30)) as keeper:
        await keeper.start()
        for name in chosen(release):
            scenario = SCENARIOS[name]
            if aborts(scenario):
                found[name] = await in_both_modes(scenario, keeper.drive)
            else:
                own = cancelling(scenario)
                advisory = expected_of_runtime(VECTORS, release, scenario, keeper.hello).lines
                found[name] = advisory, created_by(scenario, own, (await keeper.drive(own)).lines)
    return found


def wrong(
    golden: Golden | None, advisory: tuple[Object, ...], cancelled: tuple[Object, ...], scenario: Scenario
) -> Iterator[str]:
    """What is not as reviewed in a scenario."""
    if golden is None:
        if fingerprint(cancelled) != fingerprint(advisory):
            yield "the modes differ, and nothing is ruled"
        return
    yield from golden.faults()
    if fingerprint(golden.release_side()) != fingerprint(advisory):
        yield "the other mode is not as reviewed"
    if fingerprint(golden.runtime_side()) != fingerprint(cancelled):
        yield "this mode is not as reviewed"
    if golden.rulings() != ("D-10",):
        yield f"ruled by {golden.rulings()}"
    if not aborts(scenario):
        yield "without an abort the modes are the same"
    if cancelled[-1] != {"end": "settled"}:
        yield "an abort ends every wait"


@pytest.mark.parametrize("release", RELEASES)
def test_the_cancelling_mode_is_as_reviewed(release: str) -> None:
    with first_in_first_out():
        traces = trio.run(played, release)
    assert len(traces) > 100
    faults = {
        name: [*wrong(read_cancel_golden(VECTORS, release, name), *both, SCENARIOS[name])]
        for name, both in traces.items()
    }
    assert {name: found for name, found in faults.items() if found} == {}


@pytest.mark.parametrize("release", RELEASES)
def test_each_golden_trace_has_its_scenario(release: str) -> None:
    paths = cancel_golden_path(VECTORS, release, "").parent.glob("*.jsonl")
    assert {path.stem for path in paths} <= SCENARIOS.keys()
