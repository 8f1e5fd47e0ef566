"""What a monitor says: findings, what is allowed next, and the judgement over a whole log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

Releases: TypeAlias = frozenset[str]
"""Names of what a clause can be in force in: releases, or one composite profile."""

Force: TypeAlias = Mapping[str, Releases]
"""In which releases each clause is in force. A clause that is not listed is not judged."""


@attrs.frozen
class Finding:
    """A clause that was not kept.

    `kind`: "broken", or "as Pi" where the clause is a ruling's and the releases do not keep it either; then `ruling`
    names the ruling. `at`: the number of the event, or of the line of a trace, from 0. `said` is what happened,
    `allowed` what would have been allowed instead. `cause` is the same for the same fault wherever it occurs.
    """

    clause: str
    kind: Literal["broken", "as Pi"]
    at: int
    said: str
    allowed: tuple[str, ...] = ()
    ruling: str | None = None
    listener: str | None = None
    cause: str = ""


@attrs.frozen
class Allowed:
    """What may come next, each with the clause that allows it, and whether nothing may come. `if_given` is what may
    come too if the latest answer was none, but an assistant message that was given to the run.
    """

    events: Mapping[str, str]
    silence: bool
    if_given: Mapping[str, str] = attrs.field(factory=dict[str, str])

    def in_words(self) -> tuple[str, ...]:
        """Each event with its clause."""
        return tuple(f"{event} ({clause})" for event, clause in self.events.items())


@attrs.frozen
class Judgement:
    """What there is to say of a whole log or trace."""

    findings: tuple[Finding, ...]
    reached: frozenset[str]
    taken: frozenset[str]
    candidates: Releases

    @property
    def broken(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.kind == "broken")

    @property
    def as_pi(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.kind == "as Pi")
