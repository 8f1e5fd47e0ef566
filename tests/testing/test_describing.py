"""Messages and events in a line."""

from __future__ import annotations

import pytest
from hypothesis import given

from pi_trio.codec import unstructure
from pi_trio.events import (
    AgentStart,
    MessageStart,
    MessageUpdate,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from pi_trio.messages import (
    AssistantMessage,
    CustomMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ToolDeclaration,
    ToolRemoval,
    ToolResult,
    ToolResultMessage,
    UnknownContent,
    UserMessage,
)
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.scripted import DEFAULT_MODEL
from pi_trio.testing import assistant, describe, thinking, tool_call, transcript, without_times

from ..strategies import objects

DECLARATION = ToolDeclaration(name="new", description="", parameters={})
RESULT = ToolResult(content=[TextContent(text="5")])


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (UserMessage(content="Hello\nyou", timestamp=1), r"user: Hello\nyou"),
        (UserMessage(content=[ImageContent(data="", mime_type="image/png")], timestamp=1), "user: [image/png]"),
        (UserMessage(content=[UnknownContent(type="smell")], timestamp=1), "user: [smell]"),
        (assistant(), "assistant:"),
        (assistant("Well.", thinking("hm"), tool_call("x", {"b": 1, "a": []})),
         'assistant: Well. (thinking: hm) x({"b":1,"a":[]})'),
        (assistant("cut", stop_reason="length"), "assistant: cut (length)"),
        (assistant("", stop_reason="error", error_message="no"), "assistant: (error: no)"),
        (SystemMessage(content="Be brief.", sections={"a": "A", "b": None}, tools_added=[DECLARATION],
                       tools_removed=[ToolRemoval(name="old")], timestamp=0), "system: Be brief. A +new -old"),
        (ToolResultMessage(tool_call_id="t", tool_name="x", is_error=False, timestamp=1), "toolResult x:"),
        (CustomMessage(role="note", extra={"b": 1, "timestamp": 3}), 'note: {"b":1}'),
        (AgentStart(), "agent_start"),
        (MessageStart(message=assistant("Hi", stop_reason="pending")), "message_start assistant: Hi"),
        (MessageUpdate(message=assistant(), assistant_message_event=StreamStart(partial=assistant())),
         "message_update start"),
        (MessageUpdate(message=assistant(),
                       assistant_message_event=TextDelta(content_index=0, delta="Hi", partial=assistant())),
         "message_update text_delta: Hi"),
        (MessageUpdate(message=assistant(),
                       assistant_message_event=ToolCallDelta(content_index=0, delta="{", partial=assistant())),
         "message_update toolcall_delta: {"),
        (ToolExecutionStart(tool_call_id="t", tool_name="x", args={"a": 1}), 'tool_execution_start x: {"a":1}'),
        (ToolExecutionUpdate(tool_call_id="t", tool_name="x", args={}, partial_result=RESULT),
         "tool_execution_update x: 5"),
        (ToolExecutionEnd(tool_call_id="t", tool_name="x", result=RESULT, is_error=True, duration_ms=4),
         "tool_execution_end x (error): 5"),
        (ToolExecutionEnd(tool_call_id="t", tool_name="x", result=RESULT, is_error="yes"), "tool_execution_end x: 5"),
    ],
)  # fmt: skip
def test_a_line(said, line):
    assert describe(said) == line


@pytest.mark.parametrize(
    "kind", [UserMessage, AssistantMessage, ToolResultMessage, SystemMessage, CustomMessage]
)
def test_every_message_is_one_line_and_can_lose_its_times(kind):
    @given(objects(kind))
    def check(message: Message) -> None:
        assert "\n" not in describe(message)
        assert describe(message).startswith(message.role.replace("\n", r"\n"))
        timeless = without_times(message)
        assert without_times(timeless) == timeless
        before, after = unstructure(message), unstructure(timeless)
        assert isinstance(before, dict)
        assert isinstance(after, dict)
        if "timestamp" in before:
            assert after["timestamp"] == 0
        assert "durationMs" not in after or kind not in (AssistantMessage, ToolResultMessage)
        left = ("timestamp", "durationMs")
        assert {k: v for k, v in before.items() if k not in left} == {
            k: v for k, v in after.items() if k not in left
        }

    check()


def test_messages_of_two_times_are_equal_without_them():
    one, other = (UserMessage(content="Hi", timestamp=time) for time in (1, 2))
    assert one != other
    assert without_times(one) == without_times(other)


def test_a_partial_can_lose_its_times():
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=5)
    builder.start()
    partial = builder.text_start("Hi").partial
    assert without_times(partial) == without_times(ResponseBuilder.like(partial).partial) or partial.content
    assert without_times(partial).timestamp == 0


def test_a_transcript_of_messages():
    assert transcript([assistant("Hi"), UserMessage(content="Oh", timestamp=1)]) == [
        "assistant: Hi",
        "user: Oh",
    ]
    assert transcript(()) == []
