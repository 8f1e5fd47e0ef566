"""No false alarm where a failure is told and something is like one: another answer, another listener, another run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pi_trio.conformance.lines import event_of
from pi_trio.conformance.monitors import judge_events
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scripting import (
    HELLO,
    abort,
    answer,
    assistant,
    command,
    fails_at,
    holds_event,
    prompt,
    push,
    release,
    scenario,
    streams,
    throw,
    tool_message,
    topic,
    user,
)

from .planting import at, hears, judged, recorded
from .playing import judged_runs, played
from .recordings import FORCE

OVERLOADED: Object = assistant("", stop="error", errorMessage="overloaded")
START: Object = {"type": "start", "partial": OVERLOADED}
BROKEN: Object = {"type": "error", "reason": "error", "error": OVERLOADED}
GROWS: Object = {"type": "text_start", "contentIndex": 0, "partial": OVERLOADED}
DONE: Object = {"type": "done", "reason": "stop", "message": assistant("after all")}

CASES: list[tuple[str, list[Object], list[Object]]] = [
    ("at_once", [BROKEN], []),
    ("started", [START, BROKEN], []),
    ("that_grows", [START, GROWS, DONE], []),
    ("at_which_a_listener_fails", [START, BROKEN], [fails_at("L", "message_start", 1)]),
]

ANSWERS = [
    scenario(
        f"answer_like_a_failure_{name}",
        "The provider answers with what looks like the message that tells of a failure, but for its usage.",
        responses=[streams(response)],
        rules=rules,
        steps=[prompt("go")],
    )
    for name, response, rules in CASES
]

LATE = [
    scenario(
        f"subscribed_at_the_end_of_{name}",
        "A listener joins while a message that was given is ended, which might be one that a turn says itself.",
        listeners=["L"],
        told=["Z"],
        responses=[HELLO],
        rules=[holds_event("L", "message_end")],
        steps=[
            prompt([message, user("go")]),
            command("subscribe", key="Z"),
            release("L", "message_end"),
        ],
    )
    for name, message in (
        ("an_answer", assistant("said before")),
        ("a_failure", OVERLOADED),
        ("a_result", tool_message("t9", "a", "nine")),
    )
]

STATES = [
    scenario(
        "failed_at_the_start_and_at_the_end",
        "A listener fails at the start of a message, and once more as that is closed; then another run begins.",
        snapshot=True,
        told=[],
        responses=[HELLO, HELLO],
        rules=[holds_event("L", "message_start"), fails_at("L", "message_end")],
        steps=[prompt("go"), throw("listener", "one", key="L", event="message_start"), prompt("again")],
    )
]

CUT = [
    scenario(
        "failed_at_the_start_of_a_cut_answer",
        "The run is aborted before it asks, and a listener fails at the start of the answer that is told then.",
        told=[],
        responses=[HELLO],
        rules=[holds_event("L", "turn_start"), fails_at("L", "message_start", 1)],
        steps=[prompt("go"), abort(), release("L", "turn_start")],
    )
]

EARLIER = [
    scenario(
        "reset_and_unsubscribed",
        "Where a reset during a run is not refused, a listener leaves behind one.",
        snapshot=True,
        listeners=["L", "M"],
        told=["L", "M"],
        responses=[None],
        steps=[
            prompt("go"), answer("streamFn", "stream"), command("reset"), command("unsubscribe", key="M"),
            *push(HELLO),
        ],
    )
]  # fmt: skip


@pytest.mark.parametrize("cancels", [False, True], ids=["signal", "cancel"])
@pytest.mark.parametrize(
    ("release", "topic_of"),
    [("0.80.2", ANSWERS), ("1.6.0", ANSWERS), ("1.6.0", LATE), ("1.6.0", STATES), ("0.80.2", CUT), ("0.80.2", EARLIER)],
    ids=["answers", "levelled answers", "late", "states", "cut", "reset"],
)  # fmt: skip
def test_what_is_rare_breaks_no_clause(release: str, topic_of: Sequence[Object], cancels: bool) -> None:
    for run, judgement in judged_runs(topic_of, release, cancels=cancels):
        assert judgement.findings == (), run.scenario.name


def test_an_answer_like_a_failure_is_none_in_a_log_either() -> None:
    for run in played(topic("rare", *ANSWERS[:3]), "0.80.2"):
        events = [event for line in run.lines if (event := event_of(line)) is not None]
        assert judge_events(events, FORCE, ["0.80.2"]).findings == ()


def test_a_failure_that_has_spent_something_is_told_from_an_answer_in_a_trace() -> None:
    lines = recorded("finish_turn_throws")
    for line in lines:
        message = (event_of(line) or {}).get("message", {})
        if message.get("content") == [{"type": "text", "text": ""}]:
            message["usage"] = OVERLOADED["usage"]
    assert "FAIL-06" in {each.clause for each in judged(lines)}


def test_one_who_joins_while_a_failure_is_told_may_miss_the_rest_of_it() -> None:
    """As a release does it: who fails at the failure's turn_end takes it from everybody, and nothing more is told."""
    failure = assistant("", stop="error", errorMessage="one")
    event = {"type": "message_end", "message": failure}
    held = {"fn": "listener", "key": "L", "event": "message_end", "nth": 0}
    start = {"fn": "listener", "key": "L", "event": "turn_start", "nth": 0}
    lines: list[Object] = [
        {"send": {"cmd": "create", "listeners": ["L"], "tellListeners": ["Z"]}}, {"reply": None},
        {"send": {"cmd": "prompt", "op": "p", "input": "go"}},
        {"ask": start, "args": {"event": {"type": "turn_start"}}, "aborted": False}, {"reply": None},
        {"send": {"cmd": "answer", "ask": start, "throw": "one"}},
        {"ask": held, "args": {"event": event}, "aborted": False}, {"reply": None},
        {"send": {"cmd": "subscribe", "key": "Z"}}, {"reply": None},
        {"send": {"cmd": "answer", "ask": held}},
        {"tell": "event", "key": "Z", "event": event},
        {"tell": "event", "key": "Z", "event": {"type": "turn_end", "message": failure, "toolResults": []}},
        {"tell": "settled", "op": "p", "ok": False, "error": "two"}, {"reply": None},
    ]  # fmt: skip
    found = [each for each in judged(lines, "0.80.2") if each.listener == "Z"]
    assert [(each.clause, each.ruling) for each in found] == [("FAIL-31", "D-04")]


