"""What has been found so far, and which releases it may still be.

A monitor begins with the releases that are possible: the one it is told, or all of them. Whatever happens under a
clause that is in force in some of them only, tells those from the others; the others are no candidates any more. Were
none left, then nothing has been learned about releases, and a clause is broken.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Literal

from .finding import Finding, Force, Releases
from .order import TRANSITIONS, Transition


class Docket:
    """The findings, the candidates, and what was reached."""

    def __init__(self, force: Force, candidates: Iterable[str] | None) -> None:
        named = frozenset[str]().union(*force.values()) if candidates is None else frozenset(candidates)
        self.candidates: Releases = named
        self.force = force
        self.at = 0
        self.listener: str | None = None
        self.found: list[Finding] = []
        self.taken: set[Transition] = set()
        self._checked: set[str] = set()
        self._telling: dict[Transition, Releases] = {}
        for each in TRANSITIONS.values():
            releases = force.get(each.clause)
            if releases is not None and not each.breach and not named <= releases:
                self._telling[each] = releases

    @property
    def reached(self) -> set[str]:
        """The clauses that were exercised: a transition taken, or a check made."""
        sure = (each for each in self.taken if not each.breach and not each.unless_failed)
        exercised = {each.clause for each in sure} | self._checked
        return {clause for clause in exercised if self.in_force(clause)}

    def admits(self, transition: Transition) -> bool:
        """Whether it is there, in one of the candidates."""
        releases = self._telling.get(transition)
        return releases is None or not releases.isdisjoint(self.candidates)

    def take(
        self, transition: Transition, detail: str = "", *, shown: bool = True, at: int | None = None
    ) -> bool:
        """Take a transition, if it is there. One that is right only in a run that fails tells nothing yet, and one that
        was not `shown` but supplied exercises nothing.

        `at`: when that was, if it was not now.
        """
        releases = self._telling.get(transition)
        if releases is not None:
            left = self.candidates & releases
            if not left:
                return False
            if not transition.unless_failed:
                self.candidates = left
        if shown:
            self.taken.add(transition)
        if transition.breach is not None:
            now, self.at = self.at, self.at if at is None else at
            self.as_pi(
                transition.clause, transition.breach, f"{transition.symbol} ({transition.source})", detail
            )
            self.at = now
        return True

    def holds(self, *clauses: str) -> None:
        """A check was made, and the clauses were kept."""
        self._checked.update(clauses)

    def tells(self, clause: str, instead: str, what: str, detail: str = "") -> None:
        """Something is as `clause` has it, and not as `instead` has it, which holds in other releases."""
        releases = self.force.get(clause)
        if releases is None:
            return
        left = self.candidates & releases
        if left:
            self.candidates = left
            self._checked.add(clause)
        elif self.force.get(instead):
            self.breaks(instead, what, detail)

    def denies(self, clause: str, what: str, detail: str = "") -> None:
        """Something is not as `clause` has it, which holds in some releases only."""
        releases = self.force.get(clause)
        if not releases:
            return
        left = self.candidates - releases
        if left:
            self.candidates = left
        else:
            self.breaks(clause, what, detail)

    def breaks(self, clause: str, what: str, detail: str = "", allowed: Iterable[str] = ()) -> None:
        """A clause was not kept. `what` is the same for the same fault everywhere; `detail` is of this one."""
        self._note(clause, None, what, detail, tuple(allowed))

    def as_pi(self, clause: str, ruling: str, what: str, detail: str = "") -> None:
        """A ruling's clause was not kept, in the way of the releases."""
        self._note(clause, ruling, what, detail, ())

    def _note(
        self, clause: str, ruling: str | None, what: str, detail: str, allowed: tuple[str, ...]
    ) -> None:
        self._checked.add(clause)
        if self.in_force(clause):
            said = f"{what}: {detail}" if detail else what
            kind: Literal["broken", "as Pi"] = "broken" if ruling is None else "as Pi"
            self.found.append(
                Finding(clause, kind, self.at, said, allowed, ruling, self.listener, f"{clause}: {what}")
            )

    @contextmanager
    def silence(self) -> Generator[None]:
        """What is found meanwhile was not said, and is not found."""
        found, self.found = self.found, []
        try:
            yield
        finally:
            self.found = found

    def in_force(self, clause: str) -> bool:
        """Whether a clause is in force in one of the candidates."""
        return not self.candidates.isdisjoint(self.force.get(clause, ()))

    def collect(self) -> tuple[Finding, ...]:
        """What was found since the last time."""
        found, self.found = tuple(self.found), []
        return found


class Monitor:
    """What every monitor tells of its docket."""

    def __init__(self, docket: Docket) -> None:
        self._docket = docket

    @property
    def candidates(self) -> Releases:
        """The releases that it may still be."""
        return self._docket.candidates

    @property
    def reached(self) -> set[str]:
        """The clauses that were exercised so far."""
        return self._docket.reached

    @property
    def taken(self) -> set[str]:
        """The names of the transitions that were taken so far."""
        return {each.name for each in self._docket.taken}
