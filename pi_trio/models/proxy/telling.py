"""The events of a response as a proxy tells them: without their partials, and with what the client cannot know.

A block that begins with a text, or ends with one that is longer than its deltas, is told with one delta more, so that
the client comes to the same text. One that ends with another text altogether stays what its deltas have said: the
protocol has no word for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from ...codec import unstructure
from ...events import (
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UnknownStreamEvent,
)
from ...messages import AssistantMessage, Content, TextContent, ThinkingContent, ToolCall, Usage

if TYPE_CHECKING:
    from ...jsonvalue import JSON

B = TypeVar("B", bound=Content)
_Object: TypeAlias = dict[str, Any]

_COMPLETE: Final = ("stop", "length", "toolUse")
NO_WAY_FOR: Final = "A proxy cannot tell a response that ends with “{}”"


class Telling:
    """Makes what a proxy says of one response's events.

    Attributes:
        ended: whether the last event has been told.
    """

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}  # what the deltas of each open text have said
        self._usage = Usage.zero()
        self.ended = False

    def tell(self, event: StreamEvent) -> Iterator[JSON]:
        """What is said of an event: one thing as a rule, nothing of an event that the protocol does not know.

        Raises:
            ValueError: its partial does not hold the block that it is about.
        """
        self.ended |= isinstance(event, (StreamDone, StreamError))
        if isinstance(event, (StreamStart, TextEnd, ThinkingEnd, ToolCallEnd)):
            self._usage = event.partial.usage
        match event:
            case StreamStart():
                yield {"type": "start"}
            case TextStart():
                yield from self._begin(event, _block(event, TextContent).text)
            case ThinkingStart():
                yield from self._begin(event, _block(event, ThinkingContent).thinking)
            case TextDelta() | ThinkingDelta():
                yield self._delta(event.type, event.content_index, event.delta)
            case TextEnd():
                signature = _block(event, TextContent).text_signature
                yield from self._end(event, TextDelta.type, signature)
            case ThinkingEnd():
                signature = _block(event, ThinkingContent).thinking_signature
                yield from self._end(event, ThinkingDelta.type, signature)
            case ToolCallStart():
                call = _block(event, ToolCall)
                yield {
                    "type": event.type,
                    "contentIndex": event.content_index,
                    "id": call.id,
                    "toolName": call.name,
                }
            case ToolCallDelta():
                yield {"type": event.type, "contentIndex": event.content_index, "delta": event.delta}
            case ToolCallEnd():
                call_json = unstructure(event.tool_call)
                yield {"type": event.type, "contentIndex": event.content_index, "toolCall": call_json}
            case StreamDone() if event.reason in _COMPLETE:
                yield _last(event.type, event.reason, event.message)
            case StreamDone():
                yield _last("error", "error", event.message, NO_WAY_FOR.format(event.reason))
            case StreamError():
                yield _last(event.type, event.reason, event.error, event.error.error_message)
            case UnknownStreamEvent():
                pass

    def fail(self, text: str) -> JSON:
        """What is said last of a response that does not come to its own end."""
        return {"type": "error", "reason": "error", "errorMessage": text, "usage": unstructure(self._usage)}

    def _begin(self, event: TextStart | ThinkingStart, text: str) -> Iterator[JSON]:
        self._texts[event.content_index] = []
        yield {"type": event.type, "contentIndex": event.content_index}
        if text:
            yield self._delta(_DELTAS[event.type], event.content_index, text)

    def _delta(self, kind: str, index: int, delta: str) -> JSON:
        self._texts.setdefault(index, []).append(delta)
        return {"type": kind, "contentIndex": index, "delta": delta}

    def _end(self, event: TextEnd | ThinkingEnd, delta: str, signature: str | None) -> Iterator[JSON]:
        told = "".join(self._texts.pop(event.content_index, ()))
        if len(event.content) > len(told) and event.content.startswith(told):
            yield {"type": delta, "contentIndex": event.content_index, "delta": event.content[len(told) :]}
        ended: _Object = {"type": event.type, "contentIndex": event.content_index}
        yield ended if signature is None else {**ended, "contentSignature": signature}


_DELTAS: Final[dict[str, str]] = {TextStart.type: TextDelta.type, ThinkingStart.type: ThinkingDelta.type}


def _block(event: TextStart | TextEnd | ThinkingStart | ThinkingEnd | ToolCallStart, kind: type[B]) -> B:
    """The block that an event is about."""
    content = event.partial.content
    block = content[event.content_index] if 0 <= event.content_index < len(content) else None
    if not isinstance(block, kind):
        raise ValueError(f"{event.type} of block {event.content_index}, which its partial does not hold")
    return block


def _last(kind: str, reason: str, message: AssistantMessage, error: str | None = None) -> JSON:
    said: _Object = {
        "type": kind,
        "reason": reason,
        "errorMessage": error,
        "usage": unstructure(message.usage),
    }
    said["providerThinkingLevel"] = message.provider_thinking_level
    return {key: value for key, value in said.items() if value is not None}
