"""The monitor of events: what it allows, where it is, and what it makes of anything at all."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_trio.conformance.failed import is_failed
from pi_trio.conformance.monitors import EventMonitor, judge_events
from pi_trio.conformance.monitors.content import calls_of, is_failure
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


def due(event: Object) -> str:
    """As what an event is allowed."""
    kind, message = event["type"], event.get("message", {})
    role = message.get("role") if kind in ("message_start", "message_end") else None
    if role == "toolResult":
        return f"{kind} of a result" + (f" {message['toolCallId']}" if kind == "message_start" else "")
    if role == "assistant":
        if is_failure(message):
            return f"{kind} of a failure"
        if kind == "message_end" and is_failed(message):
            return "message_end of a failed answer"
        if kind == "message_end" and calls_of(message):
            return "message_end of an answer with calls"
        return f"{kind} of the answer"
    return f"{kind} {event['toolCallId']}" if "toolCallId" in event else str(kind)


def test_what_comes_next_was_allowed() -> None:
    """And as what it is: a start by the role of its message, an event of a call by the call."""
    seen = set()
    for name, events in good_logs("1.6.0"):
        monitor = EventMonitor(FORCE, ["1.6.0"])
        for event in events:
            allowed = monitor.allowed()
            assert due(event) in {**allowed.events, **allowed.if_given}, (name, monitor.place, event)
            seen.add(event["type"])
            monitor.tell(event)
    assert len(seen) == 10


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


def test_behind_what_may_have_been_given_the_answer_may_come() -> None:
    """An answer that was said whole looks as an assistant message does that was prepared, or steered."""
    whole = [{"type": kind, "message": ANSWER} for kind in ("message_start", "message_end")]
    allowed = following(*RUN[:4], *whole).allowed()
    assert set(allowed.events) == {"turn_end"}
    assert set(allowed.if_given) == {"message_start", "message_start of the answer"}
    assert following(*RUN[:7]).allowed().if_given == {}


@pytest.mark.parametrize("odd", [None, 5, "x", [], [[]], {"role": []}, {"content": 5}], ids=str)
def test_messages_that_are_none_are_told_and_break_nothing_else(odd: Any) -> None:
    """In the place of each message of a run, a failed one's too; and the next run is judged as if there was nothing."""
    failure = {
        **ANSWER,
        "stopReason": "error",
        "errorMessage": "e",
        "content": [{"type": "text", "text": ""}],
    }
    failed = [
        *RUN[:4],
        *({"type": kind, "message": failure} for kind in ("message_start", "message_end")),
        {"type": "turn_end", "message": failure, "toolResults": []},
        {"type": "agent_end", "messages": [USER, failure]},
    ]
    for run in (RUN, failed):
        assert judge_events(run, FORCE).findings == ()
        for at, event in enumerate(run):
            changes = [{"message": odd}] if "message" in event else []
            changes += [{"messages": odd}, {"messages": [odd]}] if "messages" in event else []
            for change in changes:
                findings = judge_events(
                    [*run[:at], {**event, **change}, *run[at + 1 :], *RUN], FORCE
                ).findings
                assert any(each.kind == "broken" for each in findings), (at, change)
                assert all(each.at < len(run) for each in findings), (at, change)


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


def test_a_log_that_may_begin_midway_and_begins_with_a_run_is_judged_from_there() -> None:
    """Whatever is left out of a run that is seen from its start, the same is found."""
    for _, events in good_logs("1.6.0"):
        for left_out in range(1, len(events)):
            told = [*events[:left_out], *events[left_out + 1 :]]
            strict, lenient = (EventMonitor(FORCE, ["1.6.0"], midway=midway) for midway in (False, True))
            for event in told:
                assert [*strict.tell(event)] == [*lenient.tell(event)]


