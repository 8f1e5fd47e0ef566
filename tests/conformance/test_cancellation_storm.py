"""Every scenario, cancelled at every checkpoint: the run is aborted, it settles, and its caller is told.

How it is cancelled is in `storm.py`, what must hold then in `aftermath.py`. The suite takes a slice: every moment of
some scenarios, and some moments of all. It sails as Pi 1.6.0 alone: what older releases leave out when a run is
aborted, the grammar that is checked here does not allow.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Final, cast

import attrs
import pytest
import trio
from trio.testing import MockClock

from pi_trio.abort import AbortController
from pi_trio.agent.delivery import Delivery, Listeners
from pi_trio.agent.ledger import Ledger
from pi_trio.agent.run import AbortMode, Run
from pi_trio.agent.state import LiveState
from pi_trio.conformance.lockstep import drive
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.profile import PI_1_6_0

from .aftermath import faults_after, faults_at_the_end
from .storm import After, Moment, Rest, Step, Storm, watched

STRIDE: Final = int(os.environ.get("PI_TRIO_STORM", "101"))
"""One of so many scenarios at every moment, and of all one of so many moments; 1 is everything: about 130,000
cancellations, a quarter of an hour.
"""

SCENARIOS: Final = all_scenarios()


def in_mode(scenario: Scenario, mode: AbortMode) -> Scenario:
    """The scenario with an agent whose aborts work so."""
    options = {**scenario.create.get("options", {}), "abortMode": mode}
    return attrs.evolve(scenario, create={**scenario.create, "options": options})


@attrs.frozen
class Weather:
    """How a scenario went: at which moments it can be cancelled, and what was wrong afterwards."""

    steps: int
    rests: tuple[Rest, ...]
    ran_out: bool
    faults: tuple[str, ...]


def sail(scenario: Scenario, mode: AbortMode, moment: Moment | None, after: After) -> Weather:
    """Drive a scenario through one cancellation; without a moment, through none. Not to be called inside trio."""

    async def main() -> Weather:
        async with trio.open_nursery() as nursery:
            storm = Storm(PI_1_6_0, nursery, moment, after)
            trio.lowlevel.add_instrument(storm)
            with watched(storm):
                await drive(in_mode(scenario, mode), storm)
                storm.moment = None
                steps, rests = storm.steps, tuple(storm.rests)
                faults = await faults_after(storm, scenario)
                if moment is not None and storm.cancelled is None:
                    faults.append("the moment never came")
                await storm.dispose()
                faults += faults_at_the_end(storm)
            trio.lowlevel.remove_instrument(storm)
        return Weather(steps, rests, storm.cancelled is not None and storm.cancelled.ran_out, tuple(faults))

    with first_in_first_out():
        return trio.run(main, clock=MockClock(autojump_threshold=0))


@cache
def in_calm(number: int, mode: AbortMode) -> Weather:
    """How a scenario goes if nothing is cancelled; what the tester would do afterwards makes no difference."""
    return sail(SCENARIOS[number], mode, None, "goes on")


def moments(steps: int, rests: tuple[Rest, ...], phase: int) -> list[Moment]:
    every: list[Moment] = [*(Step(number) for number in range(1, steps + 1)), *rests]
    return every if phase == 0 else every[phase::STRIDE]


@pytest.mark.parametrize("after", ["goes on", "stops"])
@pytest.mark.parametrize("mode", ["signal", "cancel"])
def test_a_storm(mode: AbortMode, after: After) -> None:
    faults: list[str] = []
    ran_out = {False: 0, True: 0}
    for number, scenario in enumerate(SCENARIOS):
        calm = in_calm(number, mode)
        faults += [f"{scenario.name}: {fault}" for fault in calm.faults]
        for moment in moments(calm.steps, calm.rests, number % STRIDE):
            weather = sail(scenario, mode, moment, after)
            ran_out[weather.ran_out] += 1
            faults += [f"{scenario.name} at {moment}: {fault}" for fault in weather.faults]
    assert faults == []
    assert ran_out[after == "stops"] > 100, (
        "held callbacks are released by the one, and by the other many never"
    )


# --- that it would be noticed -----------------------------------------------------------------------------------


def nothing(*args: Any, **kwargs: Any) -> None:
    pass


def endless(run: Run, seconds: float, begin: Any = Run.begin_grace) -> None:
    begin(run, 1000 * seconds)


def untold(run: Run, *event: Any, begin: Any = Run.begin) -> Delivery:
    if run.signal.aborted:
        run._audience.listeners = Listeners()
    return cast("Delivery", begin(run, *event))


PLANTED: Final = {
    "the rest of the sequence is forgotten": (Run, "reduce_silently", nothing, "it never ended"),
    "the grace has no end": (Run, "begin_grace", endless, "it hangs"),
    "the cancellation aborts nothing": (AbortController, "abort", nothing, "it waits for nobody"),
    "nobody is told any more": (Run, "begin", untold, "did not hear"),
    "the state is left as it was": (LiveState, "settle", nothing, "the state is not at rest"),
    "what was drained is not put back": (Ledger, "return_unsaid", nothing, "lost"),
}

SAILED: Final = ("updates_held_by_slow_listener", "failed_run_steering_drained")
"""One with tools, and one with queues: each fault is noticed in one of them."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, instead, words = PLANTED[name]
    sailed = [one for one in SCENARIOS if one.name in SAILED]
    calm = {one.name: sail(one, "cancel", None, "stops") for one in sailed}
    assert [weather.faults for weather in calm.values()] == [(), ()]
    monkeypatch.setattr(owner, attribute, instead)
    faults = [
        fault
        for scenario in sailed
        for moment in moments(calm[scenario.name].steps, calm[scenario.name].rests, 0)[::3]
        for after in ("goes on", "stops")
        for fault in sail(scenario, "cancel", moment, after).faults
    ]
    assert any(words in fault for fault in faults), faults
