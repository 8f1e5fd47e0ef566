"""The tables allow nothing that nobody does, and name no clause that is not there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pi_trio.conformance import monitors
from pi_trio.conformance.monitors import TRANSITIONS, EventMonitor, TraceMonitor

from .recordings import CLAUSES, FORCE, RELEASES, SIDES, creates, heard, traces

SOURCE = Path(monitors.__file__).parent


@cache
def taken_and_reached(side: str) -> tuple[set[str], set[str]]:
    """The transitions that a side takes, and the clauses that it reaches."""
    taken: set[str] = set()
    reached: set[str] = set()
    for release in RELEASES:
        for trace in traces(side, release):
            monitor = TraceMonitor(FORCE, [release], cancelling=side == "cancel")
            for line in trace.lines:
                monitor.tell(line)
            monitor.end()
            taken |= monitor.taken
            reached |= monitor.reached
            if len(creates(trace.lines)) == 1:
                for events in heard(trace.lines).values():
                    log = EventMonitor(FORCE, [release], midway=True)
                    for event in events:
                        log.tell(event)
                    taken |= log.taken
    return taken, reached


def test_every_transition_is_witnessed() -> None:
    """By a release; or, if it is there for a ruling, by the runtime."""
    witnessed = {side: taken_and_reached(side)[0] for side in SIDES}
    for name, transition in TRANSITIONS.items():
        by_ruling = CLAUSES[transition.clause].ruling is not None and transition.breach is None
        sides = SIDES if by_ruling else ("pi",)
        assert any(name in witnessed[side] for side in sides), name


def test_every_clause_that_is_named_is_one() -> None:
    named = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'"((?:RUN|TURN|MSG|STREAM|TOOL|QUEUE|HOOK|ABORT|FAIL|STATE)-\d\d)"', text))
    assert named <= set(CLAUSES)
    assert named == monitors.JUDGED


def test_a_breach_names_the_ruling_of_its_clause() -> None:
    for transition in TRANSITIONS.values():
        if transition.breach is not None:
            assert CLAUSES[transition.clause].ruling == transition.breach, transition.name


def test_what_holds_instead_is_in_force_in_the_other_releases() -> None:
    for transition in TRANSITIONS.values():
        if transition.instead is not None:
            assert FORCE[transition.instead] >= frozenset(RELEASES) - FORCE[transition.clause]


def test_every_clause_that_is_judged_is_reached() -> None:
    reached = set().union(*(taken_and_reached(side)[1] for side in SIDES))
    assert reached >= monitors.JUDGED
