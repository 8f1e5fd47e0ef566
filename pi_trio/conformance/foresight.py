"""Driving by expectation: for a subject whose reply does not say that it has finished (`quiescence: none`).

The tester knows what the reference does in each step. It waits until as many reactions have come, and goes on
in the reference's order. Something that the reference does not do in this step settles the matter at once, and
what does not come in time settles it too; either way the rest of the scenario would only be noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .faults import SubjectLate, SubjectMissed, SubjectMute
from .protocol import Object


class Foresight:
    """What is still to come in the present step.

    Args:
        lines: the trace that the subject should show.
        content: what a line says, without the number of an ask; None if that cannot be told of a message yet.
    """

    def __init__(self, lines: Sequence[Object], content: Callable[[Object], str | None]) -> None:
        self._content = content
        self._steps: list[Counter[str | None]] = []
        for line in lines:
            if "send" in line:
                self._steps.append(Counter())
            elif "tell" in line or "ask" in line:
                self._steps[-1][content(line)] += 1
        self._left: Counter[str | None] = Counter()
        self._due = self._came = 0
        self._mute = True
        """Nothing has come at all, in any step."""

    def begin(self, step: int) -> None:
        """The next step, numbered from 0, begins."""
        self._left = Counter(self._steps[step] if step < len(self._steps) else {})
        self._due, self._came = self._left.total(), 0

    def complete(self) -> bool:
        """Whether as many reactions have come as are expected."""
        return self._came >= self._due

    def hear(self, reactions: Sequence[Object]) -> None:
        """Enter what came.

        Raises:
            SubjectLate: there is something in it that the reference does not do in this step.
        """
        for message in reactions:
            self._came += 1
            self._mute = False
            said = self._content(message)
            if said is not None and not self._left[said]:
                raise SubjectLate("it does something that is not expected in this step")
            self._left[said] -= 1

    def missed(self) -> SubjectMissed:
        """The fault of having waited in vain."""
        kind = SubjectMute if self._mute else SubjectMissed
        return kind(f"{self._due} reactions were expected, and only {self._came} came in time")
