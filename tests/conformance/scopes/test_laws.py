"""The laws of a batch, one by one: what is right breaks none, and each departure breaks the one that is about it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

import pytest

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scopes import Gates
from pi_trio.conformance.scopes.laws import END, UPDATE, cut_calls, faults_of, faults_of_state, rest_of, told

Events = list[Any]
Change = Callable[[Events], object]

RIGHT: Final = Gates(calls=2, updates=1).again(("t1", "t2", "t2", "t1")).events
CUT: Final = (
    Gates(calls=2, updates=1, beside=("abort",), mode="cancel")
    .again(("t1", "t2", "t2", "abort", "t1"))
    .events
)


def changed(change: Change, events: tuple[Object, ...] = RIGHT) -> tuple[Object, ...]:
    copied = copy.deepcopy([*events])
    change(copied)
    return tuple(copied)


def broken(events: tuple[Object, ...], *, may_be_cut: bool = False, overlapping: bool = False) -> set[str]:
    found = faults_of(events, calls=2, updates=1, may_be_cut=may_be_cut, overlapping=overlapping)
    return {fault.cause for fault in found}


def index(events: Events, kind: str, nth: int = 0) -> int:
    return [number for number, event in enumerate(events) if event["type"] == kind][nth]


def drop(kind: str, nth: int = 0) -> Change:
    return lambda events: events.pop(index(events, kind, nth))


def twice(kind: str) -> Change:
    return lambda events: events.insert(index(events, kind), events[index(events, kind)])


def first_at_the_end(kind: str) -> Change:
    return lambda events: events.append(events.pop(index(events, kind)))


def other_text(events: Events) -> None:
    events[index(events, END)]["result"]["content"][0]["text"] = "something else"


def results_swapped(events: Events) -> None:
    first, second = (
        number
        for number, event in enumerate(events)
        if event["type"] == "message_end" and event["message"]["role"] == "toolResult"
    )
    events[first], events[second] = events[second], events[first]


CALL: Final = "each call's reports in order, then its end"


def test_what_is_right_breaks_none() -> None:
    assert broken(RIGHT) == set()
    assert broken(CUT, may_be_cut=True) == set()
    assert cut_calls(CUT) == {"t1"}


@pytest.mark.parametrize(
    ("change", "laws"),
    [
        (drop(UPDATE), {CALL}),
        (drop(END), {CALL}),
        (twice(UPDATE), {CALL}),
        (twice(END), {CALL}),
        (other_text, {CALL, "a result is what the end said"}),
        (results_swapped, {"results in source order"}),
        (drop("agent_end"), {"one end, and nothing behind it"}),
        (twice("agent_end"), {"one end, and nothing behind it"}),
        (first_at_the_end("turn_end"), {"one end, and nothing behind it"}),
    ],
)
def test_a_departure_breaks_the_law_that_is_about_it(change: Change, laws: set[str]) -> None:
    assert broken(changed(change)) == laws


def test_a_call_is_cut_only_by_an_abort() -> None:
    assert broken(CUT) == {CALL}


def test_who_is_held_up_may_hear_the_reports_of_a_call_in_another_order() -> None:
    scope = Gates(calls=1, updates=2)
    events = scope.again(("t1", "t1", "t1")).events

    def swap(events: Events) -> None:
        first = index(events, UPDATE)
        events[first : first + 2] = events[first : first + 2][::-1]

    swapped = changed(swap, events)
    kept = [*faults_of(swapped, calls=1, updates=2, may_be_cut=False, overlapping=True)]
    assert kept == []
    assert [fault.cause for fault in faults_of(swapped, calls=1, updates=2, may_be_cut=False)] == [CALL]


def test_the_rest_is_all_but_the_order_of_reports_and_ends() -> None:
    other = Gates(calls=2, updates=1).again(("t2", "t2", "t1", "t1")).events
    assert told(other) != told(RIGHT)
    assert rest_of(other) == rest_of(RIGHT)
    assert rest_of(changed(drop("turn_start"))) != rest_of(RIGHT)


@pytest.mark.parametrize(
    ("state", "faults"),
    [
        ({"isStreaming": False, "pendingToolCalls": []}, []),
        ({"isStreaming": True, "pendingToolCalls": []}, ["isStreaming"]),
        ({"isStreaming": False, "pendingToolCalls": ["t1"], "signal": "live"}, ["pendingToolCalls, signal"]),
    ],
)
def test_a_state_at_rest_has_nothing_of_a_run_in_it(state: Object, faults: list[str]) -> None:
    assert [fault.said for fault in faults_of_state([state])] == faults


def test_whatever_a_subject_says_can_be_judged() -> None:
    """What is missing, or of another kind, is a departure like any other."""
    odd: tuple[Object, ...] = (
        {"type": UPDATE, "toolCallId": "t1"},
        {"type": UPDATE, "toolCallId": [7], "partialResult": {"content": "text"}},
        {"type": END, "toolCallId": {}, "result": {"content": [7, {"type": "image"}]}},
        {"type": "message_end"},
        {"type": "message_end", "message": {"role": "toolResult"}},
    )
    assert {CALL, "results in source order", "one end, and nothing behind it"} <= broken(odd)
    assert broken(()) == {CALL, "results in source order", "one end, and nothing behind it"}
    assert list(faults_of_state([{}, {"signal": None}])) == []
