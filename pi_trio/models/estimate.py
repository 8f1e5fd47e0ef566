"""How many tokens a context takes, by estimate: what the provider last counted, and for the rest a few characters each.

A usage counts for everything up to its response, unless a message before it is newer (a summary that took the place of
what was counted). Characters are UTF-16 units, as everywhere in Pi.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from ..codec import dumps
from ..jsontext import print_json
from ..jsonvalue import Number
from ..messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolRemoval,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from ..tools.js_value import utf16_length
from .dialect import Dialect
from .stream import ModelContext
from .transcript import system_text

_IMAGE_CHARACTERS: Final = 4800


@attrs.frozen(kw_only=True)
class ContextEstimate:
    """Tokens of a context: those that a usage has counted, and those that are estimated behind it.

    `last_usage_index` is the place of the message with that usage; None if all is estimated.
    """

    tokens: Number
    usage_tokens: Number
    trailing_tokens: Number
    last_usage_index: int | None


def context_tokens(usage: Usage) -> Number:
    """All tokens of a response: the total if there is one, else the sum."""
    return usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write


def estimate_context(context: ModelContext, dialect: Dialect) -> ContextEstimate:
    """The estimate for the context of a request.

    Prompt and tools beside the messages (up to 0.85.0) count where no usage has counted them; behind one, only the
    tools that a result has added since.
    """
    estimate = estimate_messages(context.messages, dialect)
    more = 0
    tools = context.tools or ()
    if estimate.last_usage_index is None:
        more = text_tokens(context.system_prompt or "", dialect) + _declared(tools, dialect)
    elif tools:
        added = _added_names(context.messages[estimate.last_usage_index + 1 :])
        more = _declared([tool for tool in tools if tool.name in added], dialect)
    if not more:
        return estimate
    return attrs.evolve(
        estimate, tokens=estimate.tokens + more, trailing_tokens=estimate.trailing_tokens + more
    )


def estimate_messages(messages: Sequence[Message], dialect: Dialect) -> ContextEstimate:
    """The estimate for messages alone."""
    counted = _last_usage(messages)
    usage_tokens: Number = 0
    rest = messages
    if counted is not None:
        usage_tokens = context_tokens(counted[1])
        rest = messages[counted[0] + 1 :]
    trailing = sum(message_tokens(message, dialect) for message in rest)
    return ContextEstimate(
        tokens=usage_tokens + trailing,
        usage_tokens=usage_tokens,
        trailing_tokens=trailing,
        last_usage_index=None if counted is None else counted[0],
    )


def message_tokens(message: Message, dialect: Dialect) -> int:
    """The estimate for one message; an application's own roles are not sent, and count nothing."""
    match message:
        case SystemMessage():
            return (
                text_tokens(system_text(message), dialect)
                + _declared(message.tools_added or (), dialect)
                + _declared(message.tools_removed or (), dialect)
            )
        case UserMessage() | AssistantMessage():
            return _tokens(_characters(message.content), dialect)
        case ToolResultMessage():
            return _tokens(_characters(message.content or ()), dialect)
        case _:
            return 0


def text_tokens(text: str, dialect: Dialect) -> int:
    """The estimate for a text."""
    return _tokens(utf16_length(text), dialect)


def _tokens(characters: int, dialect: Dialect) -> int:
    # In halves, so that it stays with integers: 7 halves are 3.5.
    return -(-2 * characters // dialect.half_characters_per_token)


def _characters(content: str | Iterable[Content]) -> int:
    if isinstance(content, str):
        return utf16_length(content)
    return sum(map(_block_characters, content))


def _block_characters(block: Content) -> int:
    match block:
        case TextContent():
            return utf16_length(block.text)
        case ThinkingContent():
            return utf16_length(block.thinking)
        case ToolCall():
            return utf16_length(block.name) + utf16_length(print_json(block.arguments))
        case _:
            return _IMAGE_CHARACTERS


def _declared(tools: Sequence[ToolDeclaration] | Sequence[ToolRemoval], dialect: Dialect) -> int:
    return text_tokens(f"[{','.join(map(dumps, tools))}]", dialect) if tools else 0


def _added_names(messages: Iterable[Message]) -> set[str]:
    results = (message for message in messages if isinstance(message, ToolResultMessage))
    return {name for result in results for name in result.added_tool_names or ()}


def _last_usage(messages: Sequence[Message]) -> tuple[int, Usage] | None:
    """The last usage that counts, with the place of its message."""
    newest: Number = float("-inf")
    found: tuple[int, Usage] | None = None
    for index, message in enumerate(messages):
        timestamp = getattr(message, "timestamp", newest)
        if (
            isinstance(message, AssistantMessage)
            and timestamp >= newest
            and message.stop_reason not in ("aborted", "error")
            and context_tokens(message.usage) > 0
        ):
            found = index, message.usage
        newest = max(newest, timestamp)
    return found
