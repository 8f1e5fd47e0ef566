"""Every order of gates on the runtime: nothing is wrong with any, and none is left out."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

import pytest

from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scopes import Coverage, Gates, OrderError, catalogue
from pi_trio.conformance.scopes.scope import Beside, Mode
from pi_trio.profile import PI_1_6_0, PROFILES

#: Orders of a scope that is played here, at most; `pi-trio scopes` plays the others.
FEW: Final = 150

SMALL: Final = [
    scope for scope in catalogue("pi-1.6.0", whole=True) if isinstance(scope, Gates) and scope.orders <= FEW
]


@cache
def covered(scope: Gates) -> Coverage:
    coverage = Coverage(scope)
    coverage.fill()
    assert (coverage.complete, coverage.plays, coverage.found) == (True, scope.orders, {})
    return coverage


@pytest.mark.parametrize("scope", SMALL, ids=lambda scope: scope.name)
def test_a_small_scope_is_clean(scope: Gates) -> None:
    covered(scope)


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "pi-1.6.0"])
@pytest.mark.parametrize("mode", ["signal", "cancel"])
def test_it_is_so_in_every_profile(profile: str, mode: Mode) -> None:
    covered(Gates(calls=2, updates=0, beside=("abort", "steer"), mode=mode, profile=profile))
    covered(Gates(calls=2, updates=1, beside=("abort",), mode=mode, profile=profile))


def test_three_tools_with_one_report_each_have_ninety_orders() -> None:
    coverage = covered(Gates(calls=3, updates=1))
    assert coverage.plays == coverage.told == 90
    assert coverage.endings == 1


def test_three_tools_with_two_reports_each() -> None:
    coverage = covered(Gates(calls=3, updates=2))
    assert coverage.plays == coverage.told == 1680
    assert coverage.endings == 1


def test_with_an_abort_at_every_point() -> None:
    coverage = covered(Gates(calls=3, updates=0, beside=("abort",), mode="cancel"))
    assert coverage.plays == 24
    assert coverage.endings == 2**3, "each set of calls that are cut, the empty one too"


def test_a_report_that_comes_too_late_is_one_more_gate() -> None:
    coverage = covered(Gates(calls=2, updates=1, late=True))
    assert (coverage.plays, coverage.told) == (20, 6)


def test_all_scopes_have_their_own_name() -> None:
    every = catalogue("pi-1.6.0", whole=True)
    assert len({scope.name for scope in every}) == len(every)
    short = catalogue("pi-1.6.0", whole=False)
    assert {scope.name for scope in short} < {scope.name for scope in every}


def test_the_whole_list_goes_up_to_three_tools_with_two_reports_an_abort_and_a_steer_at_every_point() -> None:
    orders = {scope.name: scope.orders for scope in catalogue("pi-1.6.0", whole=True)}
    assert orders["gates-3x2"] == 1680
    assert (
        orders["gates-3x2-abort-cancel"]
        == orders["gates-3x2-abort-signal"]
        == orders["gates-3x2-steer"]
        == 16_800
    )
    assert orders["gates-3x2-abort-steer-cancel"] == orders["gates-3x2-abort-steer-signal"] == 184_800


def test_an_order_is_a_scenario_that_anybody_can_play() -> None:
    scope = Gates(calls=2, updates=1, beside=("abort",), mode="cancel")
    scenario = scope.scenario(["t2", "t1", "abort", "t2", "t1"])
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario
    assert scenario.create["options"] == {"abortMode": "cancel"}
    assert [step["cmd"] for step in scenario.steps] == [
        "prompt",
        "update",
        "update",
        "abort",
        "answer",
        "answer",
        "state",
    ]


def test_one_order_can_be_played_again() -> None:
    scope = Gates(calls=2, updates=1, beside=("steer",))
    play = scope.again(("t2", "t1", "steer", "t2", "t1"))
    assert play == next(each for each in scope.plays() if each.order == play.order)


@pytest.mark.parametrize("order", ["", "t1 t1 t2", "t1 t1 t2 t2 steer", "t1 t1 t2 t3"])
def test_what_is_no_order_is_refused(order: str) -> None:
    with pytest.raises(OrderError, match="an order of gates-2x1 has 2 times t1, 2 times t2"):
        Gates(calls=2, updates=1).again(tuple(order.split()))


@pytest.mark.parametrize(
    ("changed", "beside", "mode", "lacks"),
    [
        ({}, ("abort", "steer"), "cancel", ()),
        ({"features": {}}, ("abort", "steer"), "signal", ()),
        ({"features": {}}, ("abort", "steer"), "cancel", ("feature abort: cancelling",)),
        ({"features": {"abort": "cancelling"}}, ("abort",), "signal", ("feature abort: advisory",)),
        ({"features": {"liveState": False}}, ("steer",), "signal", ("feature liveState",)),
        ({"features": {"liveState": False}}, (), "signal", ()),
        ({"features": {"listeners": "none"}}, (), "signal", ("feature listeners",)),
        ({"features": {"listeners": "sync"}}, (), "signal", ()),
        ({"order": "partial"}, (), "signal", ("quiescence: exact, and order: total",)),
        ({"quiescence": "none"}, (), "signal", ("quiescence: exact, and order: total",)),
    ],
)
def test_what_somebody_lacks_to_be_driven_through_it(
    changed: Object, beside: tuple[Beside, ...], mode: Mode, lacks: tuple[str, ...]
) -> None:
    scope = Gates(calls=2, updates=1, beside=beside, mode=mode)
    assert scope.lacks({**hello(PI_1_6_0), **changed}) == lacks
