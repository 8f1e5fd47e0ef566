"""An output item while it grows, and what is read of an event that tells of one.

Servers that imitate the API leave fields out. What an item cannot do without fails the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from ...jsonvalue import ABSENT, JSON
from ..dialect import Dialect
from ..event_fields import field, text_or_none
from ..exchange import ResponseFailedError
from ..final_arguments import final_arguments
from ..grammar_input import GrammarInput
from ..streamed_arguments import streamed_arguments

Event: TypeAlias = dict[str, JSON]
"""An event of the provider, or an item in one."""
Kind: TypeAlias = Literal["thinking", "text", "call", "custom call"]
"""What an item is to Pi."""

KINDS: Final[Mapping[str, Kind]] = {
    "reasoning": "thinking",
    "message": "text",
    "function_call": "call",
    "custom_tool_call": "custom call",
}


@attrs.define(eq=False)
class Slot:
    """An item that has begun and is not done: the block that it is, and for calls what they have said."""

    kind: Kind
    place: int
    pieces: list[str] = attrs.field(factory=list)
    input: GrammarInput | None = None


def place_of(event: Event) -> object:
    """The place of an item in the response. Servers that tell none have one item at a time."""
    index = event.get("output_index", ABSENT)
    return index if isinstance(index, (str, int, float)) or index is None or index is ABSENT else object()


def name_of(item: Event) -> str:
    """The name of the tool that a call names."""
    name = item.get("name")
    if not isinstance(name, str):
        raise ResponseFailedError("The provider's stream is malformed: a tool call without a name")
    return name


def whole_input(told: Event) -> str | None:
    """The whole input of a call, if it is told."""
    text = told.get("input")
    if text is not None and not isinstance(text, str):
        raise ResponseFailedError("The provider's stream is malformed: the input of a call is no text")
    return text


def told_arguments(text: str, dialect: Dialect) -> tuple[JSON, str | None]:
    """The arguments that a call's whole text says, and what is wrong with it, where the release tells."""
    if dialect.truncated_arguments == "error":
        return final_arguments(text)
    return streamed_arguments(text or "{}"), None


def text_in(part: JSON, name: str) -> str:
    """A text in a part of an item; none where it is none."""
    return text_or_none(field(part, name, "part")) or ""
