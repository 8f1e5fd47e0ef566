"""What is pure of the Codex endpoint: tokens, events, server-sent events, refusals, going on from a response."""

from __future__ import annotations

import base64
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.models.codex.account import account_of
from pi_trio.models.codex.continuation import Continuation
from pi_trio.models.codex.data_lines import DataLines
from pi_trio.models.codex.events import CodexError, CodexEvents, parsed_message
from pi_trio.models.codex.refusals import RetryTooLateError, asked_pause_ms, may_help, refusal
from pi_trio.models.exchange import ResponseFailedError


def token(claim, encode=base64.urlsafe_b64encode):
    payload = encode(json.dumps({"https://api.openai.com/auth": claim, "pad": "??>>~~"}).encode()).decode()
    return f"e30.{payload.rstrip('=')}.signature"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_account_of_a_token(encode):
    assert account_of(token({"chatgpt_account_id": "acc"}, encode)) == "acc"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "a.b",
        "a.b.c",
        "e30.e30.e30",
        token({}),
        token(None),
        token({"chatgpt_account_id": ""}),
        "a.!!!!.c",
    ],
)
def test_a_token_that_names_no_account(wrong):
    with pytest.raises(ResponseFailedError, match="Failed to extract accountId from token") as caught:
        account_of(wrong)
    assert not wrong or wrong not in repr(caught.value)


# --- events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "text", "code"),
    [
        ({"type": "error", "code": "c", "message": "m"}, "Codex error: m", "c"),
        ({"type": "error", "error": {"code": "c", "message": "m"}}, "Codex error: m", "c"),
        ({"type": "error", "code": 7, "error": {"code": "c"}}, "Codex error: c", "c"),
        ({"type": "error", "x": 1}, 'Codex error: {"type":"error","x":1}', None),
        ({"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}}, "m", "c"),
        ({"type": "response.failed"}, "Codex response failed", None),
    ],
)
def test_errors_of_the_endpoint(event, text, code):
    with pytest.raises(CodexError) as caught:
        CodexEvents().read(event)
    assert (str(caught.value), caught.value.code) == (text, code)


@pytest.mark.parametrize("kind", ["response.done", "response.completed", "response.incomplete"])
def test_three_names_for_an_end(kind):
    events = CodexEvents()
    (told,) = events.read({"type": kind, "response": {"status": "odd", "id": "r", "end_turn": True}})
    assert told == {"type": "response.completed", "response": {"id": "r", "end_turn": True}}
    assert (events.ended, events.end_turn) == (True, True)


@pytest.mark.parametrize("event", [7, [], {}, {"type": 7}, {"type": ""}])
def test_messages_that_say_nothing(event):
    assert CodexEvents().read(event) == ()


def test_a_message_that_is_no_json():
    with pytest.raises(CodexError, match="Invalid Codex WebSocket JSON: "):
        parsed_message("{", "WebSocket")


# --- server-sent events -----------------------------------------------------------------------------------

BODY = 'data: {"a": "é😀"}\n\nevent: x\ndata:one\ndata:  two \n\n: ping\n\ndata: [DONE]\n\n\n\ndata: last'.encode()
DATA = ['{"a": "é😀"}', "one\ntwo", "last"]


@given(st.lists(st.integers(0, len(BODY))))
def test_data_in_any_pieces(places):
    bounds = sorted({0, *places, len(BODY)})
    lines = DataLines()
    told = [data for a, b in itertools.pairwise(bounds) for data in lines.feed(BODY[a:b])]
    assert told + lines.end() == DATA


def test_what_is_left_at_the_end():
    lines = DataLines()
    assert lines.feed(b"data: 1\r\n\r\ndata: 2\r\n\r\n") == []  # these do not end an event here
    assert lines.end() == ["1\n2"]
    assert DataLines().end() == []


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (500, "", "Internal Server Error"),
        (400, "plain", "plain"),
        (400, '{"error": {"message": "m"}}', "m"),
        (400, '{"error": {"message": ""}}', '{"error": {"message": ""}}'),
        (400, '{"detail": "d"}', '{"detail": "d"}'),
        (429, '{"error": "text"}', "You have hit your ChatGPT usage limit."),
        (
            400,
            '{"error": {"code": "usage_limit_reached", "plan_type": "Plus"}}',
            "You have hit your ChatGPT usage limit (plus plan).",
        ),
        (
            429,
            '{"error": {"message": "m", "resets_at": 1}}',
            "You have hit your ChatGPT usage limit. Try again in ~0 min.",
        ),
    ],
)
def test_what_a_refusal_says(status, body, text):
    assert refusal(status, "Internal Server Error", body) == text


def test_what_is_worth_another_try():
    helped = [may_help(429, "slow"), may_help(503, ""), may_help(400, "Overloaded")]
    assert all(helped)
    assert not any([may_help(400, ""), may_help(429, "insufficient_quota")])


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({}, None),
        ({"retry-after-ms": "5"}, 5),
        ({"retry-after": "2"}, 2000),
        ({"retry-after": "odd"}, None),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 +99999999999999999"}, None),
    ],
)
def test_the_pause_that_is_asked_for(headers, pause):
    assert asked_pause_ms(headers, None) == pause


def test_a_pause_that_is_too_long():
    with pytest.raises(RetryTooLateError, match=r"Server requested 120s retry delay \(max: 60s\)"):
        asked_pause_ms({"retry-after": "120"}, None)
    assert asked_pause_ms({"retry-after": "120"}, 0) == 120_000


@pytest.mark.parametrize("limit", [None, 0])
def test_a_pause_beyond_all_numbers_is_too_long(limit):
    with pytest.raises(RetryTooLateError, match="Server requested Infinitys retry delay"):
        asked_pause_ms({"retry-after": "1e308"}, limit)


# --- going on ---------------------------------------------------------------------------------------------

SAID = {"model": "m", "input": [{"role": "user"}]}
ITEM = {"type": "message", "id": "m"}


def test_only_what_is_new_is_sent():
    known = Continuation(SAID, "r", [ITEM])
    new = {"type": "function_call_output"}
    assert known.shortened({**SAID, "input": [*SAID["input"], ITEM, new]}) == {
        "model": "m",
        "input": [new],
        "previous_response_id": "r",
    }
    assert known.shortened({**SAID, "input": [*SAID["input"], ITEM]})["input"] == []


@pytest.mark.parametrize(
    "body",
    [
        {**SAID, "model": "other", "input": [*SAID["input"], ITEM]},
        {**SAID, "temperature": 1, "input": [*SAID["input"], ITEM]},
        {**SAID, "input": [*SAID["input"], {**ITEM, "id": "n"}]},
        SAID,
        {"model": "m"},
    ],
)
def test_a_request_that_does_not_go_on(body):
    assert Continuation(SAID, "r", [ITEM]).shortened(body) is None
