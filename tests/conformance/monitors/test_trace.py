"""The monitor of traces finds what needs more than events: each fault is planted into a recording, and named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from pi_trio.conformance.lines import commands_of, event_of
from pi_trio.conformance.monitors import HELD_ONLY, JUDGED, Finding, TraceMonitor, judge_trace
from pi_trio.conformance.monitors.docket import Docket
from pi_trio.conformance.protocol import Object

from .planting import (
    THROWS,
    Lines,
    Plant,
    again,
    answer,
    ask,
    asked_behind,
    at,
    calls_nothing,
    changed,
    ends_at_once,
    ends_behind,
    everywhere,
    exchanged,
    executes_though_it_has_failed,
    fails_with_the_words_of_a_tool,
    hears,
    is_result,
    judged,
    moved,
    recorded,
    result_at,
    says,
    sent,
    sets,
    settled,
    shows_the_state_late,
    twice,
    without,
)
from .recordings import CLAUSES, FORCE, traces


class Fault(NamedTuple):
    """A fault in a recording, and the clause that is named."""

    clause: str
    name: str
    plant: Plant
    release: str = "1.6.0"
    side: str = "pi"


FAULTS = [Fault(*row) for row in (
    # Requests and streams.
    ("STREAM-10", "context_hooks_order", moved(ask("convertToLlm"), ask("transformContext"))),
    ("STREAM-10", "context_hooks_order", without(ask("getApiKey"))),
    ("STREAM-12", "context_hooks_order", without(ask("prepareRequest"))),
    ("STREAM-12", "context_hooks_order", moved(ask("transformContext"), ask("prepareRequest"))),
    ("STREAM-02", "text_plain", changed(hears("message_start"), sets("event.message.model", "m9"), 1)),
    ("STREAM-03", "text_plain", without(hears("message_update"), 1)),
    ("STREAM-03", "text_plain", twice(hears("message_update"), 1)),
    ("STREAM-03", "text_plain", changed(hears("message_update"), sets("event.message.content", []), 1)),
    ("STREAM-03", "text_plain", changed(hears("message_update"), sets("event.assistantMessageEvent.delta", "x"), 1)),
    ("STREAM-05", "text_plain", changed(hears("message_end"), sets("event.message.content", []), 1)),
    ("STREAM-09", "text_plain",
     changed(hears("message_update"), sets("event.assistantMessageEvent.type", "image_start"), 1)),
    ("STREAM-18", "done_with_error_message",
     changed(hears("message_end"), sets("event.message.stopReason", "stop"), 1)),
    # Calls.
    ("HOOK-01", "tool_single", without(ask("beforeToolCall"))),
    ("HOOK-01", "tool_single", twice(ask("beforeToolCall"))),
    ("TOOL-41", "tool_single", twice(ask("execute"))),
    ("TOOL-22", "updates_simple", without(hears("tool_execution_update"))),
    ("HOOK-09", "tool_single", without(ask("afterToolCall"))),
    ("HOOK-09", "tool_single", twice(ask("afterToolCall"))),
    ("TOOL-09", "tools_parallel_reverse", moved(ask("execute", "t3"), ask("execute", "t1"))),
    ("TOOL-23", "length_truncated_calls", asked_behind(hears("tool_execution_start"), "execute", "t1", aborted=False)),
    ("HOOK-10", "tool_not_found", asked_behind(hears("tool_execution_start"), "afterToolCall", "t1", aborted=False)),
    ("TOOL-06", "tools_sequential_mode", moved(hears("tool_execution_start"), result_at("message_start"), 2, 1)),
    ("TOOL-37", "tool_single", everywhere(is_result, sets("event.message.more", 1))),
    ("TOOL-03", "tool_single", changed(hears("tool_execution_end"), sets("event.isError", 0))),
    ("MSG-02", "tool_single", changed(result_at("message_start"), sets("event.message.isError", 0))),
    ("MSG-02", "tool_single", changed(result_at("message_end"), sets("event.message.isError", 0))),
    ("TURN-05", "tool_single", changed(hears("turn_end"), sets("event.toolResults.0.isError", 0))),
    ("TOOL-01", "tools_parallel_reverse", again("tool_execution_start", "t1", 1)),
    ("TOOL-01", "tools_parallel_reverse", again("tool_execution_start", "t1", 2)),
    ("TOOL-01", "tools_parallel_reverse", again("tool_execution_start", "t1", 4)),
    ("TOOL-01", "tools_parallel_reverse", again("tool_execution_start", "t3", 8)),
    ("TOOL-01", "tools_sequential_mode", again("tool_execution_start", "t1", 2)),
    ("TOOL-01", "tools_sequential_mode", again("tool_execution_start", "t1", 5)),
    ("TOOL-04", "updates_simple", changed(hears("tool_execution_update"), sets("event.partialResult", "nonsense"))),
    ("TOOL-04", "updates_simple",
     changed(hears("tool_execution_update"), lambda line: line["event"].pop("partialResult"))),
    ("TOOL-04", "updates_simple", changed(hears("tool_execution_update"), sets("event.toolName", "other"))),
    ("TOOL-04", "updates_simple", changed(hears("tool_execution_update"), sets("event.args", {"other": 1}))),
    ("TOOL-04", "updates_simple", changed(hears("tool_execution_update"), sets("event.toolCallId", "t9"))),
    # Turns.
    ("TURN-11", "finish_turn_continue", without(ask("finishTurn"))),
    ("TURN-11", "finish_turn_continue", moved(hears("turn_end"), ask("finishTurn"))),
    ("TURN-13", "finish_turn_continue", ends_at_once),
    ("TURN-07", "tool_single", ends_at_once),
    ("TURN-20", "stop_with_tool_calls", calls_nothing),
    ("TURN-20", "deferred_with_tool_calls", calls_nothing),
    ("TURN-20", "deferred", ends_at_once),
    ("TURN-21", "many_turns", ends_behind(20)),
    ("TURN-22", "tool_terminate_all", ends_at_once),
    ("TURN-22", "tool_terminate_all_follow_up", ends_at_once),
    ("TURN-06", "provider_error_with_tool_calls", executes_though_it_has_failed),
    ("TURN-10", "should_stop_after_turn", moved(ask("shouldStopAfterTurn"), hears("turn_end")), "0.85.0"),
    ("TURN-24", "should_stop_after_turn_says_no", changed(answer("shouldStopAfterTurn"), sets("send.value", True)),
     "0.85.0"),
    ("TURN-12", "finish_turn_continue", changed(answer("finishTurn"), sets("send.value.action", "end"))),
    # Queues.
    ("QUEUE-02", "steering_during_text", ends_at_once),
    ("QUEUE-06", "follow_up", ends_at_once),
    ("QUEUE-07", "both_queues", exchanged(sent("steer"), sent("followUp"))),
    ("QUEUE-08", "both_queues", exchanged(sent("steer"), sent("steer"), 1)),
    ("QUEUE-09", "steering_all", exchanged(sent("steer"), sent("steer"), 1)),
    ("QUEUE-17", "steer_custom_role",
     everywhere(lambda line: (event_of(line) or {}).get("message", {}).get("role") == "note",
                sets("event.message.role", "user"))),
    # Listeners.
    ("STATE-13", "agent_end_listener_settlement",
     moved(hears("agent_end", "M"), answer("listener", key="L", event="agent_end"))),
    ("RUN-17", "agent_end_listener_settlement",
     moved(settled, answer("listener", key="M", event="agent_end"))),
    ("STATE-14", "listener_held_at_update",
     moved(hears("turn_start"), answer("listener", key="L", event="agent_start"))),
    ("STREAM-01", "listener_held_at_update",
     moved(hears("message_update"), answer("listener", key="L", event="message_update"), 1)),
    # Aborts.
    ("ABORT-03", "abort_in_stream", without(lambda line: line.get("tell") == "signal")),
    ("ABORT-04", "abort_tools_honored", changed(ask("afterToolCall"), sets("aborted", False))),
    ("ABORT-04", "tool_single", changed(ask("execute"), sets("aborted", True))),
    ("ABORT-05", "abort_preflight_second_of_three",
     asked_behind(lambda line: (event_of(line) or {}).get("toolCallId") == "t3", "beforeToolCall", "t3", aborted=True)),
    ("ABORT-07", "abort_preflight_second_of_three",
     asked_behind(answer("beforeToolCall", key="t2"), "execute", "t2", aborted=True)),
    ("ABORT-17", "abort_then_provider_ignores",
     changed(hears("message_end"), sets("event.message.stopReason", "aborted"), 3)),
    # Refusals.
    ("RUN-09", "prompt_while_running", changed(lambda line: line.get("ok") is False, sets("error", "busy"))),
    ("RUN-10", "prompt_while_running", changed(lambda line: line.get("ok") is False, sets("error", "busy"), 1)),
    ("RUN-09", "prompt_while_running", without(lambda line: line.get("ok") is False)),
    # Failures that nobody tells.
    ("FAIL-01", "agent_end_listener_settlement", changed(answer("listener"), THROWS)),
    ("FAIL-02", "context_hooks_order", changed(answer("transformContext"), THROWS)),
    ("FAIL-04", "finish_turn_continue", changed(answer("finishTurn"), THROWS)),
    ("FAIL-03", "prepare_next_turn_each_turn", changed(answer("prepareNextTurn"), THROWS)),
    ("FAIL-05", "text_plain", changed(answer("streamFn"), THROWS)),
    ("FAIL-36", "should_stop_after_turn", changed(answer("shouldStopAfterTurn"), THROWS), "0.85.0"),
    ("FAIL-37", "prepare_request", changed(answer("prepareRequest"), THROWS)),
    # Failures that are told as they must not be.
    ("FAIL-06", "transform_context_throws", everywhere(says("errorMessage"), sets("event.message.usage.input", 5)),
     "1.6.0", "ruled"),
    ("FAIL-38", "failed_run_answer_without_start", executes_though_it_has_failed, "1.6.0", "ruled"),
    ("FAIL-12", "tool_throws", fails_with_the_words_of_a_tool),
    # The state.
    ("STATE-01", "state_visibility", changed(hears("turn_start"), sets("state.isStreaming", False))),
    ("STATE-03", "state_visibility", changed(hears("message_update"), sets("state.streamingMessage", {}))),
    ("STATE-05", "state_visibility", changed(hears("turn_end"), sets("state.errorMessage", "x"))),
    ("STATE-06", "state_visibility", changed(hears("turn_start"), sets("state.errorMessage", "x"))),
    ("STATE-02", "state_visibility", changed(hears("message_end"), sets("state.streamingMessage", {}))),
    ("STATE-04", "state_visibility", changed(hears("tool_execution_start"), sets("state.pendingToolCalls", []))),
    ("STATE-07", "state_visibility", changed(hears("message_end"), sets("state.messages", []), 1)),
    ("STATE-08", "state_visibility", shows_the_state_late),
    ("STATE-09", "state_visibility", changed(hears("turn_start"), lambda line: line["state"].pop("signal"))),
)]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.clause} {fault.name}")
def test_a_planted_fault_is_named(fault: Fault) -> None:
    clause, name, plant, release, side = fault
    assert judged(recorded(name, release, side), release) == []
    found = judged(plant(recorded(name, release, side)), release)
    assert clause in {each.clause for each in found}
    assert {each.kind for each in found if each.clause == clause} == {"broken"}
    if side == "pi":
        assert all(each.kind == "broken" for each in found)


OF_OTHERS = [
    ("ABORT-08", "abort_preflight_last", "0.80.2", "0.85.0"),
    ("ABORT-10", "abort_preflight_sequential", "1.0.3", "1.6.0"),
    ("TOOL-24", "length_truncated_calls", "0.85.0", "0.80.2"),
    ("TOOL-27", "tool_returns_no_content", "0.80.2", "0.85.0"),
    ("TOOL-28", "tool_returns_no_content", "0.85.0", "0.80.2"),
    ("TOOL-29", "tool_result_fields", "0.85.0", "0.80.2"),
    ("TOOL-31", "tool_single", "1.6.0", "1.0.3"),
    ("TOOL-35", "tool_result_fields", "0.80.2", "0.85.0"),
    ("TOOL-36", "tool_result_fields", "0.80.2", "1.0.3"),
    ("TURN-15", "follow_up_pending_before_prepare_next_turn", "0.85.0", "0.80.2"),
    ("TURN-16", "follow_up_pending_before_prepare_next_turn", "0.80.2", "0.85.0"),
    ("MSG-05", "text_plain", "0.85.0", "1.0.3"),
    ("MSG-06", "text_plain", "1.0.3", "0.85.0"),
    ("FAIL-21", "listener_throws_at_answer", "1.0.3", "1.6.0"),
]
"""Clauses that differ between releases: what one of them does, judged as another; the last one by a ruling."""


@pytest.mark.parametrize(("clause", "name", "release", "other"), OF_OTHERS)
def test_what_another_release_does_is_named(clause: str, name: str, release: str, other: str) -> None:
    lines = recorded(name, release, "ruled" if CLAUSES[clause].ruling else "pi")
    assert judged(lines, release) == []
    assert clause in {each.clause for each in judged(lines, other) if each.kind == "broken"}


def test_every_clause_that_a_monitor_breaks_is_broken_by_some_fault(
    outcomes: dict[str, list[list[Finding]]],
) -> None:
    """By one that is planted into a trace or into a log of events; or a release does not keep a ruling's clause."""
    named = {fault.clause for fault in FAULTS} | {clause for clause, *_ in OF_OTHERS} | {"ABORT-19"}
    named |= {finding.clause for each in outcomes.values() for found in each for finding in found}
    for release in ("0.80.2", "1.6.0"):
        for trace in traces("pi", release):
            named |= {each.clause for each in judge_trace(trace.lines, FORCE, [release]).as_pi}
    assert JUDGED - named == HELD_ONLY


