"""What a scripted response costs: an estimate of four characters a token, with a simulated prompt cache.

The prompt is written out as one text, its messages joined by blank lines; the texts serve for counting only.
For each session the provider remembers the last prompt: what the next one has in common with it at its
beginning is read from the cache, the rest is written to it. Characters are UTF-16 units, as everywhere in Pi.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ..codec import dumps
from ..jsontext import print_json
from ..messages import (
    AssistantMessage,
    Content,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)
from ..tools.js_value import utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .stream import ModelContext

_FREE = UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0)


def tokens_of(text: str) -> int:
    """The estimate for a text: four characters a token, rounded up."""
    return _tokens(utf16_length(text))


class UsageEstimator:
    """Estimates the usage of one provider's responses, and remembers the prompt of each session."""

    def __init__(self) -> None:
        self._prompts: dict[str, bytes] = {}
        self._written: list[tuple[Message, str]] = []  # of the last prompt; the next one mostly begins so

    def estimate(self, context: ModelContext, answer: Iterable[Content], session_id: str | None) -> Usage:
        """The usage of a response with the blocks of `answer`. Without a session nothing is cached."""
        # Two bytes a unit, so that a common prefix is found unit by unit, also inside a surrogate pair.
        prompt = "\n\n".join(self._parts(context)).encode("utf-16-be", "surrogatepass")
        input_, cache_read, cache_write = _tokens(len(prompt) // 2), 0, 0
        if session_id:
            cache_read = _tokens(_common_prefix(self._prompts.get(session_id, b""), prompt) // 2)
            input_, cache_write = 0, max(0, input_ - cache_read)
            self._prompts[session_id] = prompt
        output = tokens_of(_lines(answer))
        return Usage(
            input=input_,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            total_tokens=input_ + output + cache_read + cache_write,
            cost=_FREE,
        )

    def _parts(self, context: ModelContext) -> Iterator[str]:
        if context.system_prompt:
            yield f"system:{context.system_prompt}"
        known, self._written = self._written, []
        for index, message in enumerate(context.messages):
            if index < len(known) and known[index][0] is message:
                text = known[index][1]
            else:
                text = f"{message.role}:{_message_text(message)}"
            self._written.append((message, text))
            yield text
        if context.tools:
            yield f"tools:[{','.join(map(dumps, context.tools))}]"


def _tokens(characters: int) -> int:
    return -(-characters // 4)


def _common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common at their beginning. By bisection: slices compare at C speed."""
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, True, key=lambda length: one[:length] != other[:length])


def _message_text(message: Message) -> str:
    match message:
        case SystemMessage():
            return "\n".join(filter(None, _system_parts(message)))
        case UserMessage() | AssistantMessage():
            return _lines(message.content)
        case ToolResultMessage():
            return "\n".join((message.tool_name, *map(_block_text, message.content or ())))
        case _:
            return print_json(message.extra)


def _system_parts(message: SystemMessage) -> Iterator[str]:
    sections = (message.sections or {}).values()
    yield "\n\n".join(part for part in (_lines(message.content), *sections) if part and isinstance(part, str))
    for removal in message.tools_removed or ():
        yield f"tool-:{dumps(removal)}"
    for declaration in message.tools_added or ():
        yield f"tool+:{dumps(declaration)}"


def _lines(content: str | Iterable[Content]) -> str:
    return content if isinstance(content, str) else "\n".join(map(_block_text, content))


def _block_text(block: Content) -> str:
    match block:
        case TextContent():
            return block.text
        case ThinkingContent():
            return block.thinking
        case ToolCall():
            return f"{block.name}:{print_json(block.arguments)}"
        case ImageContent():
            return f"[image:{block.mime_type}:{utf16_length(block.data)}]"
        case _:
            return f"[{block.type}]"
