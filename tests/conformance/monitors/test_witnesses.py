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
        if name not in UNWITNESSED:
            assert any(name in witnessed[side] for side in sides), name
    for name in UNWITNESSED:
        assert name in TRANSITIONS
        assert not any(name in taken for taken in witnessed.values()), name


UNWITNESSED = {
    "line: last turn ended – message_start of a failure": "a listener that fails at the turn_end of an errored answer",
    "batch: launched – tool_execution_start": "a listener that fails at the second of three starts, under 1.6.0",
}
"""Transitions of which no scenario is recorded, and what would have to happen in one."""

UNREACHED = {"FAIL-21"}
"""Clauses that are judged and that no recording reaches (`test_any_scenario` reaches it)."""


def test_every_clause_that_is_named_is_one() -> None:
    named = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'"((?:RUN|TURN|MSG|STREAM|TOOL|QUEUE|HOOK|ABORT|FAIL|STATE)-\d\d)"', text))
    assert named <= set(CLAUSES)
    assert named == monitors.JUDGED


def test_some_clauses_are_only_seen_kept() -> None:
    """They stand in no call but those that note a kept clause, and allow no transition."""
    kept = re.compile(r"\.holds\([^\n]*")
    named = {each.clause for each in TRANSITIONS.values()} | {
        each.instead for each in TRANSITIONS.values() if each.instead is not None
    }
    for path in SOURCE.rglob("*.py"):
        if path.name != "judged.py":
            text = kept.sub("", path.read_text(encoding="utf-8"))
            named |= set(re.findall(r"\b[A-Z]+-\d\d\b", text))
    assert monitors.JUDGED - named == monitors.HELD_ONLY


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
    assert monitors.JUDGED - reached == UNREACHED