def test_a_call_of_before_the_log_may_go_on_until_it_ends() -> None:
    """And is noted like any that its failed run has left open; but whatever the log has seen of a call is judged."""
    for events in ([*RUN, end("t1"), end("t1")], [*RUN, *RUN[:2], end("t1"), *RUN[2:7], end("t1")]):
        strict, lenient = (EventMonitor(FORCE, ["1.6.0"], midway=midway) for midway in (False, True))
        assert [each.kind for event in events for each in strict.tell(event)][:1] == ["broken"]
        found = [each for event in events for each in lenient.tell(event)]
        assert [(each.clause, each.kind) for each in found[:1]] == [("RUN-04", "as Pi")]
        assert [each.kind for each in found[1:]] == ["broken"]
    seen = EventMonitor(FORCE, ["1.6.0"], midway=True)
    for event in (start("t1"), end("t1"), {"type": "turn_end", "message": calling("t1"), "toolResults": []}):
        assert seen.tell(event) == ()
    assert [each.kind for each in seen.tell(end("t1"))] == ["broken"]


def test_an_event_in_two_minds_tells_releases_apart() -> None:
    assert judge_events(RUN, FORCE).candidates == {"0.80.2", "0.85.0", "1.0.3", "1.6.0"}
    plain = {key: value for key, value in ANSWER.items() if key != "thinkingLevel"}
    older = [*RUN[:6], {"type": "message_end", "message": plain}]
    older.append({"type": "turn_end", "message": plain, "toolResults": []})
    assert judge_events(older, FORCE).candidates == {"0.80.2", "0.85.0"}
    (finding,) = judge_events(older, FORCE, ["1.6.0"]).findings
    assert finding.clause == "MSG-05"


OLD = {key: value for key, value in ANSWER.items() if key != "thinkingLevel"}


def ran(
    answer: Object, *of_calls: Object, results: Sequence[Object] = (), last: Object = ANSWER
) -> list[Object]:
    """A run of two turns, of which the first has calls."""
    said = [{"type": kind, "message": each} for each in results for kind in ("message_start", "message_end")]
    messages = [USER, answer, *results, last]
    return [
        *RUN[:4],
        *({"type": kind, "message": answer} for kind in ("message_start", "message_end")),
        *of_calls,
        *said,
        {"type": "turn_end", "message": answer, "toolResults": list(results)},
        {"type": "turn_start"},
        *({"type": kind, "message": last} for kind in ("message_start", "message_end")),
        {"type": "turn_end", "message": last, "toolResults": []},
        {"type": "agent_end", "messages": messages},
    ]


@pytest.mark.parametrize("candidates", [None, ["1.6.0"], ["1.0.3"], ["0.80.2", "1.6.0"]], ids=str)
def test_a_run_that_executes_no_call_and_does_not_fail(candidates: list[str] | None) -> None:
    """Only the closing of a failed run leaves all calls out; nor is anything learned from it about the release."""
    judgement = judge_events(ran(calling("t1")), FORCE, candidates)
    assert [(each.clause, each.kind) for each in judgement.findings] == [("TOOL-01", "broken")]
    assert {"FAIL-21", "FAIL-22"}.isdisjoint(judgement.reached)
    assert judgement.candidates == frozenset(candidates or ("0.80.2", "0.85.0", "1.0.3", "1.6.0"))


@pytest.mark.parametrize("candidates", [None, ["1.6.0"], ["1.0.3"]], ids=str)
def test_a_call_that_is_started_behind_the_end_of_another_runs_and_the_run_does_not_fail(
    candidates: list[str] | None,
) -> None:
    ids = ("t1", "t2", "t3")
    plain = candidates == ["1.0.3"]
    ends = [end(each) for each in ids]
    results = [result_of(each) for each in ids]
    for each in (*ends, *results):
        if plain:
            del each["durationMs"]
    events = [start("t1"), start("t2"), ends[0], start("t3"), ends[1], ends[2]]
    judgement = judge_events(ran(calling(*ids), *events, results=results), FORCE, candidates)
    assert [(each.clause, each.kind) for each in judgement.findings] == [("TOOL-07", "broken")]
    assert {"FAIL-21", "FAIL-22"}.isdisjoint(judgement.reached)


def test_a_run_that_executes_no_call_because_it_fails() -> None:
    opening = [*ran({**OLD, "content": calling("t1")["content"], "stopReason": "toolUse"})[:8]]
    failing = [{"type": kind, "message": FAILURE} for kind in ("message_start", "message_end")]
    judgement = judge_events([*opening, *failing], FORCE)
    assert judgement.findings == ()
    assert "FAIL-22" in judgement.reached
    assert judgement.candidates == {"0.80.2", "0.85.0"}


