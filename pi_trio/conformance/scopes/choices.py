"""A tree of choices, walked whole: a program is played again and again, each time with the next choices.

A program that asks a `Path` whenever it could go on in several ways is played once for each way through all of them,
from the first to the last. It has to do the same when it is given the same choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pi_trio.errors import PiTrioError


class UnsteadyError(PiTrioError):
    """The program did not come to the same choices again, so nothing that it does can be complete."""


class Path:
    """One way: the choices that are given, and behind them always the first.

    Args:
        given: the choices to begin with.
        widths: among how many each of them was, where that is known.
    """

    def __init__(self, given: Sequence[int] = (), widths: Sequence[int] = ()) -> None:
        self.given = tuple(given)
        self._known = tuple(widths[: len(self.given)])
        self.taken: list[int] = []
        self.widths: list[int] = []
        self._strayed: list[str] = []

    def choose(self, width: int) -> int:
        """One of so many, counted from 0; to choose of one is no choice. If it cannot be made, `check` says so."""
        if width == 1:
            return 0
        depth = len(self.taken)
        chosen = self.given[depth] if depth < len(self.given) else 0
        before = self._known[depth] if depth < len(self._known) else width
        if before != width or chosen >= width:
            self._strayed.append(f"choice {depth + 1} is among {width}, and was number {chosen} of {before}")
            chosen = 0
        self.taken.append(chosen)
        self.widths.append(width)
        return chosen

    def check(self) -> None:
        """See that the way which was given was gone.

        Raises:
            UnsteadyError: there was more, or less, to choose from than when the program was here before.
        """
        if len(self.taken) < len(self.given):
            self._strayed.append(f"there are only {len(self.taken)} choices on that way")
        if self._strayed:
            raise UnsteadyError(self._strayed[0])

    def next(self) -> Self | None:
        """The next way, once this one was gone to its end; None behind the last one."""
        taken = list(self.taken)
        while taken and taken[-1] + 1 == self.widths[len(taken) - 1]:
            taken.pop()
        if not taken:
            return None
        taken[-1] += 1
        return type(self)(taken, self.widths)
