"""What came of a search: figures that can be added up, and the faults that were found, each as a token."""

from __future__ import annotations

from collections import Counter

import attrs

from ..lockstep import Run
from .judging import Fault
from .shares import Shares
from .token import Token


@attrs.frozen
class Found:
    """A fault, and the token of the smallest conversation that was found to show it, with the number of its steps."""

    fault: Fault
    token: str
    steps: int


@attrs.define(kw_only=True)
class Outcome:
    """What came of a search so far.

    Attributes:
        profile: what the subject was judged as.
        steps: accepted stimuli.
        compared: commands in which the subject did as the runtime, if it is another.
        raced: conversations in which what two calls do behind one burst came in another order, and no more.
        seconds: how long it took.
        explained: conversations that part from the runtime where a ruling was entered, by ruling.
        unoffered: conversations that were not played on the subject, by what it lacks.
        reached: the clauses that came into play.
        found: by the name of the fault.
    """

    profile: str = ""
    shares: Shares = attrs.field(factory=Shares)
    steps: int = 0
    compared: int = 0
    raced: int = 0
    seconds: float = 0.0
    explained: Counter[str] = attrs.field(factory=Counter[str])
    unoffered: Counter[str] = attrs.field(factory=Counter[str])
    reached: set[str] = attrs.field(factory=set[str])
    found: dict[str, Found] = attrs.field(factory=dict[str, Found])

    def enter(self, fault: Fault, run: Run) -> None:
        """A fault was found, which that conversation shows."""
        token = Token(self.profile, run.scenario).text()
        self.found[fault.name] = Found(fault, token, len(run.scenario.steps))

    def add(self, other: Outcome) -> None:
        """Take in what another search has come to, at the same time."""
        self.profile = other.profile
        self.shares.add(other.shares)
        self.steps += other.steps
        self.compared += other.compared
        self.raced += other.raced
        self.seconds = max(self.seconds, other.seconds)
        self.explained.update(other.explained)
        self.unoffered.update(other.unoffered)
        self.reached |= other.reached
        for name, found in other.found.items():
            if name not in self.found or found.steps < self.found[name].steps:
                self.found[name] = found
