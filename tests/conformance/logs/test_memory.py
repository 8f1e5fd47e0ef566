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


@pytest.mark.parametrize("log", [starts, ends, answers, calls_outside_runs, calls_of_no_answer, wire])
def test_a_log_of_ten_megabytes_leaves_little_behind(log: Callable[[], Iterator[Line]]) -> None:
    check = LogCheck(ANY, lambda _: None)
    tracemalloc.start()
    try:
        check.read(f"{json.dumps(line)}\n".encode() for line in log())
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < BOUND
    assert check.end().events
