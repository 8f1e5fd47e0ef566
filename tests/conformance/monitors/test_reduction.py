"""The state that is seen with an event, against what the events entail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_trio.conformance.monitors.docket import Docket
from pi_trio.conformance.monitors.reduction import Reduction

from .recordings import FORCE

STATE: dict[str, Any] = {"isStreaming": True, "signal": None, "pendingToolCalls": [], "messages": []}


@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        ({"errorMessage": "of the run before"}, "STATE-06"),
        ({"streamingMessage": {"role": "user"}}, "STATE-02"),
    ],
)
def test_what_stays_wrong_is_one_finding(wrong: dict[str, Any], clause: str) -> None:
    docket = Docket(FORCE, ["1.6.0"])
    reduction = Reduction(docket)
    for kind in ("agent_start", "turn_start", "tool_execution_update", "tool_execution_update"):
        reduction.reduce({"type": kind})
        reduction.see({"type": kind}, {**STATE, **wrong}, first=True)
    assert [each.clause for each in docket.collect()] == [clause]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["t1", "t2", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BEGIN: dict[str, Any] = {"type": "agent_start"}
START = {"type": "tool_execution_start", "toolCallId": "t1"}
EVENTS = st.sampled_from([
    BEGIN, START,
    {"type": "tool_execution_start", "toolCallId": []}, {"type": "tool_execution_end", "toolCallId": "t1"},
    {"type": "message_start", "message": {}}, {"type": "message_end", "message": 5}, {"type": "turn_end"},
])  # fmt: skip


@example([(BEGIN, {"pendingToolCalls": []}), (START, {"pendingToolCalls": [[]]})])
@given(
    st.lists(
        st.tuples(
            EVENTS,
            st.fixed_dictionaries(
                {}, optional=dict.fromkeys([*STATE, "streamingMessage", "errorMessage"], ODD)
            ),
        )
    )
)
def test_nothing_in_a_state_makes_it_fail(seen: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    reduction = Reduction(Docket(FORCE, ["1.6.0"]))
    for event, state in seen:
        reduction.reduce(event)
        reduction.see(event, state, first=True)


def test_a_state_that_follows_its_event_is_late_and_not_only_wrong() -> None:
    message = {"role": "user", "content": "go"}
    docket = Docket(FORCE, ["1.6.0"])
    reduction = Reduction(docket)
    reduction.reduce(BEGIN)
    reduction.see(BEGIN, STATE, first=True)
    for kind, shown in (("message_start", None), ("message_end", message)):
        event = {"type": kind, "message": message}
        reduction.reduce(event)
        state = {**STATE, "streamingMessage": shown, "messages": [message] * (kind == "message_end")}
        reduction.see(event, state, first=True)
    assert [each.clause for each in docket.collect()] == ["STATE-02", "STATE-08", "STATE-02"]
