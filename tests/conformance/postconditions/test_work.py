"""However much is said, the predicates come to an end; and what may be on its way at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.deliveries import Delivery
from pi_trio.conformance.postconditions import ALWAYS
from pi_trio.conformance.postconditions.listening import awaiting
from pi_trio.conformance.postconditions.said import Conversation, conversations
from pi_trio.conformance.protocol import Object


def flood_of(kind: str, count: int) -> Iterator[Object]:
    """That many things that come to nothing."""
    for n in range(count):
        address = {"fn": "zzz", "nth": n}
        message = {"role": "user", "content": str(n)}
        update = {"type": "tool_execution_update", "toolCallId": f"t{n}", "toolName": "a", "args": {}}
        if kind == "asks":
            yield from ({"ask": address, "args": {}}, {"tell": "withdrawn", "ask": address})
        elif kind == "updates":
            yield {"tell": "event", "key": "L", "event": update, "state": {"pendingToolCalls": []}}
        else:
            yield from (
                {"tell": "event", "key": "L", "event": {"type": each, "message": message}}
                for each in ("message_start", "message_end")
            )


@pytest.mark.parametrize("kind", ["asks", "updates", "messages"])
def test_the_work_grows_with_what_is_said(kind: str) -> None:
    """And not with its square: a subject may say very much."""

    def work(count: int) -> int:
        calls = 0

        def counted(*_: object) -> None:
            nonlocal calls
            calls += 1

        lines = [{"send": {"cmd": "create", "listeners": ["L"]}}, *flood_of(kind, count), {"end": "settled"}]
        (conversation,) = conversations(lines)
        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            for predicate in ALWAYS:
                list(predicate(conversation))
        finally:
            sys.setprofile(before)
        return calls

    assert work(400) < 2.5 * work(200)


class Heard:
    """As much of a conversation as `awaiting` looks at."""

    def __init__(self, events: list[Delivery], lines: int) -> None:
        self.events = events
        self.lines: list[Object] = [{"tell": "event"} for _ in range(lines)]
        self.settlements: list[Any] = []


deliveries = st.lists(
    st.builds(
        lambda kind, call, first, more: Delivery({"type": kind, "toolCallId": call}, first, first + more),
        st.sampled_from(["turn_start", "tool_execution_update", "tool_execution_end"]),
        st.sampled_from(["t1", "t2"]),
        st.integers(0, 9),
        st.integers(0, 4),
    ),
    max_size=6,
)


@given(deliveries)
def test_only_what_calls_say_is_on_its_way_at_once(found: list[Delivery]) -> None:
    events = sorted(found, key=lambda each: each.first)

    def side_by_side(one: Object, other: Object) -> bool:
        if "turn_start" in (one["type"], other["type"]):
            return False
        both = one["type"] == other["type"] == "tool_execution_update"
        return both or bool(one["toolCallId"] != other["toolCallId"])

    late = [
        each.event["type"]
        for at, each in enumerate(events)
        if any(other.last > each.first and not side_by_side(other.event, each.event) for other in events[:at])
    ]
    said = [what.split()[0] for what in awaiting(cast(Conversation, Heard(events, 14)))]
    assert said == late
