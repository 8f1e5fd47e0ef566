"""How much of a text the model gets: its first lines or its last ones, up to a number of lines and of bytes.

Whichever limit is hit first counts. Lines stay whole, save for a last line that is too long by itself: its end is kept.
Bytes are those of UTF-8. A text that ends with a newline has no empty line after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import attrs

from ..jsonvalue import JSON

MAX_LINES: Final = 2000
MAX_BYTES: Final = 50 * 1024


@attrs.frozen(kw_only=True)
class Truncation:
    """What was kept of a text, and how much there was.

    Attributes:
        content: the lines that were kept.
        truncated_by: which limit was hit; None where nothing was left out.
        total_lines, total_bytes: of the whole text.
        output_lines, output_bytes: of what was kept.
        last_line_partial: only the end of the last line was kept.
        first_line_exceeds_limit: nothing was kept, since the first line is too long.
    """

    content: str
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.truncated_by is not None

    def as_details(self) -> JSON:
        """As it stands in a result's details, and as Pi has it there."""
        return {
            "content": self.content,
            "truncated": self.truncated,
            "truncatedBy": self.truncated_by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.output_lines,
            "outputBytes": self.output_bytes,
            "lastLinePartial": self.last_line_partial,
            "firstLineExceedsLimit": self.first_line_exceeds_limit,
            "maxLines": MAX_LINES,
            "maxBytes": MAX_BYTES,
        }


def keep_head(text: str) -> Truncation:
    """The first lines of a text."""
    lines, whole = _measured(text)
    if whole is not None:
        return whole
    kept, size, truncated_by = _fitting(lines)
    return Truncation(
        content="\n".join(lines[:kept]),
        truncated_by=truncated_by,
        total_lines=len(lines),
        total_bytes=byte_length(text),
        output_lines=kept,
        output_bytes=size,
        first_line_exceeds_limit=byte_length(lines[0]) > MAX_BYTES,
    )


def keep_tail(text: str) -> Truncation:
    """The last lines of a text, or the end of its last line."""
    lines, whole = _measured(text)
    if whole is not None:
        return whole
    kept, size, truncated_by = _fitting(reversed(lines))
    content = "\n".join(lines[len(lines) - kept :])
    partial = kept == 0
    if partial:
        content = end_of(lines[-1].encode(), MAX_BYTES)
        size = byte_length(content)
    return Truncation(
        content=content,
        truncated_by=truncated_by,
        total_lines=len(lines),
        total_bytes=byte_length(text),
        output_lines=1 if partial else kept,
        output_bytes=size,
        last_line_partial=partial,
    )


def end_of(text: bytes, size: int) -> str:
    """The last `size` bytes of a text in UTF-8, without the rest of a character that they would cut."""
    return without_rest(text[max(0, len(text) - size) :]).decode()


def without_rest(text: bytes) -> bytes:
    """A piece of UTF-8 from where its first character begins."""
    start = 0
    while start < len(text) and text[start] & 0xC0 == 0x80:
        start += 1
    return text[start:]


def byte_length(text: str) -> int:
    """The length of a text without lone surrogates, in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def size_text(size: int) -> str:
    """A number of bytes as people read it: `512B`, `50.0KB`, `1.5MB`."""
    if size < 1024:
        return f"{size}B"
    unit, name = (1024, "KB") if size < 1024 * 1024 else (1024 * 1024, "MB")
    # JavaScript rounds a half up, Python to an even digit.
    tenths = (size * 20 + unit) // (unit * 2)
    return f"{tenths // 10}.{tenths % 10}{name}"


def _measured(text: str) -> tuple[list[str], Truncation | None]:
    """The lines of a text, and what is kept of it if that is all."""
    lines = text.removesuffix("\n").split("\n") if text else []
    size = byte_length(text)
    if len(lines) > MAX_LINES or size > MAX_BYTES:
        return lines, None
    whole = Truncation(
        content=text,
        truncated_by=None,
        total_lines=len(lines),
        total_bytes=size,
        output_lines=len(lines),
        output_bytes=size,
    )
    return lines, whole


def _fitting(lines: Iterable[str]) -> tuple[int, int, Literal["lines", "bytes"]]:
    """How many of the lines are within the limits, what they and the newlines between them measure, and which limit
    the next one would break."""
    kept = size = 0
    for line in lines:
        if kept == MAX_LINES:
            break
        longer = size + byte_length(line) + (kept > 0)
        if longer > MAX_BYTES:
            return kept, size, "bytes"
        kept, size = kept + 1, longer
    return kept, size, "lines"
