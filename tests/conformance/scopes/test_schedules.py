"""Every schedule of small batches on the runtime: nothing is wrong with any, and there are as many as can be told."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest

from pi_trio.conformance.scopes import Coverage, OrderError, Schedules, catalogue
from pi_trio.conformance.scopes.scope import Mode
from pi_trio.profile import PROFILES

SMALL: Final = [scope for scope in catalogue("pi-1.6.0", whole=False) if isinstance(scope, Schedules)]


@cache
def covered(scope: Schedules) -> Coverage:
    coverage = Coverage(scope)
    coverage.fill()
    assert (coverage.complete, coverage.found) == (True, {})
    return coverage


@pytest.mark.parametrize("scope", SMALL, ids=lambda scope: scope.name)
def test_a_small_scope_is_clean(scope: Schedules) -> None:
    covered(scope)


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "pi-1.6.0"])
@pytest.mark.parametrize("mode", ["signal", "cancel"])
def test_it_is_so_in_every_profile(profile: str, mode: Mode) -> None:
    covered(Schedules(calls=2, updates=0, beside=("abort",), mode=mode, profile=profile))


def test_three_calls_have_280_schedules_and_six_orders() -> None:
    """Three steps each, and the first ones are alike: 9!/3!^3/3!. That the runtime needs no more shows here, too."""
    coverage = covered(Schedules(calls=3, updates=0))
    assert (coverage.plays, coverage.told) == (280, 6)


def test_two_calls_with_a_report_each_come_in_every_order() -> None:
    coverage = covered(Schedules(calls=2, updates=1))
    assert coverage.told == 6, "4!/2!^2"


def test_an_abort_finds_a_call_at_each_of_its_steps() -> None:
    """Before it is executed, executing, reported, and done: four endings, and in three of them something is told."""
    coverage = covered(Schedules(calls=1, updates=1, beside=("abort",)))
    assert (coverage.endings, coverage.told) == (4, 3)


def test_one_schedule_can_be_played_again() -> None:
    scope = Schedules(calls=2, updates=0, beside=("abort",))
    plays = [*scope.plays()]
    assert scope.again(plays[-1].order) == plays[-1]
    assert plays[-1].events != plays[0].events


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("t1 t2", "a schedule is numbers"),
        ("9", "number 9"),
        ("0 0 0 0 0 0 0 0 0 0 0 0", "there are only 2 choices"),
    ],
)
def test_what_is_no_schedule_is_refused(order: str, why: str) -> None:
    with pytest.raises(OrderError, match=why):
        Schedules(calls=2, updates=0).again(tuple(order.split()))
