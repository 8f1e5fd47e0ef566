"""Conversations that nobody has written: the runtime withstands them; what is planted in it is found, and shrunk."""

from __future__ import annotations

import pytest
import trio
from hypothesis import settings

from pi_trio.agent.batch import _Updates
from pi_trio.conformance.explore.guest import quiet_house
from pi_trio.conformance.explore.search import _uncounted, search
from pi_trio.conformance.explore.shares import SITUATIONS
from pi_trio.conformance.explore.token import Token
from pi_trio.profile import PROFILES

from .searching import explored, house


@pytest.mark.parametrize("profile", PROFILES)
def test_the_runtime_withstands_what_nobody_has_written(profile: str) -> None:
    outcome = explored(50, profile)
    assert outcome.found == {}
    assert outcome.shares.conversations >= 50
    assert outcome.steps > 50 * 20
    assert set(outcome.shares.reached) == set(SITUATIONS)
    assert len(outcome.reached) > 50


def test_a_planted_race_of_two_steps_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is on its way, and the run is aborted: then the call's end does not wait for the report any more."""
    original = _Updates.delivered

    async def delivered(updates: _Updates) -> None:
        if updates._run.signal.aborted:
            await trio.lowlevel.checkpoint()
        else:
            await original(updates)

    monkeypatch.setattr(_Updates, "delivered", delivered)
    assert any(_is_shown_small(start) for start in range(1, 6))


def _is_shown_small(start: int) -> bool:
    """Whether a search finds the race in a conversation of eight stimuli; it may come upon a form that needs more."""
    (found,) = explored(1000, fail_fast=True, start=start).found.values()
    steps = Token.read(found.token).scenario.steps
    commands = {command["cmd"] for step in steps for command in (step, *step.get("cmds", ()))}
    assert {"update", "abort"} <= commands
    return len(steps) <= 8


def test_a_profile_of_hypothesis_does_not_make_rounds_the_same() -> None:
    """Where the environment has `CI`, Hypothesis loads one that draws the same each time."""
    before = settings.get_current_profile_name()
    settings.register_profile("the same each time", derandomize=True)
    settings.load_profile("the same each time")
    try:
        with quiet_house():
            assert search(house(), None, conversations=25).shares.conversations >= 25
    finally:
        settings.load_profile(before)


def test_the_time_is_up_also_where_nothing_new_is_drawn() -> None:
    held = house()
    held.held = _Everything()
    with quiet_house():
        assert search(held, None, seconds=0.01).shares.conversations == 0


class _Everything(set[bytes]):
    """As if each conversation had been held before."""

    def __contains__(self, seed: object) -> bool:
        return True


def test_the_same_number_leads_to_the_same_conversations() -> None:
    first, second = explored(15, start=7), explored(15, start=7)
    assert (first.steps, first.shares.reached, first.reached) == (
        second.steps,
        second.shares.reached,
        second.reached,
    )


def test_making_smaller_is_no_search() -> None:
    """What comes into play, or is played, while a counterexample is made smaller is not counted."""
    held = house()
    with quiet_house():
        search(held, None, conversations=2, start=1)
        before = held.shares, held.steps, set(held.reached)
        with _uncounted(held, None):
            search(held, None, conversations=20, start=2)
            assert held.reached - before[2], "or there would be nothing to see"
    assert (held.shares, held.steps, held.reached) == before
