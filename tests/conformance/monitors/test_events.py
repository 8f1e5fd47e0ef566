"""The monitor of events: what it allows, where it is, and what it makes of anything at all."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_trio.conformance.monitors import EventMonitor, judge_events
from pi_trio.conformance.protocol import Object

from .recordings import FORCE, good_logs

USER = {"role": "user", "content": "hello", "timestamp": 0}
ANSWER = {
    "role": "assistant",
    "content": [{"type": "text", "text": "hello"}],
    "stopReason": "stop",
    "thinkingLevel": "off",
    "timestamp": 0,
}
RUN: list[Object] = [
    {"type": "agent_start"},
    {"type": "turn_start"},
    {"type": "message_start", "message": USER},
    {"type": "message_end", "message": USER},
    {"type": "message_start", "message": {**ANSWER, "content": []}},
    {
        "type": "message_update",
        "message": ANSWER,
        "assistantMessageEvent": {"type": "text_delta", "partial": ANSWER},
    },
    {"type": "message_end", "message": ANSWER},
    {"type": "turn_end", "message": ANSWER, "toolResults": []},
    {"type": "agent_end", "messages": [USER, ANSWER]},
]


def calling(*ids: str) -> Object:
    blocks = [{"type": "toolCall", "id": each, "name": "a", "arguments": {}} for each in ids]
    return {**ANSWER, "content": blocks, "stopReason": "toolUse"}


def start(call: str) -> Object:
    return {"type": "tool_execution_start", "toolCallId": call, "toolName": "a", "args": {}}


def end(call: str) -> Object:
    return {
        "type": "tool_execution_end", "toolCallId": call, "toolName": "a", "result": {"content": []}, "isError": False,
        "durationMs": 1,
    }  # fmt: skip


def following(*events: Object) -> EventMonitor:
    monitor = EventMonitor(FORCE, ["1.6.0"])
    for event in events:
        assert monitor.tell(event) == ()
    return monitor


def test_what_comes_next_was_allowed() -> None:
    words = {
        "message_start": ("message_start", "message_start of the answer", "message_start of a result",
                          "message_start of a failure"),
        "message_end": ("message_end",),
    }  # fmt: skip
    for name, events in good_logs("1.6.0"):
        monitor = EventMonitor(FORCE, ["1.6.0"])
        for event in events:
            allowed = monitor.allowed().events
            kind = event["type"]
            assert any(each.startswith(words.get(kind, (kind,))) for each in allowed), (
                name,
                monitor.place,
                event,
            )
            monitor.tell(event)


def test_what_is_allowed_in_a_batch_names_the_calls() -> None:
    answer = calling("t1", "t2", "t3")
    opening = [*RUN[:5], {"type": "message_end", "message": answer}]
    assert following(*opening).allowed().events == {"tool_execution_start t1": "TOOL-01"}
    assert not following(*opening).allowed().silence
    assert following(*opening, start("t1")).allowed().events == {
        "tool_execution_start t2": "TOOL-07",
        "tool_execution_update t1": "TOOL-04",
        "tool_execution_end t1": "TOOL-03",
    }
    running = following(*opening, start("t1"), start("t2"), start("t3"), end("t2"))
    assert set(running.allowed().events) == {
        "tool_execution_update t1", "tool_execution_end t1", "tool_execution_update t3", "tool_execution_end t3",
    }  # fmt: skip
    assert running.allowed().silence
    assert running.place == "3 calls: 2 open, 0 answered (launched)"
    running.tell(end("t3"))
    running.tell(end("t1"))
    assert running.allowed().events == {"message_start of a result t1": "TOOL-05"}


@pytest.mark.parametrize("odd", [None, 5, "x", [], [[]], {"role": []}, {"content": 5}], ids=str)
def test_messages_that_are_none_are_told_and_break_nothing_else(odd: Any) -> None:
    """In the place of each message of a run, a failed one's too."""
    failure = {
        **ANSWER,
        "stopReason": "error",
        "errorMessage": "e",
        "content": [{"type": "text", "text": ""}],
    }
    closing = {"type": "turn_end", "message": failure, "toolResults": []}
    failed = [
        *RUN[:5],
        {"type": "message_start", "message": failure},
        {"type": "message_end", "message": failure},
    ]
    for run in (RUN, [*failed, closing, {"type": "agent_end", "messages": [failure]}]):
        for at, event in enumerate(run):
            for changed in (
                {**event, "message": odd},
                {**event, "messages": odd},
                {**event, "messages": [odd]},
            ):
                assert judge_events([*run[:at], changed, *run[at + 1 :], *RUN], FORCE) is not None


