"""What the monitors say of a play, as faults whose cause is the clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from pi_trio.conformance.causes import force
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors import Force, Judgement, judge_events, judge_trace
from pi_trio.conformance.protocol import Object

from .scope import Fault


def faults_in_trace(lines: Sequence[Object], profile: str, *, cancelling: bool) -> Iterator[Fault]:
    """Of a whole trace; `cancelling`: its aborts cancel."""
    return _faults(judge_trace(lines, _force(profile), cancelling=cancelling), "line")


def faults_in_events(events: Sequence[Object], profile: str) -> Iterator[Fault]:
    """Of what one listener heard."""
    return _faults(judge_events(events, _force(profile)), "event")


def _faults(judgement: Judgement, place: str) -> Iterator[Fault]:
    # The runtime keeps the rulings too, so what is as Pi does it is a fault like any other.
    return (Fault(found.clause, f"{found.said} ({place} {found.at})") for found in judgement.findings)


@cache
def _force(profile: str) -> Force:
    return force(Clauses.shipped(), profile)
