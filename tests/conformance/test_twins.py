"""Scenarios once more, with aborts that cancel."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.fitting import Rulings
from pi_trio.conformance.mirror import cancelling, mirrored
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.twins import (
    Twin,
    names_twin,
    played_by,
    twin,
    twin_name,
    with_twins,
    written,
    written_name,
)
from pi_trio.conformance.vectors import Vectors

SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
ALL = tuple(with_twins(SCENARIOS.values()))


def test_a_scenario_with_an_abort_has_a_twin_behind_it() -> None:
    some = [SCENARIOS[name] for name in ("text_plain", "abort_in_stream", "tool_single")]
    assert [each.name for each in with_twins(some)] == [
        "text_plain", "abort_in_stream", "abort_in_stream (cancel)", "tool_single",
    ]  # fmt: skip
    assert len({each.name for each in ALL}) == len(ALL)


@pytest.mark.parametrize("name", ["abort_in_stream", "loop_abort_in_tools", "agent_end_listener_settlement"])
def test_it_differs_in_the_mode_and_in_what_it_is_called(name: str) -> None:
    own = twin(SCENARIOS[name])
    assert own.create["options"]["abortMode"] == "cancel"
    expected = {**cancelling(SCENARIOS[name]).to_json(), "name": own.name, "title": own.title}
    assert own.to_json() == expected
    assert (written(own), written(SCENARIOS[name])) == (SCENARIOS[name], SCENARIOS[name])
    assert (own.name, written_name(own.name), written_name(name)) == (twin_name(name), name, name)
    assert (names_twin(own.name), names_twin(name)) == (True, False)


def test_its_title_says_nothing_of_what_happens_where_aborts_are_advice() -> None:
    for scenario in SCENARIOS.values():
        assert scenario.title not in twin(scenario).title
        assert scenario.name in twin(scenario).title


@pytest.mark.parametrize("abort", ["advisory", "cancelling"])
def test_one_that_is_chosen_alone_stays_for_who_does_not_offer_it(abort: str) -> None:
    alone = [twin(SCENARIOS["abort_in_stream"])]
    assert played_by({"features": {"abort": abort}}, alone) == alone


def test_in_the_way_of_a_subject_it_stays_a_twin() -> None:
    changed = mirrored(twin(SCENARIOS["abort_in_stream"]), {"abort": "both", "listeners": "sync"})
    assert isinstance(changed, Twin)
    assert changed.create["tellListeners"]
    assert changed.written is SCENARIOS["abort_in_stream"]


@pytest.mark.parametrize("abort", ["advisory", "cancelling", None, {}])
def test_only_who_offers_both_modes_plays_it(abort: Any) -> None:
    assert played_by({"features": {"abort": "both"}}, ALL) == ALL
    assert played_by({"features": {"abort": abort}}, ALL) == list(SCENARIOS.values())
    assert played_by({}, ALL) == list(SCENARIOS.values())


def test_in_it_the_runtime_is_no_measure_of_pi() -> None:
    rulings = Rulings(Vectors.shipped())
    plain = SCENARIOS["abort_in_stream"]
    assert [rulings.concern(each) for each in (plain, twin(plain))] == [False, True]
    assert rulings.concern(SCENARIOS["stream_double_start"])