def test_a_request_that_is_made_again_in_its_turn_is_one_fault() -> None:
    errored = {**ANSWER, "stopReason": "error", "errorMessage": "busy"}
    again = [*RUN[4:6], {"type": "message_end", "message": errored}, *RUN[4:8]]
    ended = {"type": "agent_end", "messages": [USER, errored, ANSWER]}
    found = judge_events([*RUN[:4], *again, ended], FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == ["TURN-06"]


def test_a_run_that_breaks_off_is_one_fault() -> None:
    found = judge_events([*RUN[:2], {"type": "agent_end", "messages": [FAILURE]}], FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == ["RUN-02"]


@pytest.mark.parametrize("told", [("t1", "t2"), ("t2", "t1")], ids=str)
def test_results_in_another_order_are_one_fault(told: tuple[str, str]) -> None:
    """However turn_end and agent_end have them."""
    results = [result_of("t2"), result_of("t1")]
    calls = [start("t1"), start("t2"), end("t2"), end("t1")]
    run = ran(calling("t1", "t2"), *calls, results=results)
    run[14] = {**run[14], "toolResults": [result_of(each) for each in told]}
    assert run[14]["type"] == "turn_end"
    found = judge_events(run, FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == ["TOOL-05"]


def test_a_finding_tells_no_more_of_a_call_than_its_id() -> None:
    (found, *_) = judge_events(ran(calling("t1", "t2"), start("t1"), end("t1")), FORCE, ["1.6.0"]).findings
    assert "arguments" not in found.said
    more = ran(calling("t1", "t2"), start("t1"), end("t1"), results=[result_of("t1")])
    (found,) = judge_events(more, FORCE, ["1.6.0"]).findings
    assert found.said.endswith(": t2")


def test_nothing_shows_in_a_plain_log_that_messages_are_said_as_they_are_prompted() -> None:
    """What looks like an answer and is followed by another may be injected, or the answer of a request made again."""
    twice = [*RUN[:4], *({"type": kind, "message": each} for each in (ANSWER, ANSWER)
             for kind in ("message_start", "message_end")), RUN[7], {"type": "agent_end",
             "messages": [USER, ANSWER, ANSWER]}]  # fmt: skip
    judgement = judge_events(twice, FORCE, ["1.6.0"])
    assert judgement.findings == ()
    assert "RUN-08" not in judgement.reached


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
        (result_of("t1"), {"result": {"content": [], "usage": {"input": 1}}}, "TOOL-36"),
        (result_of("t1", usage={"input": 1}), {}, "MSG-10"),
        (result_of("t1", addedToolNames=["b"]), {}, "TOOL-36"),
        (
            result_of("t1", addedToolNames=["b"]),
            {"result": {"content": [], "addedToolNames": ["b"]}},
            "TOOL-36",
        ),
        (result_of("t1", details=1), {"result": {"content": [], "details": True}}, "MSG-10"),
        (
            result_of("t1", details={"n": [True]}),
            {"result": {"content": [], "details": {"n": [1]}}},
            "MSG-10",
        ),
    ],
)
def test_a_result_that_is_not_as_its_end(result: Object, ended: Object, clause: str) -> None:
    assert judge_events(with_result(result_of("t1"), end("t1")), FORCE, ["1.6.0"]).findings == ()
    found = judge_events(with_result(result, {**end("t1"), **ended}), FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == [clause]


def of_release(events: Sequence[Object], *without: str) -> list[Object]:
    """Events without fields of answers, ends and results that came later."""
    text = json.dumps(list(events))
    found: Any = json.loads(
        text, object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k not in without}
    )
    return list(found)


ADDED = {"content": [], "addedToolNames": ["b"], "usage": {"input": 1}}


@pytest.mark.parametrize(
    ("release", "carried", "clauses"),
    [
        ("0.80.2", {}, []),
        ("0.80.2", {"usage": {"input": 1}}, ["TOOL-29"]),
        ("0.80.2", {"addedToolNames": ["b"]}, ["TOOL-29"]),
        ("0.85.0", {"usage": {"input": 1}, "addedToolNames": ["b"]}, []),
        ("0.85.0", {"usage": {"input": 1}, "addedToolNames": ["c"]}, ["MSG-10"]),
        ("0.85.0", {"usage": {"input": 1}}, ["TOOL-35"]),
        ("0.85.0", {"addedToolNames": ["b"]}, ["TOOL-35"]),
        ("1.0.3", {"usage": {"input": 1}}, []),
        ("1.0.3", {"usage": {"input": 1}, "addedToolNames": ["b"]}, ["TOOL-36"]),
    ],
)
def test_what_a_result_carries(release: str, carried: Object, clauses: list[str]) -> None:
    log = with_result(result_of("t1", **carried), {**end("t1"), "result": ADDED})
    later = ["durationMs"] if release == "1.0.3" else ["durationMs", "thinkingLevel"]
    judgement = judge_events(of_release(log, *later), FORCE, [release])
    assert [each.clause for each in judgement.findings] == clauses


@pytest.mark.parametrize(("kind", "clause"), [("message_start", "MSG-02"), ("turn_end", "TURN-04")])
def test_true_is_no_one_in_messages(kind: str, clause: str) -> None:
    """Nor is false a zero: who reads JSON into other types may take the one for the other."""
    run = json.loads(json.dumps(RUN).replace('"role"', '"x": true, "role"'))
    assert judge_events(run, FORCE, ["1.6.0"]).findings == ()
    event = next(event for event in run if event["type"] == kind)
    event["message"]["x"] = 1
    found = judge_events(run, FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == [clause]


def test_true_is_no_one_in_calls_and_results() -> None:
    answer = calling("t1")
    answer["content"][0]["arguments"] = {"n": True}
    run = [*RUN[:4], *({"type": kind, "message": answer} for kind in ("message_start", "message_end"))]
    assert following(*run).tell({**start("t1"), "args": {"n": True}}) == ()
    (found,) = following(*run).tell({**start("t1"), "args": {"n": 1}})
    assert found.clause == "TOOL-02"
    said = with_result(
        result_of("t1", details=True), {**end("t1"), "result": {"content": [], "details": True}}
    )
    assert judge_events(said, FORCE, ["1.6.0"]).findings == ()
    said[-1] = {**said[-1], "toolResults": [result_of("t1", details=1)]}
    assert [each.clause for each in judge_events(said, FORCE, ["1.6.0"]).findings] == ["TURN-05"]


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


def failing_behind(*said: Object, failure: Object = FAILURE) -> list[Object]:
    """A run that fails behind what it has said, as the releases tell it."""
    told = [{"type": each, "message": failure} for each in ("message_start", "message_end")]
    closing = {"type": "turn_end", "message": failure, "toolResults": []}
    return [*RUN[:4], *said, *told, closing, {"type": "agent_end", "messages": [failure]}]


def test_a_failure_behind_an_answer_that_was_said_whole_is_told_at_the_end_of_the_run() -> None:
    """Until then both may have been given to the run."""
    whole = [{"type": kind, "message": ANSWER} for kind in ("message_start", "message_end")]
    found = judge_events(failing_behind(*whole), FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.kind, each.at) for each in found] == [
        ("FAIL-24", "as Pi", 6), ("RUN-06", "as Pi", 9),
    ]  # fmt: skip
    updated = judge_events(failing_behind(*RUN[4:7]), FORCE, ["1.6.0"]).findings
    assert [(each.clause, each.at) for each in updated] == [("FAIL-24", 7), ("RUN-06", 10)]


@pytest.mark.parametrize("release", ["0.80.2", "1.6.0"])
def test_a_failure_that_has_spent_something_is_told_of(release: str) -> None:
    spent = {**FAILURE, "usage": {"input": 3}}
    found = judge_events(failing_behind(failure=spent), FORCE, [release]).findings
    assert [each.clause for each in found] == ["FAIL-06", "RUN-06"]


def test_results_without_starts_are_told_of_though_the_answer_was_said_whole() -> None:
    answer, result = calling("t1"), result_of("t1")
    whole = [{"type": kind, "message": answer} for kind in ("message_start", "message_end")]
    said = [{"type": kind, "message": result} for kind in ("message_start", "message_end")]
    closing = {"type": "turn_end", "message": answer, "toolResults": [result]}
    found = judge_events([*RUN[:4], *whole, *said, closing], FORCE, ["1.6.0"]).findings
    assert [each.clause for each in found] == ["TOOL-05"]


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
