"""Whole logs and traces at once."""

from __future__ import annotations

from collections.abc import Iterable

from .bursts import done_of
from .content import Object
from .events import EventMonitor
from .finding import Finding, Force, Judgement
from .trace import TraceMonitor


def judge_events(
    events: Iterable[Object], force: Force, candidates: Iterable[str] | None = None
) -> Judgement:
    """Judge a log of events, which may end anywhere."""
    monitor = EventMonitor(force, candidates)
    findings = [finding for event in events for finding in monitor.tell(event)]
    findings += monitor.end()
    return _judgement(monitor, findings)


def judge_trace(
    lines: Iterable[Object],
    force: Force,
    candidates: Iterable[str] | None = None,
    *,
    cancelling: bool = False,
) -> Judgement:
    """Judge a whole trace."""
    monitor = TraceMonitor(force, candidates, cancelling=cancelling)
    findings = [finding for _, line in done_of(lines) for finding in monitor.tell(line)]
    findings += monitor.end()
    return _judgement(monitor, findings)


def _judgement(monitor: EventMonitor | TraceMonitor, findings: Iterable[Finding]) -> Judgement:
    return Judgement(
        tuple(findings),
        frozenset(monitor.reached),
        frozenset(monitor.taken),
        monitor.candidates,
    )
