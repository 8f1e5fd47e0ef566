"""What a subject may send: framing does not depend on chunks, and whatever arrives is a message or a fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.faults import ProtocolFault, SubjectUnstartable
from pi_trio.conformance.protocol import NAMES, NESTING, Framing, check, check_hello, decode

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
words = st.sampled_from(
    ["settled", "signal", "withdrawn", "event", "prepareArguments", "unhandled", "hello", "new"]
)
fields = st.sampled_from(
    ["re", "ok", "error", "ask", "fn", "args", "key", "tell", "op", "event", "aborted", "tool"]
)
messages = st.dictionaries(fields, json_values | words, max_size=6)


def complaint(checker: Callable[[Any], object], value: object) -> str:
    """What the checker says against a value; any other error than a fault comes out."""
    try:
        checker(value)
    except ProtocolFault as fault:
        return fault.message
    return ""


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.data())
def test_lines_do_not_depend_on_chunks(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    framing = Framing(limit=100)
    found = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += framing.feed(stream[:size])
        stream = stream[size:]
    assert found == lines
    assert framing.rest == b"rest"


@pytest.mark.parametrize(
    "chunks", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"x" * 11 + b"\n"], [b"a\n" + b"x" * 11]]
)
def test_a_line_beyond_the_limit_is_refused(chunks: list[bytes]) -> None:
    framing = Framing(limit=10)
    for chunk in chunks[:-1]:
        framing.feed(chunk)
    with pytest.raises(ProtocolFault):
        framing.feed(chunks[-1])


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_a_fault(line: bytes) -> None:
    assert complaint(decode, line).isprintable()


@given(messages)
def test_any_object_is_a_message_or_a_fault(message: dict) -> None:
    assert complaint(check, message).isprintable()


@given(messages)
def test_any_object_is_a_hello_or_a_fault(message: dict) -> None:
    with pytest.raises(SubjectUnstartable):
        check_hello({**message, "tell": "hello"})


@pytest.mark.parametrize(
    "message",
    [
        {"re": 1, "ok": None},
        {"re": 1, "error": "driver: no"},
        {"re": 1, "ok": None, "tookMs": 3},
        {"re": 1.0, "ok": None},
        {"ask": "c1", "fn": "execute", "key": "t1", "args": {}, "aborted": False},
        {"ask": "c1", "fn": "convertToLlm", "args": {"messages": []}},
        {
            "ask": "c1",
            "fn": "listener",
            "key": "L",
            "args": {"event": {"type": "turn_start"}},
            "aborted": True,
        },
        {"tell": "settled", "op": "p1", "ok": True},
        {"tell": "settled", "op": "p1", "ok": False, "error": "x"},
        {"tell": "signal", "ask": "c1"},
        {"tell": "event", "key": "L", "event": {"type": "unheard_of"}},
        {"tell": "prepareArguments", "tool": "a", "args": None},
        {"tell": "unhandled", "error": "x"},
        {"tell": "weather", "sunny": True},
    ],
    ids=json.dumps,
)
def test_messages_of_the_protocol_pass(message: dict) -> None:
    assert decode(json.dumps(message).encode()) == message


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"re": True, "ok": None},
        {"re": 1.5, "ok": None},
        {"re": 1, "ok": None, "error": "both"},
        {"re": 1, "error": 5},
        {"re": 1, "ask": "c1", "fn": "x", "args": {}, "ok": 1},
        {"re": 1, "tell": "settled", "op": "p1", "ok": True},
        {"ask": 1, "fn": "execute", "args": {}},
        {"ask": "c1", "fn": "execute", "args": []},
        {"ask": "c1", "fn": "listener", "args": {"event": {"type": "turn_start"}}},
        {"ask": "c1", "fn": "execute", "args": {}, "aborted": "no"},
        {"tell": 5},
        {"tell": "settled", "op": "p1", "ok": False},
        {"tell": "withdrawn"},
        {"tell": "event", "key": "L", "event": {}},
        {"tell": "event", "key": "L", "event": {"type": "turn_end"}, "state": "idle"},
        {"ask": "c1", "fn": "listener", "key": "L", "args": {"event": {"type": "turn_end"}, "state": []}},
        {"tell": "prepareArguments", "tool": "a"},
    ],
    ids=json.dumps,
)
def test_other_messages_do_not(message: dict) -> None:
    with pytest.raises(ProtocolFault):
        check(message)


@pytest.mark.parametrize("opening", ['{"x":', "["])
def test_nesting_is_bounded(opening: str) -> None:
    closing = {"[": "]"}.get(opening, "}")

    def nested(levels: int) -> bytes:
        return f'{{"re":1,"ok":{opening * levels}0{closing * levels}}}'.encode()

    assert decode(nested(NESTING - 1))["re"] == 1
    for levels in (NESTING, 400, 10_000, 1_000_000):
        with pytest.raises(ProtocolFault, match=r"nested|not a JSON line"):
            decode(nested(levels))


def test_brackets_in_texts_are_no_nesting() -> None:
    assert decode(b'{"re":1,"ok":"' + b"[" * 1000 + b'"}')["ok"] == "[" * 1000


HELLO = {
    "tell": "hello",
    "protocol": 1,
    "subject": "s",
    "version": "1",
    "profile": "p",
    "hooks": [],
    "commands": [],
}


@pytest.mark.parametrize("field", ["hooks", "commands", "features"])
def test_a_hello_names_no_more_than_a_person_could_have_written(field: str) -> None:
    for count in (NAMES, NAMES + 1):
        names = [f"x{n}" for n in range(count)]
        message = {**HELLO, field: {"options": names} if field == "features" else names}
        if count == NAMES:
            check_hello(message)
        else:
            with pytest.raises(SubjectUnstartable, match=r"more than 1000 (hooks|commands|options): "):
                check_hello(message)


def test_what_a_hello_names_is_counted_wherever_it_stands() -> None:
    names = [f"x{n}" for n in range(NAMES + 1)]
    with pytest.raises(SubjectUnstartable, match="more than 1000 commands: "):
        check_hello({**HELLO, "commands": names, "features": {"commands": []}})


def test_the_version_of_the_protocol_is_a_number_as_json_has_it() -> None:
    check_hello({**HELLO, "protocol": 1.0})
    for wrong in (True, "1", 1.5, 2.0, 0):
        with pytest.raises(SubjectUnstartable):
            check_hello({**HELLO, "protocol": wrong})