def test_an_answer_that_is_said_again_within_a_turn_is_none_that_was_injected() -> None:
    """What is injected is known; so it is not taken for that, as in a log of nothing but events."""
    lines = recorded("text_plain")
    first, last = at(lines, hears("message_start"), 1), at(lines, hears("turn_end"))
    said = [line for line in lines[first:last] if event_of(line) is not None]
    whole = [line for line in said if event_of(line)["type"] != "message_update"]  # type: ignore[index]
    found = judged([*lines[:last], *whole, *lines[last:]])
    assert found[0].clause == "TURN-02"
    judgement = judge_trace([*lines[:first], *whole, *whole, *lines[last:]], FORCE, ["1.6.0"])
    assert judgement.broken
    assert "RUN-08" not in judgement.reached


def stops_behind_its_first_call(lines: Lines) -> Lines:
    """The batch breaks off behind the first call's result, as if there had been an abort."""
    first = at(lines, result_at("message_end"))
    last = at(lines, hears("turn_end"))
    lines[last]["event"]["toolResults"] = lines[last]["event"]["toolResults"][:1]
    return [*lines[: first + 1], *lines[last:]]


@pytest.mark.parametrize("release", ["1.0.3", "1.6.0"])
def test_a_batch_that_stops_without_an_abort(release: str) -> None:
    """It is known here that there was none, nor a failure."""
    lines = recorded("tools_sequential_mode", release)
    judgement = judge_trace(stops_behind_its_first_call(lines), FORCE, [release])
    assert judgement.broken[0].clause == "TOOL-01"
    assert {each.clause for each in judgement.broken}.isdisjoint({"ABORT-10", "ABORT-11"})
    assert {"ABORT-10", "ABORT-11"}.isdisjoint(judgement.reached)


