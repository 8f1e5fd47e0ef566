"""The parts of a fit: with whom a trace sides, what is nearer, what a profile is called."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from pi_trio.conformance.fitting import Reference, Trace
from pi_trio.conformance.fitting.choices import by_likeness, composed
from pi_trio.conformance.fitting.siding import sides
from pi_trio.conformance.fitting.trace import agreement
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.profile import get_profile

from .asking import NAMES


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ({"b": 1}, (True, False)),
        ({"b": 2, "c": 3}, (False, True)),
        ({"b": 1, "c": 3}, (True, True)),
        ({"b": 7}, (False, False)),
        ({}, (False, False)),
    ],
)
def test_who_says_what_only_one_says_sides_with_him(got: Object, expected: tuple[bool, bool]) -> None:
    first, second = (Trace(lines=({"a": 1}, each)) for each in ({"b": 1}, {"b": 2, "c": 3}))
    assert sides(first, second, Trace(lines=({"a": 1}, got))) == expected
    assert sides(first, second, Trace(lines=({"a": 2}, got))) == (False, False)
    assert sides(first, first, Trace(lines=({"a": 1}, got))) == (False, False)


def test_who_says_only_what_he_is_given_sides_with_nobody() -> None:
    first, second = (Trace(lines=({"a": 1}, each)) for each in ({"b": "mine"}, {}))
    assert sides(first, second, first, given={'"other"'}) == (True, False)
    assert sides(first, second, first, given={'"mine"'}) == (False, False)


def test_a_run_is_not_repeated_for_a_field_that_nobody_reads(reads: Callable[[str], int]) -> None:
    assert reads("truncated_calls=pi-0.80.2") == 1
    assert reads("identity=pi-1.0.3") == 2


@pytest.fixture
def reads() -> Callable[[str], int]:
    """How many runs it takes to know a plain text answer under two profiles."""
    scenario = next(each for each in all_scenarios() if each.name == "text_plain")

    async def count(change: str) -> int:
        reference = Reference()
        await reference.trace(get_profile("pi-1.6.0"), scenario)
        await reference.trace(get_profile(f"pi-1.6.0,{change}"), scenario)
        return reference.reads("identity")

    def run(change: str) -> int:
        with first_in_first_out():
            return trio.run(count, change)

    return run


def test_of_two_traces_that_part_the_one_is_nearer_that_parts_later_and_then_by_less() -> None:
    got = Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 3}}, {"e": 4}))
    order = [
        Trace(missing=("hook finishTurn",)),
        Trace(lines=({"a": True}, {"b": {"c": 2, "d": 3}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 0, "d": 0}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 0}}, {"f": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 0}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 3}})),
        got,
    ]
    near = [agreement(trace, got) for trace in order]
    assert near == sorted(near)
    assert len({*near}) == len(near)


def test_a_name_is_the_shortest_and_its_donors_are_the_closest() -> None:
    old, new = (NAMES[0], NAMES[1]), (NAMES[2], NAMES[3])
    assert composed(NAMES[2], {"identity": old, "durations": new}) == f"{NAMES[2]},identity={NAMES[1]}"
    assert composed(NAMES[1], {"identity": new, "durations": (NAMES[0],)}) == (
        f"{NAMES[1]},identity={NAMES[2]},durations={NAMES[0]}"
    )
    fitting = {"identity": (NAMES[3],), "durations": new, "prepare_request": new}
    assert by_likeness(fitting, NAMES[0])[:2] == [NAMES[3], NAMES[2]]
    assert by_likeness({}, NAMES[1])[0] == NAMES[1]
