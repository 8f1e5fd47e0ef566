"""Events: what is said while an agent works.

Two families. The twelve *stream events* tell how one response of a model grows; a provider makes them, and
each but the last two carries `partial`, the message so far. The ten *agent events* tell what the loop does;
listeners get them. An event is immutable, and so is everything in it. A stream event of a type that this
package does not know is an `UnknownStreamEvent`; the loop ignores it, as Pi does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import attrs

from .errors import CodecError
from .jsonvalue import JSON, Number, freeze
from .messages import AssistantMessage, Message, StopReason, ToolCall, ToolResult, ToolResultMessage
from .wire import Wire, quick

if TYPE_CHECKING:
    from collections.abc import Iterable

# --- stream events ----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, repr=False)
class StreamStart(Wire):
    """The response begins. At most once, before every other event but an `error`."""

    type: ClassVar[Literal["start"]] = "start"
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class TextStart(Wire):
    """A text block begins. `content_index` is its place in the message's content, here and below."""

    type: ClassVar[Literal["text_start"]] = "text_start"
    content_index: int
    partial: AssistantMessage


@quick
@attrs.frozen(kw_only=True, repr=False)
class TextDelta(Wire):
    """A text block grows by `delta`."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    content_index: int
    delta: str
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class TextEnd(Wire):
    """A text block is complete. `content` is its whole text, and may differ from the sum of the deltas."""

    type: ClassVar[Literal["text_end"]] = "text_end"
    content_index: int
    content: str
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class ThinkingStart(Wire):
    """A thinking block begins."""

    type: ClassVar[Literal["thinking_start"]] = "thinking_start"
    content_index: int
    partial: AssistantMessage


@quick
@attrs.frozen(kw_only=True, repr=False)
class ThinkingDelta(Wire):
    """A thinking block grows by `delta`."""

    type: ClassVar[Literal["thinking_delta"]] = "thinking_delta"
    content_index: int
    delta: str
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class ThinkingEnd(Wire):
    """A thinking block is complete. `content` is its whole text."""

    type: ClassVar[Literal["thinking_end"]] = "thinking_end"
    content_index: int
    content: str
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class ToolCallStart(Wire):
    """A tool call begins."""

    type: ClassVar[Literal["toolcall_start"]] = "toolcall_start"
    content_index: int
    partial: AssistantMessage


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolCallDelta(Wire):
    """The text of a tool call's arguments grows by `delta`, which may be empty."""

    type: ClassVar[Literal["toolcall_delta"]] = "toolcall_delta"
    content_index: int
    delta: str
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class ToolCallEnd(Wire):
    """A tool call is complete."""

    type: ClassVar[Literal["toolcall_end"]] = "toolcall_end"
    content_index: int
    tool_call: ToolCall
    partial: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class StreamDone(Wire):
    """The response is complete; `reason` is stop, length, toolUse or deferred."""

    type: ClassVar[Literal["done"]] = "done"
    reason: StopReason
    message: AssistantMessage


@attrs.frozen(kw_only=True, repr=False)
class StreamError(Wire):
    """The response failed; `reason` is error or aborted, and `error` the message as far as it came."""

    type: ClassVar[Literal["error"]] = "error"
    reason: StopReason
    error: AssistantMessage


STREAM_EVENT_TYPES: Final = frozenset(
    event.type
    for event in (
        StreamStart,
        TextStart,
        TextDelta,
        TextEnd,
        ThinkingStart,
        ThinkingDelta,
        ThinkingEnd,
        ToolCallStart,
        ToolCallDelta,
        ToolCallEnd,
        StreamDone,
        StreamError,
    )
)
"""The types of the twelve stream events."""


def _is_unknown(_event: object, _attribute: object, value: str) -> None:
    if value in STREAM_EVENT_TYPES:
        raise CodecError("type", f"expected a type without a class of its own, found {value!r}")


@attrs.frozen(kw_only=True, repr=False)
class UnknownStreamEvent(Wire):
    """A stream event of another type, as a later Pi may have it. Its fields are in `extra`."""

    type: str = attrs.field(validator=_is_unknown)


StreamEvent: TypeAlias = (
    StreamStart
    | TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | StreamDone
    | StreamError
    | UnknownStreamEvent
)
"""Any event of a provider's stream."""

# --- agent events -----------------------------------------------------------------------------------------


def _messages(value: Iterable[Message]) -> tuple[Message, ...]:
    return value if isinstance(value, tuple) else tuple(value)


def _results(value: Iterable[ToolResultMessage]) -> tuple[ToolResultMessage, ...]:
    return value if isinstance(value, tuple) else tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class AgentStart(Wire):
    """A run begins."""

    type: ClassVar[Literal["agent_start"]] = "agent_start"


@attrs.frozen(kw_only=True, repr=False)
class AgentEnd(Wire):
    """A run ends. `messages` are those that this run added, prompts included."""

    type: ClassVar[Literal["agent_end"]] = "agent_end"
    messages: tuple[Message, ...] = attrs.field(converter=_messages)


@attrs.frozen(kw_only=True, repr=False)
class TurnStart(Wire):
    """A turn begins: one request to the model, its response, and its tool calls."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"


@attrs.frozen(kw_only=True, repr=False)
class TurnEnd(Wire):
    """A turn ends: the response, and the results of its calls in their order."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    message: Message
    tool_results: tuple[ToolResultMessage, ...] = attrs.field(converter=_results)


@quick
@attrs.frozen(kw_only=True, repr=False)
class MessageStart(Wire):
    """A message of any role begins; a response of the model is a partial here."""

    type: ClassVar[Literal["message_start"]] = "message_start"
    message: Message


@quick
@attrs.frozen(kw_only=True, repr=False)
class MessageUpdate(Wire):
    """The model's response has grown: `message` so far, and the stream event that says by what."""

    type: ClassVar[Literal["message_update"]] = "message_update"
    message: Message
    assistant_message_event: StreamEvent


@quick
@attrs.frozen(kw_only=True, repr=False)
class MessageEnd(Wire):
    """A message is complete, and is in the transcript."""

    type: ClassVar[Literal["message_end"]] = "message_end"
    message: Message


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolExecutionStart(Wire):
    """The loop takes up a tool call. `args` are the raw arguments of the call's block."""

    type: ClassVar[Literal["tool_execution_start"]] = "tool_execution_start"
    tool_call_id: str
    tool_name: str
    args: JSON = attrs.field(converter=freeze)


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolExecutionUpdate(Wire):
    """A tool reports progress. `args` are the raw arguments of the call's block."""

    type: ClassVar[Literal["tool_execution_update"]] = "tool_execution_update"
    tool_call_id: str
    tool_name: str
    args: JSON = attrs.field(converter=freeze)
    partial_result: ToolResult


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolExecutionEnd(Wire):
    """A tool call has its final result.

    `is_error` is a boolean as a rule; a hook can make it any JSON. `duration_ms` is the time in
    milliseconds that `execute` took, absent where it was not called (1.6.0).
    """

    type: ClassVar[Literal["tool_execution_end"]] = "tool_execution_end"
    tool_call_id: str
    tool_name: str
    result: ToolResult
    is_error: JSON = attrs.field(converter=freeze)
    duration_ms: Number | None = None


AgentEvent: TypeAlias = (
    AgentStart
    | AgentEnd
    | TurnStart
    | TurnEnd
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
)
"""Any event of the agent."""
