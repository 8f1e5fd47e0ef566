"""The monitor of responses: what may follow what, what it names, and how it goes on behind a fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors.response import (
    JUDGED,
    STREAM_EVENTS,
    ResponseMonitor,
    judge_response,
    judge_responses,
)
from pi_trio.conformance.monitors.response.order import (
    BLOCK_END,
    BLOCK_START,
    BLOCKS,
    CLOSED,
    FUTURE,
    NO_BLOCK,
    NO_RESPONSE,
    OPEN,
    OTHER_KIND,
    PIECE,
    RESPONSE,
    UNBEGUN,
)
from pi_trio.conformance.transport.vector import read_transport_vectors
from pi_trio.conformance.vectors import spec_folder

CLAUSES = Clauses.shipped()
FORCE = {clause.id: frozenset(clause.releases) for clause in CLAUSES.values()}
ZERO = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


def message(*content: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    usage = {**ZERO, "totalTokens": 0, "cost": {**ZERO, "total": 0}}
    return {"role": "assistant", "content": list(content), "usage": usage, "stopReason": reason}


def text(*pieces: str, number: int = 0, end: str | None = None) -> list[dict[str, Any]]:
    """The events of a block of text."""
    deltas = [{"type": "text_delta", "contentIndex": number, "delta": piece} for piece in pieces]
    whole = "".join(pieces) if end is None else end
    return [
        {"type": "text_start", "contentIndex": number},
        *deltas,
        {"type": "text_end", "contentIndex": number, "content": whole},
    ]


def done(*content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "done", "reason": "stop", "message": message(*content)}


START = {"type": "start"}
HELLO = {"type": "text", "text": "Hello"}
GOOD = [START, *text("Hel", "lo"), done(HELLO)]


def named(events: list[dict[str, Any]]) -> list[str]:
    return [finding.clause for finding in judge_responses(events, FORCE).findings]


def test_what_is_good() -> None:
    assert named([*GOOD, *GOOD]) == []
    failed = {"type": "error", "reason": "error", "error": message(reason="error")}
    assert named([failed, *GOOD, failed]) == []


def test_an_end_may_say_something_else_than_its_pieces() -> None:
    assert named([START, *text("Hel", end="Hello"), done(HELLO)]) == []
    assert named([START, *text("Hel", end="Hel"), done(HELLO)]) == ["MODEL-08"]


def test_halves_of_a_character_are_put_together() -> None:
    cut = text("\ud83d", "\ude00")[:-1]
    failed = {"type": "error", "reason": "error"}
    kept = message({"type": "text", "text": "\U0001f600"}, reason="error")
    assert named([START, *cut, {**failed, "error": kept}]) == []
    lost = message({"type": "text", "text": ""}, reason="error")
    assert named([START, *cut, {**failed, "error": lost}]) == ["MODEL-10"]


@pytest.mark.parametrize(
    ("events", "clauses"),
    [
        ([*GOOD, START, *GOOD[1:], START, *GOOD], ["MODEL-01"]),
        ([*GOOD, *text("late", number=1)], ["MODEL-02"] * 3),
        (
            [START, *text("Hel", "lo", number=1), done(HELLO)],
            ["MODEL-05"],
        ),
        ([START, *text("Hello"), *text("Hello"), done(HELLO, HELLO)], ["MODEL-05"]),
        ([START, GOOD[1], *GOOD[1:]], ["MODEL-05"]),
        ([START, GOOD[2], *GOOD[3:]], ["MODEL-06"]),
        ([START, *GOOD[1:-1], GOOD[-2], GOOD[-1]], ["MODEL-07"]),
        ([START, *GOOD[1:-1], done()], ["MODEL-09"]),
        ([START, *GOOD[1:-1], {"type": "done", "reason": "stop"}], ["MODEL-09"]),
        ([START, {**GOOD[1], "contentIndex": "0"}, done()], ["MODEL-05"]),
    ],
)
def test_what_is_wrong(events: list[dict[str, Any]], clauses: list[str]) -> None:
    """Behind a fault all is judged on, and what is good is not taken for wrong."""
    assert sorted(set(named(events))) == sorted(set(clauses))
    assert sorted(set(named([*events, *GOOD]))) == sorted(set(clauses))


def test_what_would_have_been_allowed() -> None:
    monitor = ResponseMonitor(FORCE)
    assert monitor.allowed().events == {"start": "MODEL-01", "error": "MODEL-24"}
    (finding,) = monitor.tell(GOOD[1])
    assert finding.allowed == ("start (MODEL-01)", "error (MODEL-24)")
    allowed = monitor.allowed()
    assert not allowed.silence
    assert {"text_delta", "text_end", "thinking_start", "done", "error"} <= allowed.events.keys()
    assert not {"thinking_delta", "toolcall_end", "start"} & allowed.events.keys()


def test_one_response_is_over_at_its_end() -> None:
    """In a log an error may be the next response; in a single one it is a second end."""
    again = {"type": "error", "reason": "error", "error": message(reason="error")}
    assert named([*GOOD, again]) == []
    assert [each.clause for each in judge_response([*GOOD, again], FORCE).findings] == ["MODEL-02"]
    assert [each.clause for each in judge_response(GOOD[:-1], FORCE).findings] == ["MODEL-02"]


def test_every_place_has_something_to_say_to_every_event() -> None:
    assert RESPONSE.keys().isdisjoint(NO_RESPONSE)
    places = {place for place, _ in RESPONSE}
    symbols = {symbol for _, symbol in RESPONSE}
    assert {(place, symbol) for place in places for symbol in symbols} == {*RESPONSE, *NO_RESPONSE}
    assert BLOCKS.keys().isdisjoint(NO_BLOCK)
    every = {
        (place, symbol)
        for place in (FUTURE, OPEN, CLOSED)
        for symbol in (BLOCK_START, PIECE, BLOCK_END, OTHER_KIND)
    }
    assert every - {*BLOCKS, *NO_BLOCK} == {(CLOSED, BLOCK_START)}  # it is of another block


def recorded() -> list[dict[str, Any]]:
    """A log of all recorded responses, one behind the other."""
    told: list[dict[str, Any]] = []
    for vector in read_transport_vectors(spec_folder()).values():
        for call in vector.of("1.6.0")["calls"]:
            *events, last = (event for event in call["events"] if "hook" not in event)
            key = "message" if last["type"] == "done" else "error"
            told += [*events, {**last, key: call["message"]}]
    return told


ROWS = [(table, row) for table in (RESPONSE, BLOCKS) for row in table]


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[", ".join(row).replace(" ", "-") for _, row in ROWS])
def test_every_step_is_needed_by_a_recording(
    table: dict[Any, Any], row: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, something that a release says would be taken for wrong."""
    log, (place, symbol) = recorded(), row
    if place == UNBEGUN:
        log = log[next(at for at, event in enumerate(log) if event["type"] == symbol) :]
    assert named(log) == []
    monkeypatch.delitem(table, row)
    try:
        found = named(log)
    except KeyError:  # nothing is said of what is wrong there, for nothing is
        return
    assert found


def test_all_that_it_names_are_clauses() -> None:
    steps: list[Any] = [*RESPONSE.values(), *NO_RESPONSE.values(), *BLOCKS.values(), *NO_BLOCK.values()]
    assert {step.clause for step in steps} - {"MODEL-24"} <= JUDGED <= CLAUSES.keys()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["stop", "error", "text", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "usage", "cost", "stopReason"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from([*sorted(STREAM_EVENTS), "ping"])},
    optional={
        "contentIndex": values,
        "delta": values,
        "content": values,
        "toolCall": values,
        "reason": values,
        "message": values,
        "error": values,
    },
)


@given(st.lists(events, max_size=12))
def test_nothing_that_is_said_makes_it_fail(said: list[dict[str, Any]]) -> None:
    assert set(named(said)) <= JUDGED
    judge_response(said, FORCE)
