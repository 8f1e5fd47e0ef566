"""What is kept of a log that is being judged does not grow with the log, whatever the log holds."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pi_trio.conformance.logs import LogCheck

from .judging import ANSWER, ANY, USER, a_run

Line = dict[str, Any]

BYTES = 10_000_000
BOUND = 2_000_000
LARGE = "x" * 10_000
MANY = 30_000
BOUND_OF_MANY = 600_000


def large(number: int) -> Line:
    return {**USER, "content": f"{LARGE}{number}"}


def of_a_turn(line: Callable[[int], Line]) -> Iterator[Line]:
    """A turn that has nothing but lines of one kind."""
    yield from a_run()[:2]
    for number in range(BYTES // len(LARGE)):
        yield line(number)


def starts() -> Iterator[Line]:
    return of_a_turn(lambda number: {"type": "message_start", "message": large(number)})


def ends() -> Iterator[Line]:
    return of_a_turn(lambda number: {"type": "message_end", "message": large(number)})


def answers() -> Iterator[Line]:
    answer = {**ANSWER, "content": [{"type": "text", "text": LARGE}]}
    return of_a_turn(lambda number: {"type": "message_start", "message": {**answer, "number": number}})


def calls_outside_runs() -> Iterator[Line]:
    for number in range(BYTES // len(LARGE)):
        yield {"type": "tool_execution_start", "toolCallId": f"{number} {LARGE}", "toolName": "a", "args": {}}


def calls_of_no_answer() -> Iterator[Line]:
    yield from a_run()[:-2]
    for number in range(BYTES // len(LARGE)):
        call = {"toolCallId": f"t{number}", "toolName": "a"}
        yield {"type": "tool_execution_start", **call, "args": {"text": LARGE}}
        yield {"type": "tool_execution_end", **call, "result": {"content": []}, "isError": False}


def wire() -> Iterator[Line]:
    yield {"id": 0, "cmd": "create", "listeners": ["L"]}
    yield {"re": 0, "ok": None}
    asked = 0
    for run in range(BYTES // (6 * len(LARGE))):
        yield {"id": 1, "cmd": "prompt", "op": f"p{run}", "input": "hi"}
        for event in json.loads(json.dumps(a_run()).replace('"ho"', json.dumps(LARGE))):
            asked += 1
            yield {
                "ask": f"c{asked}",
                "fn": "listener",
                "key": "L",
                "args": {"event": event},
                "aborted": False,
            }
            yield {"re": 1, "ok": None}
            yield {"id": 1, "cmd": "answer", "ask": f"c{asked}"}
        yield {"tell": "settled", "op": f"p{run}", "ok": True}
        yield {"re": 1, "ok": None}


def short(*lines: Callable[[int], Line]) -> Iterator[Line]:
    """Many short lines of a few kinds, in a turn of which the answer was not seen to have calls."""
    yield from a_run()[:-2]
    for number in range(MANY // len(lines)):
        for line in lines:
            yield line(number)


def many_starts() -> Iterator[Line]:
    return short(lambda number: {"type": "message_start", "message": {**USER, "content": f"{number}"}})


def many_ends() -> Iterator[Line]:
    return short(lambda number: {"type": "message_end", "message": {**USER, "content": f"{number}"}})


def many_results() -> Iterator[Line]:
    return short(
        lambda number: {
            "type": "message_start",
            "message": {"role": "toolResult", "toolCallId": f"t{number}"},
        }
    )


def a_call(kind: str, number: int) -> Line:
    return {"type": f"tool_execution_{kind}", "toolCallId": f"t{number}", "toolName": "a", "args": {}}


def many_calls() -> Iterator[Line]:
    return short(lambda number: a_call("start", number))


def many_calls_that_end_late() -> Iterator[Line]:
    return short(lambda number: a_call("start", number), lambda number: a_call("end", number - 2_000))


def many_calls_outside_runs() -> Iterator[Line]:
    for number in range(MANY):
        yield a_call("start", number)


def said_to(key: str, event: Line) -> Line:
    return {"tell": "event", "key": key, "event": event}


def one_listener_of_two() -> Iterator[Line]:
    """The other one is never told anything."""
    yield {"send": {"cmd": "create", "listeners": ["L", "M"]}}
    yield {"reply": None}
    run = a_run()
    for event in (*run[:5], *([run[5]] * MANY)):
        yield said_to("L", event)


def many_callbacks() -> Iterator[Line]:
    """Each is about another call."""
    yield {"id": 0, "cmd": "create", "listeners": ["L"]}
    yield {"re": 0, "ok": None}
    for asked in range(MANY // 3):
        yield {"ask": f"c{asked}", "fn": "execute", "key": f"t{asked}", "args": {}, "aborted": False}
        yield {"re": 1, "ok": None}
        yield {"id": 1, "cmd": "answer", "ask": f"c{asked}", "value": None}


def commanded(command: Callable[[int], Line]) -> Iterator[Line]:
    yield {"id": 0, "cmd": "create", "listeners": ["L"]}
    yield {"re": 0, "ok": None}
    for number in range(MANY // 3):
        yield {"id": number, **command(number)}
        yield {"re": number, "ok": None}


def many_queued() -> Iterator[Line]:
    return commanded(lambda number: {"cmd": "steer", "message": {**USER, "content": f"{number}"}})


def many_given() -> Iterator[Line]:
    return commanded(
        lambda number: {"cmd": "prompt", "op": "p", "input": [{**ANSWER, "content": [], "number": number}]}
    )


def many_under_way() -> Iterator[Line]:
    return commanded(lambda number: {"cmd": "waitForIdle", "op": f"w{number}"})


def kept_of(log: Iterator[Line]) -> int:
    """How many bytes are kept when a log was read, but for what is kept of any."""
    check = LogCheck(ANY, lambda _: None)
    check.read(f"{json.dumps(line)}\n".encode() for line in a_run())
    tracemalloc.start()
    try:
        check.read(f"{json.dumps(line)}\n".encode() for line in log)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert check.end().judged
    return kept


@pytest.mark.parametrize("log", [starts, ends, answers, calls_outside_runs, calls_of_no_answer, wire])
def test_a_log_of_ten_megabytes_leaves_little_behind(log: Callable[[], Iterator[Line]]) -> None:
    assert kept_of(log()) < BOUND


@pytest.mark.parametrize(
    "log",
    [
        many_starts, many_ends, many_results, many_calls, many_calls_that_end_late, many_calls_outside_runs,
        one_listener_of_two, many_callbacks, many_queued, many_given, many_under_way,
    ],
)  # fmt: skip
def test_of_many_short_lines_little_more_than_a_number_is_kept(log: Callable[[], Iterator[Line]]) -> None:
    assert kept_of(log()) < BOUND_OF_MANY