def test_one_who_joins_when_the_failure_was_told_misses_its_end() -> None:
    """The first that he would hear is the turn_end at which the other one fails; it may be of any turn, for him."""
    failure = assistant("", stop="error", errorMessage="one")
    held = {"fn": "listener", "key": "L", "event": "turn_end", "nth": 0}
    start = {"fn": "listener", "key": "L", "event": "turn_start", "nth": 0}
    ended = {"type": "turn_end", "message": failure, "toolResults": []}
    lines: list[Object] = [
        {"send": {"cmd": "create", "listeners": ["L"], "tellListeners": ["Z"]}}, {"reply": None},
        {"send": {"cmd": "prompt", "op": "p", "input": "go"}},
        {"ask": start, "args": {"event": {"type": "turn_start"}}, "aborted": False}, {"reply": None},
        {"send": {"cmd": "answer", "ask": start, "throw": "one"}},
        {"ask": held, "args": {"event": ended}, "aborted": False}, {"reply": None},
        {"send": {"cmd": "subscribe", "key": "Z"}}, {"reply": None},
        {"send": {"cmd": "answer", "ask": held, "throw": "two"}},
        {"tell": "settled", "op": "p", "ok": False, "error": "two"}, {"reply": None},
    ]  # fmt: skip
    found = [each for each in judged(lines, "0.80.2") if each.listener == "Z"]
    assert {each.kind for each in found} == {"as Pi"}
    assert "FAIL-31" in {each.clause for each in found}


def test_a_start_that_no_stream_has_given_breaks_a_clause() -> None:
    lines = recorded("text_plain")
    second = at(lines, hears("message_start"), 1)
    found = judged([*lines[: second + 1], *lines[second:]])
    assert [(each.clause, each.kind) for each in found] == [("STREAM-08", "broken")]
    assert {each.kind for each in judged(recorded("stream_double_start"))} == {"as Pi"}
