"""The blocks of which contents consist: text, reasoning, images, calls, and what a later Pi may have besides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, TypeAlias, get_args

import attrs

from ..errors import CodecError
from ..jsonvalue import JSON, Absent, freeze
from ..wire import Wire, quick


@quick
@attrs.frozen(kw_only=True, repr=False)
class TextContent(Wire):
    """A block of text. `text_signature` is opaque, and belongs to the provider that wrote it."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    text_signature: str | None = None


@attrs.frozen(kw_only=True, repr=False)
class ThinkingContent(Wire):
    """A block of reasoning. Where `redacted` is true the reasoning itself is in the opaque signature."""

    type: ClassVar[Literal["thinking"]] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None


@attrs.frozen(kw_only=True, repr=False)
class ImageContent(Wire):
    """An image: `data` is its bytes in base64."""

    type: ClassVar[Literal["image"]] = "image"
    data: str
    mime_type: str


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolCall(Wire):
    """The model's wish to have a tool called.

    `arguments` is an object as a rule; up to 1.0.3 a model's text could make it any JSON, so any is kept.
    Since 1.6.0 arguments that were not a complete object are `{}`, and `arguments_error` says why.
    """

    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    name: str
    arguments: JSON = attrs.field(converter=freeze)
    thought_signature: str | None = None
    namespace: str | None = None
    arguments_error: str | None = None


def _is_unknown(_block: object, _attribute: object, value: str) -> None:
    if value in ("text", "thinking", "image", "toolCall"):
        raise CodecError("type", f"expected a type without a class of its own, found {value!r}")


@attrs.frozen(kw_only=True, repr=False)
class UnknownContent(Wire):
    """A content block of another type, as a later Pi may have it. Its fields are in `extra`."""

    type: str = attrs.field(validator=_is_unknown)


Content: TypeAlias = TextContent | ThinkingContent | ImageContent | ToolCall | UnknownContent
"""Any content block. Which of them a message may hold is the business of its role, not of the codec."""


_BLOCKS: Final = frozenset(get_args(Content))


def contents(value: Iterable[Content]) -> tuple[Content, ...]:
    if isinstance(value, str):
        raise TypeError(
            f"content is a sequence of blocks here, not a text: [TextContent(text={value!r:.40})]"
        )
    blocks = value if isinstance(value, tuple) else tuple(value)
    if not _BLOCKS.issuperset(map(type, blocks)):
        for block in blocks:
            if not isinstance(block, Content):
                raise TypeError(f"content is a sequence of blocks, and {block!r:.40} is none")
    return blocks


def text_or_contents(value: str | Iterable[Content]) -> str | tuple[Content, ...]:
    return value if isinstance(value, str) else contents(value)


def text_of(content: str | Iterable[Content] | Absent) -> str:
    if isinstance(content, str):
        return content
    blocks = () if isinstance(content, Absent) else content
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def contents_if_there(value: Iterable[Content] | Absent) -> tuple[Content, ...] | Absent:
    if type(value) is tuple:  # as mostly, and then of one or two blocks
        for block in value:
            if type(block) not in _BLOCKS:
                break
        else:
            return value
    return value if isinstance(value, Absent) else contents(value)
