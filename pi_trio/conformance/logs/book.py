"""What is written down of a log while it is judged: the line, what was remarked, and which profiles it may follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pi_trio.conformance.monitors import Finding, Monitor

from .basis import Basis
from .outcome import Checked, Kind, Remark

_MIDWAY: Final = "it begins in the middle of a run; if it is the tail of another log, judge it with --midway"


class Book:
    """The book of one log.

    Args:
        basis: what it is judged by; changed when the log says what it follows, and as far as it says so.
        say: hears each remark as it is made.
        complete: the log holds whole runs, so one that ends in the middle of a run has a fault.

    Attributes:
        at: the number of the line that is being judged, from 1.
        midway: whoever begins to follow the log now does so in the middle of a run, as far as anybody knows.
    """

    def __init__(self, basis: Basis, say: Callable[[Remark], None], *, complete: bool, midway: bool) -> None:
        self.basis = self._first_basis = basis
        self.result = Checked(judged_as=basis.profile)
        self._judged_as: set[str | None] = set()
        """As what its parts were judged."""
        self.at = 0
        self.midway = midway
        self._complete = complete
        self._may_begin_midway = midway
        self._say = say
        self._since = 1

    @property
    def closes(self) -> bool:
        """Whether nothing may be missing at the end."""
        return self._complete and not self.result.interrupted

    def named(self, profile: str) -> None:
        """The log says which profile this part of it follows."""
        self.basis = self.basis.named(profile)

    def leave_out(self, clauses: frozenset[str]) -> None:
        """This part of the log is not judged by some clauses."""
        self.basis = self.basis.without(clauses)
        self.result.left_out |= clauses

    def remark(
        self, kind: Kind, text: str, raw: bytes = b"", finding: Finding | None = None, *, reason: str = ""
    ) -> None:
        """Something is to be said about this line."""
        self.result.remarks[kind] += 1
        self._say(Remark(self.at, kind, text, finding, raw, reason))

    def note(self, line: int, text: str) -> None:
        """Something about an earlier line, which is no fault."""
        self._say(Remark(line, "note", text))

    def found(self, findings: Iterable[Finding], raw: bytes = b"") -> None:
        """What a monitor has found in this line."""
        for finding in findings:
            heard = f" (heard by {finding.listener})" if finding.listener else ""
            self.remark(finding.kind, f"{finding.said}{heard}", raw, finding)
            if finding.ruling is not None:
                self.result.rulings[finding.ruling] += 1

    def begins(self, kind: str) -> None:
        """What is followed from this line on says this first."""
        if kind == "agent_start":
            return
        self.result.runs += 1
        if not self.midway:
            self.note(self.at, _MIDWAY)

    def cut(self, what: str, where: str) -> None:
        """It ends where something was still under way."""
        if self.result.interrupted:
            return
        self.result.complete = False
        if self._complete:
            self.remark("unreadable", f"{what} ends {where}")
        else:
            self.remark("note", f"{what} ends {where}; that is no fault")

    def settle(self, monitor: Monitor) -> None:
        """A monitor has seen the last of what it follows."""
        self.result.reached |= monitor.reached
        self.result.fits.setdefault(monitor.candidates, self._since)
        self._judged_as.add(self.basis.profile)
        self.result.judged_as = self.basis.profile if len(self._judged_as) == 1 else None

    def turn_page(self, *, behind: bool = False) -> None:
        """From this line on, or `behind` it, all is another agent's, and what the log has said of itself is over."""
        self._since = self.at + behind
        self.midway = self._may_begin_midway
        self.basis = self._first_basis