def test_a_log_may_end_anywhere_unless_it_is_closed() -> None:
    for length in range(len(RUN)):
        assert following(*RUN[:length]).end() == ()
        closed = following(*RUN[:length]).end(closed=True)
        assert [each.clause for each in closed] == (["RUN-02"] if length else [])


def test_a_log_may_begin_midway() -> None:
    for _, events in good_logs("1.6.0"):
        for first in range(len(events)):
            monitor = EventMonitor(FORCE, ["1.6.0"], midway=True)
            found = [each for event in events[first:] for each in monitor.tell(event)]
            assert found == [], (first, events[first])


def test_an_event_in_two_minds_tells_releases_apart() -> None:
    assert judge_events(RUN, FORCE).candidates == {"0.80.2", "0.85.0", "1.0.3", "1.6.0"}
    plain = {key: value for key, value in ANSWER.items() if key != "thinkingLevel"}
    older = [*RUN[:6], {"type": "message_end", "message": plain}]
    older.append({"type": "turn_end", "message": plain, "toolResults": []})
    assert judge_events(older, FORCE).candidates == {"0.80.2", "0.85.0"}
    (finding,) = judge_events(older, FORCE, ["1.6.0"]).findings
    assert finding.clause == "MSG-05"


def result_of(call: str, **more: Any) -> Object:
    fields = {"role": "toolResult", "toolCallId": call, "toolName": "a", "content": [], "isError": False}
    return {**fields, "durationMs": 1, "timestamp": 0, **more}


def with_result(result: Object, ended: Object) -> list[Object]:
    """A run with one call, as far as the end of its turn."""
    answer = calling("t1")
    said = [{"type": kind, "message": result} for kind in ("message_start", "message_end")]
    closing = {"type": "turn_end", "message": answer, "toolResults": [result]}
    return [*RUN[:5], {"type": "message_end", "message": answer}, start("t1"), ended, *said, closing]


@pytest.mark.parametrize(
    ("result", "ended", "clause"),
    [
        (result_of("t1", isError=0), {}, "MSG-10"),
        (result_of("t1", isError=1), {"isError": True}, "MSG-10"),
        (result_of("t1", role="tool"), {}, "MSG-10"),
        ({key: value for key, value in result_of("t1").items() if key != "durationMs"}, {}, "TOOL-30"),
        (result_of("t1", durationMs=2), {}, "TOOL-30"),
        (result_of("t1", usage={"input": 2}), {"result": {"content": [], "usage": {"input": 1}}}, "TOOL-36"),
    ],
)
def test_a_result_that_is_not_as_its_end(result: Object, ended: Object, clause: str) -> None:
    assert judge_events(with_result(result_of("t1"), end("t1")), FORCE, ["1.6.0"]).findings == ()
    found = judge_events(with_result(result, {**end("t1"), **ended}), FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == [clause]


@pytest.mark.parametrize(
    ("ended", "clause"),
    [
        ({"isError": None}, "TOOL-03"),
        ({"durationMs": -5}, "TOOL-30"),
        ({"durationMs": True}, "TOOL-30"),
        ({"durationMs": "5"}, "TOOL-30"),
    ],
)
def test_an_end_that_is_not_as_ends_are(ended: Object, clause: str) -> None:
    result = result_of("t1", **ended)
    found = judge_events(with_result(result, {**end("t1"), **ended}), FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == [clause]


FAILURE: Object = {
    "role": "assistant",
    "content": [{"type": "text", "text": ""}],
    "stopReason": "error",
    "errorMessage": "no",
    "timestamp": 0,
}


@pytest.mark.parametrize(
    ("told", "kind"), [({}, "as Pi"), ({"errorMessage": "another"}, "broken"), ({"timestamp": 1}, "broken")]
)
def test_a_failed_run_that_tells_one_message_tells_its_failure(told: Object, kind: str) -> None:
    said = [{"type": each, "message": FAILURE} for each in ("message_start", "message_end")]
    closing = {"type": "turn_end", "message": FAILURE, "toolResults": []}
    ended = {"type": "agent_end", "messages": [{**FAILURE, **told}]}
    found = judge_events([*RUN[:4], *said, closing, ended], FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.kind) for each in found] == [("RUN-06", kind)]


def test_each_answer_starts_once_more_at_most_and_as_an_answer() -> None:
    """What is more than one is not told again, and what is no answer is none that a provider has started."""
    again = RUN[4]
    found = judge_events([*RUN[:5], again, again, again, *RUN[5:]], FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.kind) for each in found] == [("STREAM-08", "as Pi")]
    twice = judge_events([*RUN[:5], again, *RUN[5:]] * 2, FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.kind) for each in twice] == [("STREAM-08", "as Pi")] * 2
    other = {"type": "message_start", "message": {"role": "assistant", "content": "other"}}
    found = judge_events([*RUN[:5], other, *RUN[5:]], FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.kind) for each in found] == [("MSG-01", "broken")]


