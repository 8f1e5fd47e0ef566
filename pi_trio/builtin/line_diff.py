"""The shortest way from the lines of one text to those of another (Myers, 1986).

There are mostly several shortest ways. Which one is taken decides what people are shown, so it is the same as in Pi,
whose library keeps to these rules: of two ways that come to the same diagonal, the one that is further ahead in the old
text goes on, and one that removes a line goes before one that adds one; and a way at the end of either text leaves the
diagonals beyond it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import attrs

Kind: TypeAlias = Literal["same", "removed", "added"]

#: So many removed and added lines at most. Beyond, the effort grows with their square, and nobody reads it.
MOST_CHANGES: Final = 1500


@attrs.frozen
class Part:
    """Lines that follow each other and are of one kind, with their newlines."""

    kind: Kind
    lines: Sequence[str]


#: The steps of a way, backwards: how many lines of which kind, and the steps before.
_Steps: TypeAlias = "tuple[Kind, int, _Steps] | None"


def diff_lines(old: str, new: str, check: Callable[[], None]) -> list[Part]:
    """What lines to remove from `old`, and to add, so that it becomes `new`.

    Beyond `MOST_CHANGES`, all lines between the first and the last that differ count as changed.

    Args:
        check: called again and again, so that it can raise if nobody wants to know any more.
    """
    olds, news = lines_of(old), lines_of(new)
    steps = _Search(olds, news).steps(check)
    if steps is _TOO_FAR:
        steps = _all_between(olds, news)
    return _parts(steps, olds, news)


def lines_of(text: str) -> list[str]:
    """The lines of a text, with their newlines."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


_TOO_FAR: Final[_Steps] = ("same", -1, None)


class _Search:
    def __init__(self, olds: Sequence[str], news: Sequence[str]) -> None:
        self._olds, self._news = olds, news
        # By diagonal (lines of the old text less those of the new): how far ahead in the old text, and by which steps.
        self._ahead: dict[int, tuple[int, _Steps]] = {}

    def steps(self, check: Callable[[], None]) -> _Steps:
        size, other = len(self._olds), len(self._news)
        lowest, highest = -MOST_CHANGES, MOST_CHANGES
        place, steps = self._along(0, 0, None)
        if place == size and place == other:
            return steps
        self._ahead[0] = (place, steps)
        for changes in range(1, MOST_CHANGES + 1):
            check()
            diagonal = max(lowest, -changes)
            while diagonal <= min(highest, changes):
                place, steps = self._reach(diagonal)
                if place >= 0:
                    if place == size and place - diagonal == other:
                        return steps
                    self._ahead[diagonal] = (place, steps)
                    if place == size:
                        highest = min(highest, diagonal - 1)
                    if place - diagonal == other:
                        lowest = max(lowest, diagonal + 1)
                diagonal += 2
        return _TOO_FAR

    def _reach(self, diagonal: int) -> tuple[int, _Steps]:
        """The furthest way to a diagonal, by one change more; a negative place where there is none."""
        removing = self._ahead.pop(diagonal - 1, None)
        adding = self._ahead.get(diagonal + 1)
        if removing is not None and removing[0] >= len(self._olds):
            removing = None
        if adding is not None and not 0 <= adding[0] - diagonal - 1 < len(self._news):
            adding = None
        if adding is not None and (removing is None or removing[0] < adding[0]):
            return self._along(diagonal, adding[0], _and("added", adding[1]))
        if removing is not None:
            return self._along(diagonal, removing[0] + 1, _and("removed", removing[1]))
        self._ahead.pop(diagonal, None)
        return -1, None

    def _along(self, diagonal: int, place: int, steps: _Steps) -> tuple[int, _Steps]:
        """Past all lines that are the same from here on."""
        olds, news, start = self._olds, self._news, place
        most = min(len(olds), len(news) + diagonal)
        while place < most and olds[place] == news[place - diagonal]:
            place += 1
        return place, ("same", place - start, steps) if place > start else steps


def _and(kind: Kind, steps: _Steps) -> _Steps:
    """One line more of a kind."""
    if steps is not None and steps[0] == kind:
        return (kind, steps[1] + 1, steps[2])
    return (kind, 1, steps)


def _all_between(olds: Sequence[str], news: Sequence[str]) -> _Steps:
    shorter = min(len(olds), len(news))
    before = next((place for place in range(shorter) if olds[place] != news[place]), shorter)
    rest = range(shorter - before)
    behind = next((place for place in rest if olds[-1 - place] != news[-1 - place]), len(rest))
    steps: _Steps = None
    counts: tuple[tuple[Kind, int], ...] = (
        ("same", before),
        ("removed", len(olds) - before - behind),
        ("added", len(news) - before - behind),
        ("same", behind),
    )
    for kind, count in counts:
        steps = (kind, count, steps) if count else steps
    return steps


def _parts(steps: _Steps, olds: Sequence[str], news: Sequence[str]) -> list[Part]:
    parts: list[Part] = []
    old, new = len(olds), len(news)
    while steps is not None:
        kind, count, steps = steps
        if kind != "removed":
            new -= count
        if kind != "added":
            old -= count
        lines = olds[old : old + count] if kind == "removed" else news[new : new + count]
        parts.append(Part(kind, lines))
    return parts[::-1]
