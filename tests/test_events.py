"""Events: twelve of a stream, ten of the agent, with Pi's types and keys."""

from __future__ import annotations

from typing import Any, get_args

import attrs
import pytest

from pi_trio import events
from pi_trio.codec import dumps
from pi_trio.errors import CodecError
from pi_trio.events import (
    STREAM_EVENT_TYPES,
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageUpdate,
    StreamEvent,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    UnknownStreamEvent,
)
from pi_trio.jsonvalue import freeze
from pi_trio.messages import AssistantMessage, TextContent, ToolResult, Usage, UserMessage
from pi_trio.models.builder import ResponseBuilder
from pi_trio.wire import changer, known_fields, maker, wire_name

from .strategies import DATA_CLASSES

STREAM_EVENTS = {
    "start": "partial",
    "text_start": "contentIndex partial",
    "text_delta": "contentIndex delta partial",
    "text_end": "contentIndex content partial",
    "thinking_start": "contentIndex partial",
    "thinking_delta": "contentIndex delta partial",
    "thinking_end": "contentIndex content partial",
    "toolcall_start": "contentIndex partial",
    "toolcall_delta": "contentIndex delta partial",
    "toolcall_end": "contentIndex toolCall partial",
    "done": "reason message",
    "error": "reason error",
}

AGENT_EVENTS = {
    "agent_start": "",
    "agent_end": "messages",
    "turn_start": "",
    "turn_end": "message toolResults",
    "message_start": "message",
    "message_update": "message assistantMessageEvent",
    "message_end": "message",
    "tool_execution_start": "toolCallId toolName args",
    "tool_execution_update": "toolCallId toolName args partialResult",
    "tool_execution_end": "toolCallId toolName result isError durationMs",
}

PARTIAL = AssistantMessage(
    content=[TextContent(text="a")],
    api="a",
    provider="p",
    model="m",
    usage=Usage.zero(),
    stop_reason="pending",
    timestamp=0,
)


@pytest.mark.parametrize(("union", "expected"), [(StreamEvent, STREAM_EVENTS), (AgentEvent, AGENT_EVENTS)])
def test_types_and_keys_are_those_of_pi(union: Any, expected: dict[str, str]) -> None:
    closed = [cls for cls in get_args(union) if cls is not UnknownStreamEvent]
    keys = {cls.type: [wire_name(field.name) for field in known_fields(cls)] for cls in closed}
    assert keys == {name: fields.split() for name, fields in expected.items()}


def test_the_unions_hold_every_event() -> None:
    declared = {cls for cls in DATA_CLASSES if cls.__module__ == events.__name__}
    assert declared == {*get_args(StreamEvent), *get_args(AgentEvent)}
    assert set(STREAM_EVENTS) == STREAM_EVENT_TYPES


def test_only_the_duration_may_be_absent() -> None:
    optional = [
        f"{cls.__name__}.{field.name}"
        for cls in {*get_args(StreamEvent), *get_args(AgentEvent)}
        for field in known_fields(cls)
        if field.default is not attrs.NOTHING
    ]
    assert optional == ["ToolExecutionEnd.duration_ms"]


def test_an_event_shares_the_message_that_it_was_given() -> None:
    delta = TextDelta(content_index=0, delta="a", partial=PARTIAL)
    update = MessageUpdate(message=PARTIAL, assistant_message_event=delta)
    assert update.message is PARTIAL
    assert delta.partial is PARTIAL
    arguments = freeze({"a": [1]})
    assert ToolExecutionStart(tool_call_id="t1", tool_name="add", args=arguments).args is arguments


def test_lists_become_tuples() -> None:
    user = UserMessage(content="a", timestamp=0)
    assert AgentEnd(messages=[user]).messages == (user,)
    assert TurnEnd(message=PARTIAL, tool_results=[]).tool_results == ()


def test_an_event_does_not_change() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        AgentStart().type = "agent_end"  # type: ignore[misc, assignment]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        AgentEnd(messages=[]).messages = ()  # type: ignore[misc]


def test_text_of_an_event() -> None:
    assert dumps(AgentStart()) == '{"type":"agent_start"}'
    end = ToolExecutionEnd(tool_call_id="t1", tool_name="add", result=ToolResult(content=[]), is_error=False)
    assert dumps(end) == (
        '{"type":"tool_execution_end","toolCallId":"t1","toolName":"add","result":{"content":[]},"isError":false}'
    )
    assert dumps(attrs.evolve(end, duration_ms=3.0)).endswith('"isError":false,"durationMs":3}')


def test_an_unknown_stream_event_has_an_unknown_type() -> None:
    with pytest.raises(CodecError, match=r"^type: expected a type without a class of its own, found 'done'$"):
        UnknownStreamEvent(type="done")
    assert dumps(UnknownStreamEvent(type="citation", extra={"n": 1})) == '{"type":"citation","n":1}'


@pytest.mark.parametrize("cls", [TextDelta, ThinkingDelta, ToolCallDelta, MessageUpdate])
def test_a_maker_makes_what_the_constructor_makes(cls: type[Any]) -> None:
    partial = PARTIAL
    given: dict[str, Any] = {"content_index": 1, "delta": "a", "partial": partial}
    if cls is MessageUpdate:
        given = {"message": partial, "assistant_message_event": StreamStart(partial=partial)}
    made = maker(cls)(*given.values())
    assert made == cls(**given)
    assert (made.extra, made.keys) == ({}, None)


def test_a_maker_takes_fields_with_a_default_too() -> None:
    given: dict[str, Any] = {"tool_call_id": "t1", "tool_name": "add", "result": ToolResult(content=[])}
    make = maker(ToolExecutionEnd, "duration_ms")
    assert make(*given.values(), False, 3) == ToolExecutionEnd(**given, is_error=False, duration_ms=3)


def test_a_changer_changes_as_evolve_does() -> None:
    change = changer(AssistantMessage, "stop_reason", "error_message")
    changes: dict[str, Any] = {"stop_reason": "error", "error_message": "gone"}
    old = attrs.evolve(PARTIAL, extra={"later": 1}, keys=("role", "later"))
    made, expected = change(old, "error", "gone"), attrs.evolve(old, **changes)
    assert (made, made.keys) == (expected, expected.keys)
    growing = ResponseBuilder.like(old).start().partial  # of a subclass, whose fields are not there yet
    assert change(growing, "error", "gone") == attrs.evolve(growing, **changes)
    assert type(change(growing, "error", "gone")) is AssistantMessage
