"""The lines of a file that are asked for, counted and measured while the file goes by.

A file may be larger than the memory. What can be shown of it is small: so no more lines are kept than the limits of
`truncation` let through, and one more, by which truncating sees that there were more. The others are only measured.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Final

import attrs

from .truncation import MAX_BYTES, MAX_LINES, Truncation, byte_length, keep_head

_Utf8: Final = codecs.getincrementaldecoder("utf-8")


@attrs.frozen(kw_only=True)
class Selection:
    """What was selected.

    Attributes:
        total_lines: how many lines the file has; the text after its last newline is one, even if it is empty.
        truncation: what the model gets of the lines that were asked for.
        first_line_bytes: how long the first of them is.
    """

    total_lines: int
    truncation: Truncation
    first_line_bytes: int


def select_lines(pieces: Iterable[bytes], start: int, end: int | None) -> Selection:
    """The lines from `start` up to `end` (counted from 0, None for all that follow), of a file that comes in pieces.

    None are between a start and an end that is not behind it.
    What is no UTF-8 becomes replacement characters, as many as for a browser.
    """
    selecting = _Selecting(start, end)
    for piece in pieces:
        selecting.feed(piece)
    return selecting.done()


def count_lines(pieces: Iterable[bytes]) -> int:
    """How many lines a file has that comes in pieces, as `Selection.total_lines` counts them."""
    return sum(piece.count(b"\n") for piece in pieces) + 1


class _Selecting:
    def __init__(self, start: int, end: int | None) -> None:
        self._start, self._end = start, end
        self._line = 0  # the one that goes by
        self._decoder = _Utf8("replace")
        # What was selected, with its newlines: how much it is, and its last two characters.
        self._bytes = self._newlines = 0
        self._tail = ""
        # Of the lines that are kept, and of the one that goes by.
        self._kept: list[str] = []
        self._kept_bytes = self._first_line_bytes = 0
        self._full = False
        self._parts: list[str] = []
        self._line_bytes = 0

    def feed(self, piece: bytes) -> None:
        """A piece goes by. A newline is one byte, whatever stands before it."""
        place = 0
        while place < len(piece):
            if self._ended:
                self._line += piece.count(b"\n", place)
                return
            if self._line < self._start:
                place = self._skip(piece, place)
            elif self._full:
                place = self._measure(piece, place)
            else:
                end = piece.find(b"\n", place) + 1 or len(piece)
                self._take(self._decoder.decode(piece[place:end]))
                place = end

    @property
    def _ended(self) -> bool:
        return self._end is not None and self._line >= self._end

    def _skip(self, piece: bytes, place: int) -> int:
        """Lines before the first one that is selected go by. Returns where it begins."""
        newlines, end = _through(piece, place, self._start - self._line)
        self._line += newlines
        return end

    def _measure(self, piece: bytes, place: int) -> int:
        """Lines that are selected go by, and none of them can be shown. Returns where they end."""
        newlines, end = _through(piece, place, None if self._end is None else self._end - self._line)
        self._line += newlines
        self._count(self._decoder.decode(piece[place:end]), newlines)
        return end

    def _take(self, text: str) -> None:
        """A line that is selected goes by, or a part of one."""
        ends = text.endswith("\n")
        self._count(text, ends)
        # A line over the limit is never shown: so much of it that one sees it is enough.
        if self._line_bytes <= MAX_BYTES:
            self._parts.append(text.removesuffix("\n"))
        self._line_bytes += byte_length(text) - ends
        if ends:
            self._line += 1
            self._keep_line()

    def _count(self, text: str, newlines: int) -> None:
        self._bytes += byte_length(text)
        self._newlines += newlines
        self._tail = (self._tail + text[-2:])[-2:]

    def _keep_line(self) -> None:
        if not self._kept:
            self._first_line_bytes = self._line_bytes
        # One more than fits: of a text that ends with a newline, the last line does not count.
        self._full = len(self._kept) > MAX_LINES or self._kept_bytes > MAX_BYTES
        self._kept_bytes += self._line_bytes + bool(self._kept)  # with the newline between the two
        self._kept.append("".join(self._parts))
        self._parts, self._line_bytes = [], 0

    def done(self) -> Selection:
        total_lines = self._line + 1
        if self._ended:  # the newline behind the last line is not of the selection
            lines, size, tail = self._newlines, max(0, self._bytes - 1), self._tail[:-1]
        else:
            self._take(self._decoder.decode(b"", True))
            lines, size, tail = self._newlines + 1, self._bytes, self._tail
            if not self._full:
                self._keep_line()
        truncation = attrs.evolve(
            keep_head("\n".join(self._kept)),
            total_lines=0 if size == 0 else lines - tail.endswith("\n"),
            total_bytes=size,
        )
        return Selection(
            total_lines=total_lines, truncation=truncation, first_line_bytes=self._first_line_bytes
        )


def _through(piece: bytes, place: int, most: int | None) -> tuple[int, int]:
    """How many newlines there are from `place` on, `most` at most, and where the text goes on behind them."""
    newlines = piece.count(b"\n", place)
    if most is None or newlines < most:
        return newlines, len(piece)
    for _ in range(most):
        place = piece.index(b"\n", place) + 1
    return most, place
