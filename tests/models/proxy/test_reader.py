"""What a client makes of a proxy's bytes."""

from __future__ import annotations

import random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.codec import unstructure
from pi_trio.messages import ThinkingContent, ToolCall, Usage
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.proxy.reader import CLOSED
from pi_trio.models.proxy.telling import NO_WAY_FOR
from pi_trio.models.scripted import DEFAULT_MODEL, assistant, text, tool_call
from pi_trio.models.scripted_events import RandomCut, response_events

from ..telling import responses
from .bytes_told import line, read, sent

USAGE = unstructure(Usage.zero())
START = line({"type": "start"})
DONE = line({"type": "done", "reason": "stop", "usage": USAGE})
TEXT = line({"type": "text_start", "contentIndex": 0})
DELTA = line({"type": "text_delta", "contentIndex": 0, "delta": "Hi"})
END = line({"type": "text_end", "contentIndex": 0})


SIGNATURES = ("text_signature", "thinking_signature", "thought_signature")


def unsigned(block):
    return attrs.evolve(block, **{name: None for name in SIGNATURES if getattr(block, name, None)})


def told(message):
    """The events of a response. Without signatures: where a scripted response tells them, no proxy can."""
    message = attrs.evolve(message, content=map(unsigned, message.content))
    return list(response_events(message, RandomCut(1, 3, random.Random(0))))


def timeless(event):
    """An event as JSON, without the time at which its message began."""
    said = unstructure(event)
    for part in ("partial", "message", "error"):
        said.get(part, {}).pop("timestamp", None)
    return said


def last(data):
    return read(data)[-1]


@given(responses, st.lists(st.integers(0, 2000), max_size=6))
def test_events_come_through_a_proxy_as_they_were(message, cuts):
    events = told(message)
    assert list(map(timeless, read(sent(events), *cuts))) == list(map(timeless, events))


@given(responses, st.integers(0, 2000))
def test_an_answer_may_end_anywhere(message, end):
    """What has come is kept, and only a whole response is none that failed."""
    whole = read(sent(told(message)))
    data = sent(told(message))[:end]
    events = read(data)
    *before, ending = events
    assert list(map(timeless, before)) == list(map(timeless, whole[: len(before)]))
    if ending.type == "error":
        assert ending.reason == "error"
        assert ending.error.error_message
    else:
        assert timeless(ending) == timeless(whole[-1])


def test_signatures_come_through():
    builder = ResponseBuilder(DEFAULT_MODEL)
    events = [
        builder.start(),
        builder.thinking_start(),
        builder.thinking_end(thinking_signature="s"),
        builder.text_start(),
        builder.text_end(text_signature="t"),
        builder.toolcall_start("1", "add"),
        builder.toolcall_delta("{}"),
        builder.toolcall_end(thought_signature="u", namespace="n"),
        builder.done("toolUse"),
    ]
    assert list(map(timeless, read(sent(events)))) == list(map(timeless, events))


def test_the_last_line_needs_no_end():
    assert last((START + DONE).rstrip()).type == "done"


def test_white_space_and_other_lines_are_nothing():
    data = (START + TEXT + DELTA + END + DONE).replace(b"\n", b"\r\n")
    noise = b"\xef\xbb\xbf: a comment\r\nevent: text\r\ndata:{}\r\ndata: \r\n\r\n"
    assert [timeless(event) for event in read(noise + data)] == [
        timeless(event) for event in read(START + TEXT + DELTA + END + DONE)
    ]


def test_an_unknown_event_is_told_in_the_log_and_otherwise_nothing(caplog):
    assert [event.type for event in read(START + line({"type": "later"}) + line(5) + DONE)] == [
        "start",
        "done",
    ]
    assert len(caplog.records) == 2


def test_what_comes_behind_the_end_is_not_looked_at():
    assert [event.type for event in read(START + DONE + DONE + b"data: {x\n")] == ["start", "done"]


def test_blocks_without_a_start():
    assert [event.type for event in read(TEXT + DELTA + END + DONE)] == [
        "text_start",
        "text_delta",
        "text_end",
        "done",
    ]
    assert last(TEXT + DELTA + END + DONE).message.content == (text("Hi"),)


def test_a_second_start_changes_nothing():
    events = read(START + TEXT + DELTA + START + END + DONE)
    assert [event.type for event in events] == [
        "start",
        "text_start",
        "text_delta",
        "start",
        "text_end",
        "done",
    ]
    assert events[3].partial.content == (text("Hi"),)


