"""What came of a log: what is remarked of single lines as they come, and what there is to say at its end."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import attrs

from pi_trio.conformance.monitors import Finding, Releases

Kind = Literal["broken", "as Pi", "unreadable", "note"]
Side = Literal["tester", "subject"]


@attrs.frozen
class Remark:
    """Something about a line.

    Attributes:
        kind: a clause that is broken, or not kept in the way of the releases; a line that cannot be read; or what is
            worth knowing, and no fault.
        finding: what the monitors found, if it is that.
        raw: the line itself.
        reason: of a text that has something of this line in it, what is the same in others.
    """

    line: int
    kind: Kind
    text: str
    finding: Finding | None = None
    raw: bytes = b""
    reason: str = ""

    @property
    def cause(self) -> str:
        """The same for the same thing in another line."""
        return f"{self.kind} {self.reason or self.text}" if self.finding is None else self.finding.cause


@attrs.define
class Checked:
    """What came of a log.

    Attributes:
        runs, events: how many were judged.
        responses: how many of what providers say were judged; what is said in them are events, too.
        asked: in how many lines of traces something was done or said, events and all else.
        sides: how many messages of a wire are of the tester, and how many of the subject.
        lines: how many the log has.
        session: what was not judged because Pi's session says it, and not its agent, by type.
        skipped: what was not judged because nobody knows it, by type.
        left_out: the clauses by which parts of it are not judged, see `left_out`.
        remarks: how many there were of each kind.
        rulings: how often each ruling's clauses were not kept, in the way of the releases.
        reached: the clauses that were exercised.
        fits: which profiles parts of the log may follow, each with the line from which on.
        judged_as: the profile that it was judged as, if for all of it only one came into question from the start.
        complete: nothing is missing at its end.
        interrupted: it was not read to its end.
    """

    runs: int = 0
    events: int = 0
    responses: int = 0
    asked: int = 0
    sides: Counter[Side] = attrs.field(factory=Counter[Side])
    lines: int = 0
    session: Counter[str] = attrs.field(factory=Counter[str])
    skipped: Counter[str] = attrs.field(factory=Counter[str])
    left_out: frozenset[str] = frozenset()
    remarks: Counter[Kind] = attrs.field(factory=Counter[Kind])
    rulings: Counter[str] = attrs.field(factory=Counter[str])
    reached: set[str] = attrs.field(factory=set[str])
    fits: dict[Releases, int] = attrs.field(factory=dict[Releases, int])
    judged_as: str | None = None
    complete: bool = True
    interrupted: bool = False

    @property
    def profiles(self) -> Releases:
        """The profiles that the whole log may follow."""
        parts = list(self.fits)
        return parts[0].intersection(*parts) if parts else frozenset()

    @property
    def judged(self) -> bool:
        """Whether there was something to judge."""
        return self.events > 0 or self.asked > 0

    @property
    def conformant(self) -> bool:
        """Whether there was something to judge, and nothing was wrong."""
        return self.judged and not self.remarks["broken"] and not self.remarks["unreadable"]
