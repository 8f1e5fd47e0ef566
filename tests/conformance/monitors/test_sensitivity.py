"""Faults are found: one event left out, doubled, displaced or changed, anywhere, is one finding, and not many."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.monitors import EventMonitor, Finding
from pi_trio.conformance.protocol import Object

from .mutations import Mutant, mutants
from .recordings import FORCE, good_logs

RELEASE = "1.6.0"

NOT_IN_THE_EVENTS = (
    # The loop hands on what the provider says, whatever that is; only who knows the stream can tell.
    "without message_update", "twice message_update", "message_update before message_update",
    "message_update: event's ", "message_start: assistant's ",
    # A tool may report anything.
    "without tool_execution_update", "twice tool_execution_update",
    "tool_execution_update before tool_execution_update", "tool_execution_update: partialResult",
    # The order in which parallel calls end, and are prepared.
    "tool_execution_end before tool_execution_end", "tool_execution_start before tool_execution_end",
    "tool_execution_end before tool_execution_start",
)  # fmt: skip
"""Faults that nobody can see who has nothing but the events."""

EXCEPT = frozenset({"message_start: assistant's role"})
"""Those of them that anybody sees."""

SEEN_BY_CHANCE = {
    "tool_execution_end before tool_execution_start": "that call has ended before it began; other calls may",
    "tool_execution_start before tool_execution_end": "others run already, and then none is started any more",
}
"""Those of them that are seen sometimes, and why."""


def excluded(kind: str) -> bool:
    return kind.startswith(NOT_IN_THE_EVENTS) and kind not in EXCEPT


FIRST_CLAUSE = {
    "without agent_start": "RUN-01",
    "without agent_end": "RUN-02",
    "without turn_start": "TURN-01",
    "without turn_end": "RUN-02",
    "without message_start": "MSG-01",
    "without message_end": "MSG-01",
    "without tool_execution_start": "TOOL-01",
    "without tool_execution_end": "TOOL-03",
    "twice agent_end": "RUN-03",
    "twice turn_start": "TURN-01",
    "twice message_end": "MSG-01",
    "message_start before turn_start": "TURN-01",
    "tool_execution_start before tool_execution_start": "TOOL-01",
    "tool_execution_start: args": "TOOL-02",
    "tool_execution_start: toolCallId": "TOOL-01",
    "tool_execution_end: toolCallId": "TOOL-03",
    "tool_execution_end: durationMs": "TOOL-30",
    "tool_execution_update: toolName": "TOOL-04",
    "message_update: assistant's role": "MSG-03",
    "message_update: assistant's timestamp": "MSG-04",
    "message_update: assistant's content shorter": "MSG-04",
    "message_end: user's timestamp": "MSG-02",
    "message_end: toolResult's isError": "MSG-02",
    "message_end: assistant's stopReason": "TURN-04",
    "message_start: toolResult's toolCallId": "MSG-10",
    "turn_end: toolResults shorter": "TURN-05",
    "turn_end: assistant's stopReason": "TURN-04",
    "agent_end: messages shorter": "RUN-05",
    "agent_end: messages reversed": "RUN-05",
}
"""The clause that is named first, for most of the mutants of a kind."""


def judged(events: list[Object] | Mutant) -> list[Finding]:
    monitor = EventMonitor(FORCE, [RELEASE])
    log = events.events if isinstance(events, Mutant) else events
    found = [finding for event in log for finding in monitor.tell(event)]
    return found + list(monitor.end(closed=True))


def test_every_fault_that_shows_is_found(outcomes: dict[str, list[list[Finding]]]) -> None:
    shares = {
        kind: sum(map(bool, found)) / len(found) for kind, found in outcomes.items() if not excluded(kind)
    }
    assert len(shares) > 60
    assert {kind: share for kind, share in shares.items() if share < 0.97} == {}
    everything = [found for kind, each in outcomes.items() if kind in shares for found in each]
    assert sum(map(bool, everything)) / len(everything) > 0.999


def test_what_is_not_in_the_events_is_never_found(outcomes: dict[str, list[list[Finding]]]) -> None:
    found = {kind for kind, each in outcomes.items() if excluded(kind) and any(each)}
    assert found == set(SEEN_BY_CHANCE)


def test_one_fault_is_one_finding(outcomes: dict[str, list[list[Finding]]]) -> None:
    everything = [found for each in outcomes.values() for found in each]
    several = [found for found in everything if len(found) > 1]
    assert len(several) / len(everything) < 0.005
    assert max(map(len, everything)) < 8


@pytest.mark.parametrize(("kind", "clause"), FIRST_CLAUSE.items())
def test_the_clause_that_is_named(outcomes: dict[str, list[list[Finding]]], kind: str, clause: str) -> None:
    named = Counter(found[0].clause for found in outcomes[kind] if found)
    assert named.most_common(1)[0][0] == clause


def test_what_would_have_been_allowed_is_said(outcomes: dict[str, list[list[Finding]]]) -> None:
    assert all(
        found[0].allowed for found in outcomes["without turn_start"] if found[:1] and found[0].ruling is None
    )


@given(st.data())
def test_a_fault_is_forgotten(data: st.DataObject) -> None:
    """Behind a fault, and a run that is as it should be, a second fault is found as if it were the first."""
    logs = good_logs(RELEASE)
    _, before = data.draw(st.sampled_from(logs))
    _, between = data.draw(st.sampled_from(logs))
    _, after = data.draw(st.sampled_from(logs))
    first = data.draw(st.sampled_from(list(mutants(before))))
    second = data.draw(st.sampled_from(list(mutants(after))))
    alone = [(each.clause, each.said) for each in judged(second)]
    monitor = EventMonitor(FORCE, [RELEASE])
    for event in (*first.events, *between):
        monitor.tell(event)
    found = [finding for event in second.events for finding in monitor.tell(event)]
    found += monitor.end(closed=True)
    assert [(each.clause, each.said) for each in found] == alone


def late_turn_start(events: tuple[Object, ...]) -> list[Object]:
    """As a subject says it that has a `turn_start` behind the messages that are injected."""
    log: list[Object] = []
    held: Object | None = None
    for event in events:
        if event["type"] == "turn_start":
            held = event
            continue
        injected = event.get("message", {}).get("role") == "user" and event["type"].startswith("message_")
        if held is not None and not injected:
            log.append(held)
            held = None
        log.append(event)
    return log


def test_a_turn_start_behind_the_users_message_is_one_finding_for_each_run() -> None:
    seen = 0
    for name, events in good_logs(RELEASE):
        late = late_turn_start(events)
        turns = sum(
            one["type"] == "turn_start" and other.get("message", {}).get("role") == "user"
            for one, other in pairwise(events)
        )
        found = judged(late)
        assert [each.clause for each in found] == ["TURN-01"] * turns, name
        assert len({each.cause for each in found}) <= 2
        seen += turns
    assert seen > 100
