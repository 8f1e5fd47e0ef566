"""The events of a response that is known whole: its message, told block by block and chunk by chunk.

Event order, chunks and partials are those of Pi's scripted provider of 1.6.0, but for one thing: a partial is a value
of its own here, where Pi's partials share blocks that go on growing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ..events import (
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
)
from ..jsontext import print_json
from ..messages import AssistantMessage, Content, TextContent, ThinkingContent, ToolCall
from ..tools.js_value import utf16_length
from .growing_arguments import GrowingArguments

if TYPE_CHECKING:
    from random import Random

NO_STOP_REASON: Final = "Faux response ended without a stop reason"

#: How a text is cut: never into nothing, an empty text is one empty chunk.
Cut: TypeAlias = Callable[[str], Iterable[str]]


def response_events(message: AssistantMessage, cut: Cut) -> Iterator[StreamEvent]:
    """The events of a response that becomes `message`.

    Parameters:
        message: text, thinking and tool calls; its stop reason decides whether the last event is `done` or
            `error`.
        cut: how the text of a block, and the JSON text of a call's arguments, becomes deltas.

    Raises:
        TypeError: at a block of another type.
        ValueError: at the end, when the stop reason is "pending".
    """
    partials = Partials(message)
    yield StreamStart(partial=partials.latest)
    for index, block in enumerate(message.content):
        match block:
            case TextContent():
                yield from _text(index, block, partials, cut)
            case ThinkingContent():
                yield from _thinking(index, block, partials, cut)
            case ToolCall():
                yield from _tool_call(index, block, partials, cut)
            case _:
                raise TypeError(f"a response cannot hold a block of the type {block.type!r}")
    if message.stop_reason == "pending":
        raise ValueError(NO_STOP_REASON)
    if message.stop_reason in ("error", "aborted"):
        yield StreamError(reason=message.stop_reason, error=message)
    else:
        yield StreamDone(reason=message.stop_reason, message=message)


class Partials:
    """The one place where the partials of a response are made: the message so far, a new one each time.

    A partial has everything that the whole message has, but for the blocks that have not come and the stop
    reason, which is "pending". Blocks that have not changed are shared. Signatures come with the whole
    message only.
    """

    def __init__(self, whole: AssistantMessage) -> None:
        self.latest = attrs.evolve(whole, content=(), stop_reason="pending")

    def begin(self, block: Content) -> AssistantMessage:
        """The message with one block more."""
        self.latest = attrs.evolve(self.latest, content=(*self.latest.content, block))
        return self.latest

    def grow(self, block: Content) -> AssistantMessage:
        """The message whose last block has become `block`."""
        self.latest = attrs.evolve(self.latest, content=(*self.latest.content[:-1], block))
        return self.latest


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


def _text(index: int, block: TextContent, partials: Partials, cut: Cut) -> Iterator[StreamEvent]:
    yield TextStart(content_index=index, partial=partials.begin(TextContent(text="")))
    text = ""
    for chunk in cut(block.text):
        text += chunk
        yield TextDelta(content_index=index, delta=chunk, partial=partials.grow(TextContent(text=text)))
    yield TextEnd(content_index=index, content=block.text, partial=partials.latest)


def _thinking(index: int, block: ThinkingContent, partials: Partials, cut: Cut) -> Iterator[StreamEvent]:
    yield ThinkingStart(content_index=index, partial=partials.begin(ThinkingContent(thinking="")))
    thinking = ""
    for chunk in cut(block.thinking):
        thinking += chunk
        partial = partials.grow(ThinkingContent(thinking=thinking))
        yield ThinkingDelta(content_index=index, delta=chunk, partial=partial)
    yield ThinkingEnd(content_index=index, content=block.thinking, partial=partials.latest)


def _tool_call(index: int, block: ToolCall, partials: Partials, cut: Cut) -> Iterator[StreamEvent]:
    begun = ToolCall(id=block.id, name=block.name, arguments={})
    yield ToolCallStart(content_index=index, partial=partials.begin(begun))
    arguments = GrowingArguments()
    for chunk in cut(print_json(block.arguments)):
        partial = partials.grow(attrs.evolve(begun, arguments=arguments.append(chunk)))
        yield ToolCallDelta(content_index=index, delta=chunk, partial=partial)
    partial = partials.grow(attrs.evolve(begun, arguments=block.arguments))
    yield ToolCallEnd(content_index=index, tool_call=block, partial=partial)
