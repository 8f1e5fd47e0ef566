"""What an edit has changed, for people and for programs: lines with their numbers, and a unified patch.

Comparing whole files takes time where they are long, and the lines around the replacements are all that is shown. So
since Pi 1.6.0 only these are compared, and both forms are put together from the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from ..jsonvalue import JSON
from .dialect import ToolDialect
from .edit_matching import Edited
from .line_diff import Part, diff_lines

#: Lines that are shown before and after what has changed.
CONTEXT: Final = 4
#: Lines that are compared before and after a replacement.
_MARGIN: Final = 32

_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}
_NO_NEWLINE: Final = "\\ No newline at end of file"


@attrs.frozen
class Window:
    """A piece of the old text and what has become of it; both begin at the start of a line.

    Attributes:
        old_line, new_line: how many lines come before it.
    """

    old: str
    new: str
    old_line: int = 0
    new_line: int = 0


@attrs.define
class _Hunk:
    """Changes that stand close together, with the lines around them."""

    old_start: int
    new_start: int
    old_lines: int = 0
    new_lines: int = 0
    lines: list[str] = attrs.Factory(list)

    def add(self, kind: str, lines: Iterable[str]) -> None:
        for line in lines:
            self.lines.append(_SIGNS[kind] + line.removesuffix("\n"))
            if not line.endswith("\n"):
                self.lines.append(_NO_NEWLINE)
            self.old_lines += kind != "added"
            self.new_lines += kind != "removed"

    @property
    def header(self) -> str:
        # Where there are no lines, the number is that of the line before.
        old, new = self.old_start - (self.old_lines == 0), self.new_start - (self.new_lines == 0)
        return f"@@ -{old},{self.old_lines} +{new},{self.new_lines} @@"


def edit_details(edited: Edited, path: str, dialect: ToolDialect, check: Callable[[], None]) -> JSON:
    """The details of an edit's result: `diff`, `patch`, and `firstChangedLine` in the new text.

    Args:
        path: as the patch calls the file.
        check: called again and again while texts are compared.
    """
    windows = [Window(edited.old, edited.new)]
    if dialect.diff_scope == "windows":
        windows = list(windows_of(edited))
    width = len(str(max(edited.old.count("\n"), edited.new.count("\n")) + 1))
    shown = _Shown(width)
    hunks: list[_Hunk] = []
    for window in windows:
        parts = diff_lines(window.old, window.new, check)
        shown.add(window, parts)
        hunks += _hunks(window, parts)
    patch = [f"--- {path}", f"+++ {path}"]
    for hunk in hunks:
        patch += hunk.header, *hunk.lines
    return {
        "diff": "\n".join(shown.lines),
        "patch": "\n".join(patch) + "\n",
        "firstChangedLine": shown.first_changed_line,
    }


def windows_of(edited: Edited) -> Iterator[Window]:
    """The lines around each replacement; where they touch those around the next one, in one piece."""
    old = edited.old
    spans: list[
        list[int]
    ] = []  # start and end in the old text, how much longer the new one is before and in it
    longer = 0
    for one in edited.replacements:
        start, end = _lines_before(old, one.start), _lines_behind(old, one.start, one.end)
        growth = len(one.new) - (one.end - one.start)
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
            spans[-1][3] += growth
        else:
            spans.append([start, end, longer, growth])
        longer += growth
    place = line = new_place = new_line = 0
    for start, end, before, growth in spans:
        new_start = start + before
        line += old.count("\n", place, start)
        new_line += edited.new.count("\n", new_place, new_start)
        place, new_place = start, new_start
        yield Window(old[start:end], edited.new[new_start : end + before + growth], line, new_line)


def _lines_before(text: str, place: int) -> int:
    """Where the line of `place` begins, or one so far before it as is compared."""
    start = text.rfind("\n", 0, place) + 1
    for _ in range(_MARGIN):
        if start == 0:
            break
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _lines_behind(text: str, start: int, end: int) -> int:
    """Where the line ends that the stretch ends in, or one so far behind it as is compared."""
    place = max(end - 1, start)
    for _ in range(_MARGIN + 1):
        if end == len(text):
            break
        end = place = text.find("\n", place) + 1 or len(text)
    return end


@attrs.define
class _Shown:
    """The lines that are shown, those of one window after those of another."""

    _width: int
    lines: list[str] = attrs.Factory(list)
    first_changed_line: int | None = None

    def add(self, window: Window, parts: Sequence[Part]) -> None:
        first = True
        for line in self._of(window, parts):
            # Where one window ends and the next begins with lines left out, these are one gap.
            if not (first and line == self._gap and self.lines and self.lines[-1] == line):
                self.lines.append(line)
            first = False

    @property
    def _gap(self) -> str:
        return f" {' ' * self._width} ..."

    def _of(self, window: Window, parts: Sequence[Part]) -> Iterator[str]:
        old, new = window.old_line + 1, window.new_line + 1
        for index, part in enumerate(parts):
            count = len(part.lines)
            shown: Iterable[int | None] = range(count)
            if part.kind == "same":
                shown = _around(count, after=index > 0, before=index < len(parts) - 1)
            elif self.first_changed_line is None:
                self.first_changed_line = new
            first = new if part.kind == "added" else old
            for place in shown:
                if place is None:
                    yield self._gap
                else:
                    number = str(first + place).rjust(self._width)
                    yield f"{_SIGNS[part.kind]}{number} {part.lines[place].removesuffix(chr(10))}"
            old += count if part.kind != "added" else 0
            new += count if part.kind != "removed" else 0


def _around(count: int, *, after: bool, before: bool) -> Iterator[int | None]:
    """Which of `count` lines that are the same are shown, `after` a change or `before` one; None for those left out."""
    head, tail = CONTEXT * after, CONTEXT * before
    if head + tail == 0:
        return
    if count <= head + tail:
        yield from range(count)
        return
    yield from range(head)
    yield None
    yield from range(count - tail, count)


def _hunks(window: Window, parts: Sequence[Part]) -> Iterator[_Hunk]:
    old, new = window.old_line + 1, window.new_line + 1
    hunk: _Hunk | None = None
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part.kind != "same":
            hunk = hunk or _Hunk(old, new)
            hunk.add(part.kind, part.lines)
        elif hunk is not None:
            if len(part.lines) <= 2 * CONTEXT and not last:
                hunk.add(part.kind, part.lines)
            else:
                hunk.add(part.kind, part.lines[:CONTEXT])
                yield hunk
                hunk = None
        if part.kind == "same" and hunk is None and not last:
            lead = part.lines[-CONTEXT:]
            count = len(part.lines)
            hunk = _Hunk(old + count - len(lead), new + count - len(lead))
            hunk.add("same", lead)
        old += len(part.lines) if part.kind != "added" else 0
        new += len(part.lines) if part.kind != "removed" else 0
    if hunk is not None:
        yield hunk
