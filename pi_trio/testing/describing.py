"""Messages and events as short lines, for tests to compare and for people to read.

A line leaves out what differs from run to run: times, and the ids of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import attrs

from ..agent.agent import Agent
from ..events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from ..jsontext import print_json
from ..jsonvalue import Absent, FrozenDict
from ..messages import (
    AssistantMessage,
    Content,
    CustomMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

M = TypeVar("M", bound=Message)


def transcript(source: Agent | Iterable[Message]) -> list[str]:
    """A conversation, a line for each message; see `describe`.

    Args:
        source: an agent; or messages: those of a result, say, or of a model's request.
    """
    return [describe(message) for message in (source.messages if isinstance(source, Agent) else source)]


def describe(said: Message | AgentEvent) -> str:
    """A message or an event in one line.

    `user: Hello`, `assistant: Let me see. add({"a":2,"b":3})`, `toolResult add: 5`, `toolResult add (error): …`;
    `turn_start`, `message_end user: Hello`, `tool_execution_end add: 5`. Line breaks are written as `\\n`.
    """
    return " ".join(filter(None, _parts(said))).replace("\n", "\\n")


def without_times(message: M) -> M:
    """The message with the timestamp 0 and no duration, so that messages of two runs can be equal."""
    if isinstance(message, CustomMessage):
        times = {key: 0 for key in ("timestamp",) if key in message.extra}
        return attrs.evolve(message, extra=FrozenDict({**message.extra, **times}))
    if isinstance(message, (AssistantMessage, ToolResultMessage)):
        message = attrs.evolve(message, duration_ms=None)
    return attrs.evolve(message, timestamp=0)


def _parts(said: Message | AgentEvent) -> Iterator[str]:
    match said:
        case UserMessage():
            yield "user:"
            yield from _blocks(said.content)
        case AssistantMessage():
            yield "assistant:"
            yield from _blocks(said.content)
            if said.error_message is not None:
                yield f"({said.stop_reason}: {said.error_message})"
            elif said.stop_reason not in ("stop", "toolUse", "pending"):
                yield f"({said.stop_reason})"
        case ToolResultMessage():
            yield f"toolResult {said.tool_name}{_mark(said.is_error)}:"
            yield from _blocks(said.content)
        case SystemMessage():
            yield "system:"
            yield from _blocks(said.content)
            yield from (text for text in (said.sections or {}).values() if text)
            yield from (f"+{declaration.name}" for declaration in said.tools_added or ())
            yield from (f"-{removal.name}" for removal in said.tools_removed or ())
        case CustomMessage():
            yield f"{said.role}:"
            yield print_json({key: value for key, value in said.extra.items() if key != "timestamp"})
        case MessageStart() | MessageEnd():
            yield said.type
            yield from _parts(said.message)
        case MessageUpdate(assistant_message_event=TextDelta() | ThinkingDelta() | ToolCallDelta() as event):
            yield f"{said.type} {event.type}: {event.delta}"
        case MessageUpdate():
            yield f"{said.type} {said.assistant_message_event.type}"
        case ToolExecutionStart():
            yield f"{said.type} {said.tool_name}: {print_json(said.args)}"
        case ToolExecutionUpdate():
            yield f"{said.type} {said.tool_name}:"
            yield from _blocks(said.partial_result.content)
        case ToolExecutionEnd():
            yield f"{said.type} {said.tool_name}{_mark(said.is_error)}:"
            yield from _blocks(said.result.content)
        case _:
            yield said.type


def _mark(is_error: object) -> str:
    return " (error)" if is_error is True else ""


def _blocks(content: str | Iterable[Content] | Absent) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        match block:
            case TextContent():
                yield block.text
            case ThinkingContent():
                yield f"(thinking: {block.thinking})"
            case ToolCall():
                yield f"{block.name}({print_json(block.arguments)})"
            case ImageContent():
                yield f"[{block.mime_type}]"
            case _:
                yield f"[{block.type}]"
