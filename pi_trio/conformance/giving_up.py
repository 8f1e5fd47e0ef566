"""When it is not worth trying a subject any more, and what is said of it then.

A scenario that a subject does not live through, or in which it is waited for in vain, says little, and may cost the
whole patience. One such scenario is no reason to give up, and those that come after one another are. How many depends
on how they were lost: a death costs little; a subject that has said something may only lack one thing that it should
say, in all the scenarios of a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from .faults import SubjectDied, SubjectFault, SubjectMissed, SubjectMute, SubjectUnstartable

MISSES: Final = 30
"""Scenarios in a row in which a subject without quiescence said something, but not all that was waited for, before it
is given up: each costs the whole patience.
"""


class Losses:
    """Scenarios in a row that were lost.

    Args:
        limits: how many, by the fault; of several kinds each counts as its part. Other faults are no loss, and end the
            row. If a fault is of several of these classes, the first one counts.
    """

    def __init__(self, limits: Mapping[type[SubjectFault], int]) -> None:
        self._limits = limits
        self._spent = Fraction(0)
        self._row: list[SubjectFault] = []

    @property
    def over(self) -> bool:
        """Whether the subject is given up."""
        return self._spent >= 1

    @property
    def reason(self) -> str:
        """Why the subject is given up; empty as long as it is not."""
        ways = dict.fromkeys(map(_how, self._row))
        return (
            f"not tried any more: {len(self._row)} scenarios in a row {', or '.join(ways)}"
            if self.over
            else ""
        )

    def note(self, fault: SubjectFault | None) -> None:
        """Enter what broke a scenario off, if something did. Once the subject is given up, nothing is entered."""
        if self.over:
            return
        limit = next((limit for kind, limit in self._limits.items() if isinstance(fault, kind)), None)
        if fault is None or limit is None:
            self._spent, self._row = Fraction(0), []
            return
        self._spent += Fraction(1, limit)
        self._row.append(fault)


def _how(fault: SubjectFault) -> str:
    match fault:
        case SubjectDied() | SubjectUnstartable():
            return "it died, or did not start again"
        case SubjectMute():
            return "it said nothing at all"
        case SubjectMissed():
            return "it was waited for in vain"
        case _:
            return "it gave no reply, or came to no end"
