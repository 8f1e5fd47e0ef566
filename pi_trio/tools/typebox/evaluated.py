"""Which members of a value its schema has looked at: what the `unevaluated…` keywords leave alone.

The notes lie on a stack, one frame for each value that the check is inside of. A check that fails inside a member
leaves that member's frame behind. Mostly that is the end of these notes; but after an `if` that has failed so, the
members of the outer value are noted on the frame that was left, and the `unevaluated…` keywords read that one. This is
how the releases do it, so it stays.
"""

from __future__ import annotations

from collections.abc import Iterable


class Evaluated:
    """The notes of one check, or of one branch of it."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: list[tuple[set[int], set[str]]] = [(set(), set())]

    @property
    def indices(self) -> set[int]:
        """The items of the array at hand that were looked at."""
        return self._frames[-1][0]

    @property
    def keys(self) -> set[str]:
        """The members of the object at hand that were looked at."""
        return self._frames[-1][1]

    def enter(self) -> None:
        """Go into a member."""
        self._frames.append((set(), set()))

    def leave(self) -> None:
        """Come back from a member that has passed."""
        self._frames.pop()

    def merge(self, branches: Iterable[Evaluated]) -> None:
        """Add what branches that have passed have looked at."""
        for branch in branches:
            self.indices.update(branch.indices)
            self.keys.update(branch.keys)
