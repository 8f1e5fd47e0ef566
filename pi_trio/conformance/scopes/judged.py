"""What the monitors say of a play, as faults whose cause is the clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from pi_trio.conformance.causes import force
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors import Force, Judgement, judge_events, judge_trace
from pi_trio.conformance.protocol import Object

from .scope import Fault


def faults_in_trace(
    lines: Sequence[Object], profile: str, *, cancelling: bool, strict: bool
) -> Iterator[Fault]:
    """Of a whole trace.

    Args:
        cancelling: its aborts cancel.
        strict: the rulings have to be kept, too.
    """
    return _faults(judge_trace(lines, _force(profile), cancelling=cancelling), "line", strict=strict)


def faults_in_events(events: Sequence[Object], profile: str) -> Iterator[Fault]:
    """Of what a listener of the runtime heard."""
    return _faults(judge_events(events, _force(profile)), "event", strict=True)


def _faults(judgement: Judgement, place: str, *, strict: bool) -> Iterator[Fault]:
    found = judgement.findings if strict else judgement.broken
    return (Fault(each.clause, f"{each.said} ({place} {each.at})") for each in found)


@cache
def _force(profile: str) -> Force:
    return force(Clauses.shipped(), profile)