def test_what_a_failure_closes_is_no_abort() -> None:
    reached = {
        trace.name
        for trace in traces("ruled", "1.6.0")
        if "ABORT-10" in judge_trace(trace.lines, FORCE, ["1.6.0"]).reached and not aborts(trace.lines)
    }
    assert reached == set()


def aborts(lines: Sequence[Object]) -> bool:
    return any(command.get("cmd") == "abort" for line in lines for command in commands_of(line))


def test_each_listener_has_its_say() -> None:
    lines = recorded("agent_end_listener_settlement")
    del lines[at(lines, hears("turn_start", "M"))]
    assert {each.listener for each in judged(lines) if each.clause == "TURN-01"} == {"M"}


def test_an_event_that_a_failing_listener_takes_is_told_of_once() -> None:
    found = judged(recorded("listener_throws_message_end"))
    taken = [each for each in found if each.clause == "FAIL-28"]
    assert [(each.kind, each.ruling, each.listener) for each in taken] == [("as Pi", "D-04", "M")]


def test_a_failure_at_what_a_failed_run_has_left_behind_fails_no_other_run() -> None:
    lines = recorded("failed_run_tool_leaks_into_next_run")
    late = at(lines, answer("listener", event="tool_execution_update"))
    lines[late]["send"]["throw"] = "it failed"
    assert "FAIL-01" not in {each.clause for each in judged(lines)}


