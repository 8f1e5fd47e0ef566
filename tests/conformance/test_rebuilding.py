"""Streams rebuilt from their deltas: what is coherent stays, with the partials that anybody arrives at."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.rebuilding import Contradiction, rebuilt
from pi_trio.conformance.scripting import broken, call, response, text, thinking, until

CALL = call("t1", "a", {"s": "x"})


def changed(events: Any, number: int, **fields: Any) -> list[Any]:
    """The events, one of them with other fields (in its partial, if they are `content`)."""
    copy = list(events)
    event = copy[number]
    if "content" in fields and isinstance(fields["content"], list):
        fields = {"partial": {**event["partial"], **fields}}
    copy[number] = {**event, **fields}
    return copy


@pytest.mark.parametrize(
    "events",
    [
        response("hello"),
        response(("Hel", "lo"), "and more"),
        response(thinking("hm"), "yes"),
        response(call("t1", "a")),
        response(),
        broken(until("text_delta", response("hello"))),
        broken(()),
        response("hello")[-1:],
    ],
    ids=["text", "texts", "thinking", "empty call", "nothing", "broken off", "never begun", "only done"],
)
def test_a_coherent_stream_stays_as_it_is(events: Any) -> None:
    assert rebuilt(events) == list(events)


def test_arguments_are_those_that_have_come() -> None:
    events = response(CALL)
    delta = next(index for index, event in enumerate(events) if event["type"] == "toolcall_delta")
    assert events[delta]["partial"]["content"][0]["arguments"] == {}
    again = rebuilt(events)
    assert again[delta]["partial"]["content"] == [CALL]
    assert [event for index, event in enumerate(again) if index != delta] == [
        event for index, event in enumerate(events) if index != delta
    ]


HELLO = response(("Hel", "lo"))


@pytest.mark.parametrize(
    "events",
    [
        changed(HELLO, 2, delta="Hex"),
        changed(HELLO, 2, content=[text("Hello")]),
        changed(HELLO, 0, content=[text("")]),
        changed(HELLO, 4, content="Help"),
        changed(HELLO, 1, contentIndex=1),
        changed(HELLO, 2, contentIndex=7),
        changed(HELLO, 2, delta=None),
        changed(HELLO, 2, type="text_pause"),
        changed(HELLO, 2, partial=None),
        changed(HELLO, 5, message={**HELLO[5]["message"], "content": [text("Goodbye")]}),
        changed(response(CALL), 2, delta='{"s": "y"}'),
        changed(response(CALL), 2, delta='{"s": '),
        response(text("hi", textSignature="sig")),
        HELLO[1:],
        [HELLO[0], *HELLO],
        [*HELLO, HELLO[1]],
        [{"type": 5}],
    ],
)
def test_a_stream_that_contradicts_itself_cannot_be_rebuilt(events: Any) -> None:
    with pytest.raises(Contradiction):
        rebuilt(events)


@pytest.mark.parametrize("odd", [None, "zork", [], 5])
def test_what_is_no_message_and_no_call_fits_nothing(odd: Any) -> None:
    """A scenario of somebody's own may hold anything there."""
    *said, done = response(call("t1", "a"))
    *begun, end = said
    assert end["type"] == "toolcall_end"
    without = {key: value for key, value in done.items() if key != "message"}
    for events in ([*said, {**done, "message": odd}], [*said, without], [*begun, {**end, "toolCall": odd}]):
        with pytest.raises(Contradiction):
            rebuilt(events)


def test_the_given_events_are_not_touched() -> None:
    events = response(CALL)
    before = str(events)
    rebuilt(events)[2]["partial"]["content"][0]["arguments"]["s"] = "changed"
    assert str(events) == before