def test_a_result_with_a_duration_that_no_end_has_is_told_by_every_release() -> None:
    ended = {key: value for key, value in end("t1").items() if key != "durationMs"}
    answer = {key: value for key, value in calling("t1").items() if key != "thinkingLevel"}
    log = [event if "message" not in event or event["message"] != calling("t1") else {**event, "message": answer}
           for event in with_result(result_of("t1"), ended)]  # fmt: skip
    found = judge_events(log, FORCE, ["0.85.0"]).findings
    assert [each.clause for each in found] == ["TOOL-31"]


def test_a_clause_that_is_not_in_force_is_not_judged() -> None:
    lenient = {**FORCE, "TURN-01": frozenset[str]()}
    assert judge_events([RUN[0], *RUN[2:]], lenient, ["1.6.0"]).findings == ()


def test_an_unknown_event_is_passed_over() -> None:
    assert judge_events([RUN[0], {"type": "something new"}, *RUN[1:]], FORCE).findings == ()


TYPES = tuple({event["type"] for event in (*RUN, start("t1"), end("t1"))} | {"tool_execution_update"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = (
    st.sampled_from([USER, ANSWER, calling("t1", "t2"), {"role": "toolResult", "toolCallId": "t1"}]) | JSON
)
EVENTS = st.one_of(
    st.sampled_from([*RUN, start("t1"), start("t2"), end("t1"), end("t2")]),
    st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES) | JSON},
        optional={
            "message": MESSAGES,
            "toolCallId": st.sampled_from(["t1", "t2", "t9"]) | JSON,
            "toolName": JSON, "args": JSON, "result": JSON, "isError": JSON, "messages": JSON, "toolResults": JSON,
            "assistantMessageEvent": JSON,
        },
    ),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, max_size=30), st.booleans())
def test_nothing_makes_it_fail(events: list[Object], midway: bool) -> None:
    monitor = EventMonitor(FORCE, midway=midway)
    for event in events:
        monitor.tell(event)
        assert monitor.allowed().events
        assert monitor.place
        assert monitor.candidates
    monitor.end(closed=True)


def test_of_what_a_run_has_said_a_number_is_remembered() -> None:
    monitor = following(RUN[0])
    tracemalloc.start()
    try:
        for turn in range(300):
            answer = {**ANSWER, "content": [{"type": "text", "text": f"{turn} " * 10_000}]}
            monitor.tell(RUN[1])
            monitor.tell({"type": "message_start", "message": answer})
            monitor.tell({"type": "message_end", "message": answer})
            monitor.tell({"type": "turn_end", "message": answer, "toolResults": []})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