def test_a_command_that_was_not_done_has_no_effect() -> None:
    lines = recorded("text_plain")
    place = at(lines, lambda line: "reply" in line, 2)
    throw = {
        "cmd": "answer",
        "ask": {"fn": "listener", "key": "L", "event": "turn_start", "nth": 9},
        "throw": "x",
    }
    for refusal in ({"unresolved": throw["ask"]}, {"error": "driver: no such ask"}):
        assert judged([*lines[: place + 1], {"send": throw}, refusal, *lines[place + 1 :]]) == []


def test_where_aborts_cancel_nothing_is_asked_behind_one() -> None:
    lines = recorded("abort_tools_honored")
    assert judged(lines) == []
    assert "ABORT-19" in {each.clause for each in judged(lines, cancelling=True)}


def test_a_run_that_settles_without_its_end() -> None:
    lines = recorded("text_plain")
    del lines[at(lines, hears("agent_end"))]
    assert [each.clause for each in judged(lines)] == ["RUN-02"]


def test_a_new_agent_is_a_new_beginning() -> None:
    once = recorded("text_plain")[:-1]
    cut = once[: at(once, hears("message_update")) + 1]
    monitor = TraceMonitor(FORCE, ["1.6.0"])
    assert [each for line in (*cut, *once, *once) for each in monitor.tell(line)] == []


def test_what_was_found_is_kept_where_something_is_too_deep() -> None:
    docket = Docket(FORCE, ["1.6.0"])
    docket.breaks("RUN-02", "found")

    def hear_something_deep() -> None:
        with docket.silence():
            docket.breaks("RUN-02", "not said")
            raise RecursionError

    with pytest.raises(RecursionError):
        hear_something_deep()
    assert [each.said for each in docket.collect()] == ["found"]