def test_a_response_may_be_done_before_its_blocks_are():
    assert last(START + TEXT + DELTA + DONE).message.content == (text("Hi"),)


def test_blocks_may_overlap():
    data = START + TEXT + line({"type": "thinking_start", "contentIndex": 1}) + DELTA
    data += line({"type": "thinking_delta", "contentIndex": 1, "delta": "Hm"}) + END
    data += line({"type": "thinking_end", "contentIndex": 1, "contentSignature": "s"}) + DONE
    assert last(data).message.content == (text("Hi"), ThinkingContent(thinking="Hm", thinking_signature="s"))


def test_the_end_of_a_call_lays_its_fields_over_those_that_came():
    begun = line({"type": "toolcall_start", "contentIndex": 0, "id": "1", "toolName": "add"})
    delta = line({"type": "toolcall_delta", "contentIndex": 0, "delta": '{"a":1,"b'})
    whole = line({"type": "toolcall_end", "contentIndex": 0, "toolCall": {"name": "sum", "x-new": [1]}})
    assert last(START + begun + delta + whole + whole + DONE).message.content == (
        ToolCall(id="1", name="sum", arguments={"a": 1}, extra={"x-new": [1]}),
    )


def test_the_last_event_tells_usage_and_level():
    usage = {**USAGE, "input": 3}
    data = START + line({"type": "done", "reason": "length", "usage": usage, "providerThinkingLevel": "high"})
    message = last(data).message
    assert (message.stop_reason, message.usage.input, message.provider_thinking_level) == (
        "length",
        3,
        "high",
    )


def test_a_failure_that_the_proxy_tells():
    said = {"type": "error", "reason": "aborted", "errorMessage": "no more", "usage": USAGE}
    event = last(START + TEXT + DELTA + line(said))
    assert (event.reason, event.error.error_message, event.error.content) == (
        "aborted",
        "no more",
        (text("Hi"),),
    )
    del said["errorMessage"]
    assert last(line(said)).error.error_message is None


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (START, CLOSED),
        (b"", CLOSED),
        (b"data: {x\n", "expected JSON"),
        (b"data: null\n", "found null"),
        (START + DELTA, "Received text_delta for non-text content"),
        (START + END, "Received text_end for non-text content"),
        (TEXT + line({"type": "thinking_end", "contentIndex": 0}), "Received thinking_end for non-thinking content"),
        (
            TEXT + line({"type": "toolcall_delta", "contentIndex": 0, "delta": ""}),
            "Received toolcall_delta for non-toolCall content",
        ),
        (TEXT + TEXT, "Received text_start for block 0, where block 1 is to begin"),
        (TEXT + END + DELTA, "Received text_delta for non-text content"),
        (line({"type": "text_start"}), "contentIndex: expected a whole number"),
        (TEXT + line({"type": "text_delta", "contentIndex": 0, "delta": 5}), "delta: expected a string"),
        (line({"type": "done", "reason": "bored", "usage": USAGE}), "reason: a complete response ends with"),
        (line({"type": "error", "reason": "stop", "usage": USAGE}), "reason: a failed response ends with"),
        (line({"type": "done", "reason": "stop", "usage": {}}), "usage.input"),
        (line({"type": "done", "reason": "stop", "usage": USAGE, "providerThinkingLevel": 1}), "expected a string"),
    ],
)  # fmt: skip
def test_what_is_no_response_ends_in_an_error(data, found):
    event = last(data)
    assert event.type == "error"
    assert found in event.error.error_message


# --- what the server makes up for -------------------------------------------------------------------------


def test_a_text_that_is_there_at_once_is_told_in_deltas():
    builder = ResponseBuilder(DEFAULT_MODEL)
    events = [
        builder.start(),
        builder.thinking_start("[hidden]", redacted=True),
        builder.thinking_end(),
        builder.text_start("A"),
        builder.text_delta("b"),
        builder.text_end(text="Abc"),
        builder.done("stop"),
    ]
    message = last(sent(events)).message
    assert message.content == (ThinkingContent(thinking="[hidden]"), text("Abc"))


def test_a_response_that_is_not_there_yet_has_no_way_through():
    message = assistant("soon", stop_reason="stop")
    events = told(message)
    events[-1] = attrs.evolve(events[-1], reason="deferred")
    assert last(sent(events)).error.error_message == NO_WAY_FOR.format("deferred")


def test_an_event_whose_block_is_not_there():
    *_, begun = told(assistant(tool_call("add")))[:2]
    with pytest.raises(ValueError, match="its partial does not hold"):
        sent([attrs.evolve(begun, content_index=3)])
