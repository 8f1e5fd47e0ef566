"""Line endings and the byte order mark, which a model does not see and does not write.

Texts are looked for with newlines as the only line endings, in the file and in what the model sends. What is written
has the file's own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from .dialect import ToolDialect
from .edit_matching import Edited

BOM: Final = "\ufeff"


def with_newlines(text: str) -> str:
    """`text` with a newline for each line ending."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def with_endings_of(original: str, edited: Edited, dialect: ToolDialect) -> str:
    """The edited text, as it is to be written in place of `original`.

    Args:
        original: the old text with its own line endings.
    """
    if dialect.line_endings == "first_line":
        return edited.new.replace("\n", "\r\n") if _begins_with_crlf(original) else edited.new
    if original == edited.old:
        return edited.new
    # In the old text, each of these newlines stands so much further ahead as there are others of the kind before it.
    newlines = [one.start() - before for before, one in enumerate(re.finditer("\r\n", original))]

    def in_original(place: int) -> int:
        return place + bisect_left(newlines, place)

    parts: list[str] = []
    place = 0
    for one in edited.replacements:
        start = in_original(one.start)
        parts += original[place:start], one.new.replace("\n", _ending_at(original, start))
        place = in_original(one.end)
    return _joined([*parts, original[place:]])


def _begins_with_crlf(text: str) -> bool:
    """Whether the first line that a newline ends is ended by a CRLF."""
    newline = text.find("\n")
    return newline > 0 and text[newline - 1] == "\r"


def _ending_at(text: str, place: int) -> str:
    """The ending of the line at `place`; where it has none, of the one before it.

    A CR alone is an ending only in a text without any newline. Elsewhere it is some character.
    """
    newline = text.find("\n", place)
    if newline == -1:
        newline = text.rfind("\n")
    if newline == -1:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"


def _joined(parts: Iterable[str]) -> str:
    """The parts in one; where a CR alone would come to stand before a newline, it becomes a CRLF of its own."""
    joined: list[str] = []
    for part in filter(None, parts):
        if joined and joined[-1].endswith("\r") and part.startswith("\n"):
            joined.append("\n")
        joined.append(part)
    return "".join(joined)
