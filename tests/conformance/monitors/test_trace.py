"""The monitor of traces finds what needs more than events: each fault is planted into a recording, and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest

from pi_trio.conformance.lines import asks, event_of, is_ask
from pi_trio.conformance.monitors import Finding, TraceMonitor, judge_trace
from pi_trio.conformance.protocol import Object

from .recordings import FORCE, VECTORS

Lines = list[Object]
Plant = Callable[[Lines], Lines]


def recorded(name: str, release: str = "1.6.0") -> Lines:
    recording = VECTORS.read(release, name)
    assert recording is not None
    return [deepcopy(dict(line)) for line in recording.lines]


def judged(lines: Sequence[Object], release: str = "1.6.0", *, cancelling: bool = False) -> list[Finding]:
    return list(judge_trace(lines, FORCE, [release], cancelling=cancelling).findings)


def at(lines: Lines, match: Callable[[Object], bool], nth: int = 0) -> int:
    return [place for place, line in enumerate(lines) if match(line)][nth]


def ask(fn: str, key: str | None = None) -> Callable[[Object], bool]:
    return lambda line: asks(line) == fn and (key is None or line["ask"].get("key") == key)


def hears(kind: str, key: str = "L") -> Callable[[Object], bool]:
    def match(line: Object) -> bool:
        event = event_of(line)
        return (
            event is not None
            and event["type"] == kind
            and (line["ask"] if is_ask(line) else line)["key"] == key
        )

    return match


def answer(fn: str, **more: str) -> Callable[[Object], bool]:
    def match(line: Object) -> bool:
        command = line.get("send", {})
        return command.get("cmd") == "answer" and {"fn": fn, **more}.items() <= command["ask"].items()

    return match


def settled(line: Object) -> bool:
    return line.get("tell") == "settled" and line["ok"] and line["op"] == "p1"


def asked_behind(match: Callable[[Object], bool], fn: str, key: str, *, aborted: bool) -> Plant:
    """Something is asked that should not be."""

    def plant(lines: Lines) -> Lines:
        line = {"ask": {"fn": fn, "key": key, "nth": 0}, "args": {}, "aborted": aborted}
        lines.insert(at(lines, match) + 1, line)
        return lines

    return plant


def without(match: Callable[[Object], bool], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        del lines[at(lines, match, nth)]
        return lines

    return plant


def twice(match: Callable[[Object], bool], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        place = at(lines, match, nth)
        return [*lines[: place + 1], *lines[place:]]

    return plant


def moved(
    match: Callable[[Object], bool], before: Callable[[Object], bool], nth: int = 0, other: int = 0
) -> Plant:
    def plant(lines: Lines) -> Lines:
        line = lines.pop(at(lines, match, nth))
        lines.insert(at(lines, before, other), line)
        return lines

    return plant


def changed(match: Callable[[Object], bool], change: Callable[[Object], Any], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        change(lines[at(lines, match, nth)])
        return lines

    return plant


def sets(path: str, value: Any) -> Callable[[Object], None]:
    def change(line: Object) -> None:
        *way, last = path.split(".")
        for step in way:
            line = line[step]
        line[last] = value

    return change


def ends_at_once(lines: Lines) -> Lines:
    """The run ends behind its first turn, whatever is queued."""
    first, second = at(lines, hears("turn_start"), 1), at(lines, hears("agent_end"))
    said = [event["message"] for line in lines[:first] if (event := event_of(line)) is not None
            and event["type"] == "message_end"]  # fmt: skip
    lines[second]["event"]["messages"] = said
    return [*lines[:first], *lines[second:]]


FAULTS: list[tuple[str, str, Plant]] = [
    # Requests and streams.
    ("STREAM-10", "context_hooks_order", moved(ask("convertToLlm"), ask("transformContext"))),
    ("STREAM-10", "context_hooks_order", without(ask("getApiKey"))),
    ("STREAM-02", "text_plain", changed(hears("message_start"), sets("event.message.model", "m9"), 1)),
    ("STREAM-03", "text_plain", without(hears("message_update"), 1)),
    ("STREAM-03", "text_plain", twice(hears("message_update"), 1)),
    ("STREAM-03", "text_plain", changed(hears("message_update"), sets("event.message.content", []), 1)),
    ("STREAM-03", "text_plain", changed(hears("message_update"), sets("event.assistantMessageEvent.delta", "x"), 1)),
    # Calls.
    ("HOOK-01", "tool_single", without(ask("beforeToolCall"))),
    ("HOOK-01", "tool_single", twice(ask("beforeToolCall"))),
    ("TOOL-41", "tool_single", twice(ask("execute"))),
    ("HOOK-09", "tool_single", without(ask("afterToolCall"))),
    ("HOOK-09", "tool_single", twice(ask("afterToolCall"))),
    ("TOOL-09", "tools_parallel_reverse", moved(ask("execute", "t3"), ask("execute", "t1"))),
    ("TOOL-23", "length_truncated_calls", asked_behind(hears("tool_execution_start"), "execute", "t1", aborted=False)),
    # Turns.
    ("TURN-11", "finish_turn_continue", without(ask("finishTurn"))),
    ("TURN-11", "finish_turn_continue", moved(hears("turn_end"), ask("finishTurn"))),
    ("TURN-13", "finish_turn_continue", ends_at_once),
    ("TURN-07", "tool_single", ends_at_once),
    # Queues.
    ("QUEUE-02", "steering_all", ends_at_once),
    ("QUEUE-06", "follow_up", ends_at_once),
    # Listeners.
    ("STATE-13", "agent_end_listener_settlement",
     moved(hears("agent_end", "M"), answer("listener", key="L", event="agent_end"))),
    ("RUN-17", "agent_end_listener_settlement",
     moved(settled, answer("listener", key="M", event="agent_end"))),
    # Aborts.
    ("ABORT-03", "abort_in_stream", without(lambda line: line.get("tell") == "signal")),
    ("ABORT-04", "abort_tools_honored", changed(ask("afterToolCall"), sets("aborted", False))),
    ("ABORT-04", "tool_single", changed(ask("execute"), sets("aborted", True))),
    ("ABORT-05", "abort_preflight_second_of_three",
     asked_behind(lambda line: (event_of(line) or {}).get("toolCallId") == "t3", "beforeToolCall", "t3", aborted=True)),
    # Refusals.
    ("RUN-09", "prompt_while_running", changed(lambda line: line.get("ok") is False, sets("error", "busy"))),
    ("RUN-10", "prompt_while_running", changed(lambda line: line.get("ok") is False, sets("error", "busy"), 1)),
    ("RUN-09", "prompt_while_running", without(lambda line: line.get("ok") is False)),
    # Failures that nobody tells.
    ("FAIL-01", "agent_end_listener_settlement", changed(answer("listener"), sets("send.throw", "failed"))),
    ("FAIL-02", "context_hooks_order", changed(answer("transformContext"), sets("send.throw", "failed"))),
    ("FAIL-04", "finish_turn_continue", changed(answer("finishTurn"), sets("send.throw", "failed"))),
    # The state.
    ("STATE-01", "state_visibility", changed(hears("turn_start"), sets("state.isStreaming", False))),
    ("STATE-02", "state_visibility", changed(hears("message_end"), sets("state.streamingMessage", {}))),
    ("STATE-04", "state_visibility", changed(hears("tool_execution_start"), sets("state.pendingToolCalls", []))),
    ("STATE-07", "state_visibility", changed(hears("message_end"), sets("state.messages", []), 1)),
    ("STATE-09", "state_visibility", changed(hears("turn_start"), lambda line: line["state"].pop("signal"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("clause", "name", "plant"), FAULTS, ids=[f"{clause} {name}" for clause, name, _ in FAULTS]
)
def test_a_planted_fault_is_named(clause: str, name: str, plant: Plant) -> None:
    assert judged(recorded(name)) == []
    found = judged(plant(recorded(name)))
    assert clause in {each.clause for each in found}
    assert all(each.kind == "broken" for each in found)


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
