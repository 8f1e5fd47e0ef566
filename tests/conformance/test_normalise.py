"""What is left out of a comparison, and above all what is not."""

from __future__ import annotations

import pytest

from pi_trio.conformance.fixed_texts import FIXED_TEXTS
from pi_trio.conformance.normalise import HOST_TEXT, Normaliser

TRUNCATED = (
    'Tool call "a" was not executed: the response hit the output token limit, so its arguments may be truncated. '
    "Re-issue the tool call with complete arguments."
)
NORMALISER = Normaliser(frozenset({"disk full"}))


def event(**fields: object) -> dict:
    line = NORMALISER.line({"tell": "event", "key": "L", "event": fields})
    return line["event"]


def message(**fields: object) -> dict:
    return NORMALISER.line({"reply": [fields]})["reply"][0]


@pytest.mark.parametrize("text", sorted(FIXED_TEXTS))
def test_texts_that_pi_fixes_stay(text: str) -> None:
    assert NORMALISER.text(text) == text


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("disk full", "disk full"),
        ("Disk full", HOST_TEXT),
        ("TypeError: x is not a function", HOST_TEXT),
        ("Tool a b not found", "Tool a b not found"),
        ("Tool a not found here", HOST_TEXT),
        ('Validation failed for tool "a":\n  - n: expected number', 'Validation failed for tool "a":'),
        ('Validation failed for tool "a "b":\nx', 'Validation failed for tool "a "b":'),
        ("driver: no such ask c9", f"driver: {HOST_TEXT}"),
        ("refused: busy", f"refused: {HOST_TEXT}"),
        (TRUNCATED, TRUNCATED),
        ('Tool call "a" was not executed: too long', HOST_TEXT),
    ],
)
def test_other_texts_stay_if_they_are_the_scenarios(text: str, normal: str) -> None:
    assert NORMALISER.text(text) == normal


def test_times_are_hidden_where_they_are_and_only_there() -> None:
    assert message(role="user", content="x", timestamp=17)["timestamp"] == "#"
    assert "timestamp" not in message(role="user", content="x")
    assert message(role="user", timestamp="now")["timestamp"] == "now"
    assert message(role="toolResult", durationMs=3.5)["durationMs"] == "#"
    assert "durationMs" not in message(role="toolResult", isError=False)
    assert event(type="tool_execution_end", durationMs=1)["durationMs"] == "#"


def test_what_the_agent_carries_is_not_touched() -> None:
    carried = {"role": "user", "timestamp": 5, "errorMessage": "x"}
    assert event(type="tool_execution_start", args=carried)["args"] == carried
    assert message(role="toolResult", details=carried, isError=True)["details"] == carried
    ask = {"ask": {"fn": "execute", "key": "t1", "nth": 0}, "args": {"tool": "a", "args": carried}}
    assert NORMALISER.line(ask) == ask
    told = {"tell": "prepareArguments", "tool": "a", "args": carried}
    assert NORMALISER.line(told) == told


def test_error_texts_are_found_in_all_their_places() -> None:
    content = [{"type": "text", "text": "host"}]
    hidden = [{"type": "text", "text": HOST_TEXT}]
    assert (
        NORMALISER.line({"tell": "settled", "op": "p1", "ok": False, "error": "host"})["error"] == HOST_TEXT
    )
    assert NORMALISER.line({"tell": "unhandled", "error": "host"})["error"] == HOST_TEXT
    assert NORMALISER.line({"error": "host"})["error"] == HOST_TEXT
    assert NORMALISER.line({"reply": [{"error": "host"}, {"ok": None}]})["reply"][0]["error"] == HOST_TEXT
    assert (
        NORMALISER.line({"reply": {"isStreaming": False, "errorMessage": "host"}})["reply"]["errorMessage"]
        == HOST_TEXT
    )
    assert message(role="assistant", errorMessage="host")["errorMessage"] == HOST_TEXT
    assert message(role="toolResult", isError=True, content=content)["content"] == hidden
    assert (
        event(type="tool_execution_end", isError=True, result={"content": content})["result"]["content"]
        == hidden
    )
    ask = {
        "ask": {"fn": "afterToolCall", "nth": 0},
        "args": {"isError": True, "result": {"content": content}},
    }
    assert NORMALISER.line(ask)["args"]["result"]["content"] == hidden


def test_texts_that_are_no_errors_are_compared() -> None:
    content = [{"type": "text", "text": "host"}]
    assert message(role="toolResult", isError=False, content=content)["content"] == content
    assert message(role="toolResult", isError="yes", content=content)["content"] == content
    assert message(role="assistant", content=content)["content"] == content
    assert (
        event(type="tool_execution_end", isError=False, result={"content": content})["result"]["content"]
        == content
    )


def test_a_partial_that_repeats_the_message_is_left_out() -> None:
    said = {"role": "assistant", "content": [], "timestamp": 1}
    later = {**said, "timestamp": 2}
    other = {**said, "content": [{"type": "text", "text": "x"}]}
    for partial in (said, later):
        update = event(
            type="message_update",
            message=said,
            assistantMessageEvent={"type": "text_start", "partial": partial},
        )
        assert update["assistantMessageEvent"] == {"type": "text_start"}
    update = event(
        type="message_update", message=said, assistantMessageEvent={"type": "text_start", "partial": other}
    )
    assert update["assistantMessageEvent"]["partial"]["content"] == other["content"]
    left, right = {**said, "x": 1}, {**said, "x": True}
    update = event(
        type="message_update", message=left, assistantMessageEvent={"type": "text_start", "partial": right}
    )
    assert update["assistantMessageEvent"]["partial"]["x"] is True


def test_a_line_is_a_copy() -> None:
    details = {"n": [1]}
    line = NORMALISER.line({"reply": {"details": details}})
    details["n"].append(2)
    assert line["reply"]["details"] == {"n": [1]}
