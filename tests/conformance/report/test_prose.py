"""One line in words: for every line that is on record, and for whatever a subject may send."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.faults import ProtocolFault
from pi_trio.conformance.protocol import check
from pi_trio.conformance.report.prose import clean, plain, quoted
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.vectors import Vectors

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "role",
                    "content",
                    "message",
                    "messages",
                    "delta",
                    "toolCall",
                    "id",
                    "text",
                    "isError",
                ]
            ),
            inner
            | st.sampled_from(["text", "toolCall", "agent_end", "message_update", "assistant", "\x1b[31m"]),
            max_size=5,
        )
    ),
    max_leaves=10,
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(["message_update", "agent_end", "tool_execution_end", "turn_end", "new"])},
    optional={
        "message": json_values, "messages": json_values, "assistantMessageEvent": json_values,
        "toolCallId": json_values, "toolName": json_values, "result": json_values, "isError": json_values,
    },
)  # fmt: skip
callbacks = st.sampled_from(
    ["streamFn", "execute", "afterToolCall", "finishTurn", "getApiKey", "convertToLlm", "new"]
)
lines = (
    st.builds(lambda event: {"tell": "event", "key": "L", "event": event}, events)
    | st.builds(
        lambda event: {"ask": {"fn": "listener", "key": "L", "nth": 0}, "args": {"event": event}}, events
    )
    | st.builds(
        lambda fn, args: {"ask": {"fn": fn, "key": "t1", "nth": 2}, "args": args, "aborted": True},
        callbacks,
        st.dictionaries(
            st.sampled_from(["model", "context", "args", "result", "messages", "message"]), json_values
        ),
    )
    | st.builds(lambda value: {"reply": value}, json_values)
    | st.builds(lambda value: {"tell": "prepareArguments", "tool": "a", "args": value}, json_values)
    | st.builds(lambda value: {"tell": "new", "what": value}, json_values)
)


@given(lines)
def test_whatever_a_subject_says_is_one_printable_line(line: dict[str, Any]) -> None:
    if "tell" in line:
        with_shape(line)
    assert plain(line).isprintable()


def with_shape(message: dict[str, Any]) -> None:
    """The strategy makes only what the protocol lets pass."""
    try:
        check(message)
    except ProtocolFault as fault:
        raise AssertionError from fault


def test_every_recorded_line_has_words() -> None:
    vectors = Vectors.shipped()
    for release in ("0.80.2", "1.6.0"):
        recordings = [vectors.read(release, scenario.name) for scenario in all_scenarios()]
        for line in (line for recording in recordings if recording for line in recording.lines):
            words = plain(line)
            assert words.isprintable()
            assert not words.startswith("?")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            {"send": {"cmd": "create", "target": "loop", "listeners": ["L"]}},
            "create the loop alone; listeners L",
        ),
        ({"send": {"cmd": "prompt", "op": "p1", "input": "go"}}, 'prompt p1 "go"'),
        ({"send": {"cmd": "prompt", "op": "p1", "input": []}}, "prompt p1 (no messages)"),
        (
            {"send": {"cmd": "answer", "ask": {"fn": "execute", "key": "t1", "nth": 1}, "throw": "x"}},
            'answer execute t1 #2 throws "x"',
        ),
        ({"send": {"cmd": "end", "ask": {"fn": "streamFn", "nth": 0}}}, "end streamFn without a result"),
        ({"send": {"cmd": "burst", "cmds": [{"cmd": "abort"}, {"cmd": "reset"}]}}, "burst abort; reset"),
        (
            {"send": {"cmd": "setOption", "name": "model", "value": None}},
            'setOption {"name":"model","value":null}',
        ),
        ({"tell": "settled", "op": "p1", "ok": True}, "p1 settled"),
        ({"tell": "settled", "op": "p1", "ok": False, "error": "no"}, 'p1 failed: "no"'),
        ({"tell": "event", "key": "L", "event": {"type": "turn_start"}}, "L turn_start"),
        (
            {
                "ask": {"fn": "listener", "key": "L", "event": "turn_start", "nth": 0},
                "args": {"event": {"type": "turn_start"}},
                "aborted": True,
            },
            "L turn_start (asked) (signal raised)",
        ),
        ({"tell": "signal", "ask": {"fn": "execute", "key": "t1", "nth": 0}}, "(signal) execute t1"),
        (
            {"unresolved": {"fn": "listener", "key": "L", "event": "turn_end", "nth": 2}},
            "not sent L turn_end #3 was never asked",
        ),
        ({"error": "driver: no"}, 'refused "driver: no"'),
        ({"end": "silent"}, "(the end: the reply never came)"),
    ],
)
def test_lines_in_words(line: dict[str, Any], words: str) -> None:
    assert plain(line) == words


def test_long_values_are_shortened_in_their_middle() -> None:
    short = quoted("x" * 1000, 21)
    assert short == '"xxxxxxxx … xxxxxxxx"'


@pytest.mark.parametrize(
    ("text", "safe"), [("a\tb\nc", "a   b\nc"), ("\x1b[0m", "\N{REPLACEMENT CHARACTER}[0m"), ("é €", "é €")]
)
def test_control_characters_are_replaced(text: str, safe: str) -> None:
    assert clean(text) == safe
