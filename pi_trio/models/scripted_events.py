"""The events of a response that is known whole: its message, told block by block and chunk by chunk.

Event order, chunks and partials are those of Pi's scripted provider of 1.6.0, but for one thing: a partial is a value
of its own here, where Pi's partials share blocks that go on growing. As there, a partial has everything that the
whole message has, but for the blocks that have not come, their signatures, and the stop reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ..events import StreamDone, StreamError, StreamEvent
from ..jsontext import print_json
from ..messages import AssistantMessage, TextContent, ThinkingContent, ToolCall
from ..tools.js_value import utf16_length
from .builder import ResponseBuilder

if TYPE_CHECKING:
    from random import Random

NO_STOP_REASON: Final = "Faux response ended without a stop reason"

#: How a text is cut: never into nothing, an empty text is one empty chunk.
Cut: TypeAlias = Callable[[str], Iterable[str]]


def response_events(message: AssistantMessage, cut: Cut) -> Iterator[StreamEvent]:
    """The events of a response that becomes `message`.

    Args:
        message: text, thinking and tool calls; its stop reason decides whether the last event is `done` or
            `error`.
        cut: how the text of a block, and the JSON text of a call's arguments, becomes deltas.

    Raises:
        TypeError: at a block of another type.
        ValueError: at the end, when the stop reason is "pending".
    """
    builder = ResponseBuilder.like(message)
    yield builder.start()
    for block in message.content:
        match block:
            case TextContent():
                yield builder.text_start()
                for chunk in cut(block.text):
                    yield builder.text_delta(chunk)
                yield builder.text_end(text=block.text)
            case ThinkingContent():
                yield builder.thinking_start()
                for chunk in cut(block.thinking):
                    yield builder.thinking_delta(chunk)
                yield builder.thinking_end(thinking=block.thinking)
            case ToolCall():
                yield builder.toolcall_start(block.id, block.name)
                for chunk in cut(print_json(block.arguments)):
                    yield builder.toolcall_delta(chunk)
                yield attrs.evolve(builder.toolcall_end(arguments=block.arguments), tool_call=block)
            case _:
                raise TypeError(f"a response cannot hold a block of the type {block.type!r}")
    if message.stop_reason == "pending":
        raise ValueError(NO_STOP_REASON)
    if message.stop_reason in ("error", "aborted"):
        yield StreamError(reason=message.stop_reason, error=message)
    else:
        yield StreamDone(reason=message.stop_reason, message=message)


@attrs.frozen
class RandomCut:
    """Cuts a text into chunks of `least` to `most` tokens, four UTF-16 units each.

    A chunk that would end inside a surrogate pair ends before it.
    """

    least: int
    most: int
    chance: Random

    def __call__(self, text: str) -> Iterator[str]:
        """The chunks of `text`, at least one."""
        at = 0
        while at < len(text) or at == 0:
            units = self.chance.randint(self.least, self.most) * 4
            chunk = text[at : at + units]
            while (excess := utf16_length(chunk) - units) > 0:
                chunk = chunk[: -((excess + 1) // 2)]
            yield chunk
            at += len(chunk) or 1
