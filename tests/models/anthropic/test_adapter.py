"""The adapter against a server on the loopback: what is sent, and what becomes of refusals and aborts."""

from __future__ import annotations

import json
import logging

import attrs
import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.agent.agent import Agent
from pi_trio.models.anthropic import AnthropicMessages
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.request_options import provider_options

from ..http_server import head, refusal, serving
from .asking import KEY, MODEL, TOKEN, USER, context_of, model_with, options
from .test_body import STRICT, strict_tool
from .test_reader import block, finish, start, text


def sent(*events):
    return b"".join("\n".join([*event.lines, "", ""]).encode() for event in events)


ANSWER = sent(start(), block(0, "text"), text(0, "Hello"), *finish())


def at(server, model=MODEL, path=""):
    return attrs.evolve(model, base_url=server.url + path)


async def told(server, model=MODEL, context=None, adapter=None, **fields):
    async with (adapter or AnthropicMessages()).stream(
        at(server, model), context or context_of(), options(**fields)
    ) as stream:
        return [event async for event in stream]


async def failed(server, model=MODEL, **fields):
    last = (await told(server, model, **fields))[-1]
    return last.reason, last.error.error_message


async def test_a_response(mock_clock):
    async with serving([head(), ANSWER]) as server:
        events = await told(server, on_response=lambda *_: mock_clock.jump(1.25))
        (request,) = server.requests
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "done"]
    assert events[-1].message.text == "Hello"
    assert events[-1].message.duration_ms == 1250
    assert request.target == "/v1/messages?beta=true"
    assert json.loads(request.body)["stream"] is True


@pytest.mark.parametrize("path", ["/proxy", "/proxy/"])
async def test_where_it_goes(path):
    async with serving([head(), ANSWER]) as server:
        async with AnthropicMessages().stream(at(server, path=path), context_of(), options()) as stream:
            await stream.result()
        assert server.requests[0].target == "/proxy/v1/messages?beta=true"


@pytest.mark.parametrize(
    ("fields", "model", "there", "absent"),
    [
        (
            {},
            {},
            {"x-api-key": KEY, "anthropic-version": "2023-06-01", "accept": "application/json"},
            "authorization",
        ),
        (
            {"api_key": TOKEN},
            {},
            {"authorization": f"Bearer {TOKEN}", "user-agent": "claude-cli/2.1.322", "x-app": "cli"},
            "x-api-key",
        ),
        (
            {},
            {"provider": "github-copilot"},
            {"authorization": f"Bearer {KEY}", "X-Initiator": "user", "Openai-Intent": "conversation-edits"},
            "x-api-key",
        ),
        (
            {"api_key": None, "headers": {"Authorization": "Bearer x"}},
            {},
            {"Authorization": "Bearer x"},
            "x-api-key",
        ),
        (
            {"headers": {"X-Api-Key": "mine"}},
            {"headers": {"x-api-key": "its"}},
            {"X-Api-Key": "mine"},
            "nothing",
        ),
        ({"headers": {"anthropic-version": None}}, {}, {}, "anthropic-version"),
        ({"headers": {"anthropic-beta": "a,b"}}, {}, {"anthropic-beta": "a,b"}, "nothing"),
        ({"session_id": "s"}, {"provider": "openrouter"}, {"x-session-id": "s"}, "x-session-affinity"),
        ({"session_id": "s", "cache_retention": "none"}, {"provider": "openrouter"}, {}, "x-session-id"),
        ({}, {}, {"content-type": "application/json"}, "x-session-affinity"),
    ],
)
async def test_headers(fields, model, there, absent):
    async with serving([head(), ANSWER]) as server:
        await told(server, model_with(**model), **fields)
        headers = server.requests[0].headers
    assert {name.lower(): value for name, value in there.items()}.items() <= headers.items()
    assert absent not in headers


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (
            refusal(400, '{"type": "error", "error": {"message": "no"}}'),
            '400 {"type":"error","error":{"message":"no"}}',
        ),
        (refusal(400, '{"message": "no"}'), "400 no"),
        (refusal(400, '{"message": {"a": 1}}'), '400 {"a":1}'),
        (refusal(500, "<html>"), "500 <html>"),
        (refusal(529, "null"), "529 null"),
        (refusal(401), "401 status code (no body)"),
        ([head(content_length="9"), b"x"], "terminated"),
        ([head()], "Anthropic stream ended without a stop reason"),
    ],
)
async def test_what_goes_wrong_is_told_as_the_sdk_does(script, text):
    async with serving(script) as server:
        assert await failed(server, dialect=DIALECT_1_0_3) == ("error", text)


async def test_what_the_system_says_is_told_as_of_1_6_0():
    async with serving([head()]) as server:
        pass
    for dialect, whole in ((DIALECT_1_0_3, True), (DIALECT_1_6_0, False)):
        reason, said = await failed(server, dialect=dialect)
        assert (reason, said == "Connection error.") == ("error", whole)
        assert said.startswith("Connection error.")


async def test_a_pause_that_is_too_long():
    async with serving(refusal(429, "busy", retry_after="120")) as server:
        said = await failed(server, max_retries=1)
    assert said == ("error", "Server requested 120s retry delay (max: 60s). 429 busy")


async def test_tries():
    async with serving(refusal(529, "busy", retry_after_ms="1"), [head(), ANSWER]) as server:
        assert await failed(server) == ("error", "529 busy")
    async with serving(refusal(529, "busy", retry_after_ms="1"), [head(), ANSWER]) as server:
        assert (await told(server, max_retries=1))[-1].message.text == "Hello"
        assert len(server.requests) == 2


async def test_no_key():
    async with serving([head()]) as server:
        assert await failed(server, api_key=None) == ("error", "No API key for provider: anthropic")
        with pytest.raises(ResponseFailedError, match=r"^No API key for provider: anthropic$"):
            AnthropicMessages().stream_simple(at(server), context_of(), options(api_key=None))
        assert server.requests == []


async def test_a_body_that_a_hook_gives_streams_all_the_same():
    async with serving([head(), ANSWER]) as server:
        await told(server, on_payload=lambda body, model: {"model": "x", "stream": False, "betas": ["b"]})
        assert json.loads(server.requests[0].body) == {"model": "x", "stream": True}
        assert server.requests[0].headers["anthropic-beta"] == "b"


# --- aborts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (DIALECT_0_85_0, "Request aborted"),
        (DIALECT_1_0_3, "Request aborted"),
        (DIALECT_1_6_0, "This operation was aborted"),
    ],
)
async def test_an_abort_before_the_request(dialect, text):
    controller = AbortController()
    controller.abort()
    async with serving([head()]) as server:
        assert await failed(server, signal=controller.signal, dialect=dialect) == ("aborted", text)
        assert server.requests == []


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ([trio.Event()], "Request aborted"),
        (refusal(429, "busy", retry_after="50"), "Request aborted"),
        ([head(), ANSWER, trio.Event()], "This operation was aborted"),
    ],
)
async def test_an_abort(script, text):
    controller = AbortController()
    async with serving(script) as server, trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _abort():
            await trio.testing.wait_all_tasks_blocked(0.01)
            controller.abort()

        events = await told(server, signal=controller.signal, max_retries=1)
    last = events[-1]
    assert (last.reason, last.error.error_message) == ("aborted", text)
    assert last.error.text == ("Hello" if len(script) == 3 else "")


# --- too many strict tools --------------------------------------------------------------------------------

TOO_STRICT = json.dumps(
    {"type": "error", "error": {"type": "invalid_request_error", "message": "Too many strict tools (21)"}}
)


async def test_too_many_strict_tools_are_sent_again_as_of_1_6_0():
    adapter = AnthropicMessages()
    context = context_of(tools=(strict_tool("prefer"),))
    async with serving(refusal(400, TOO_STRICT), [head(), ANSWER]) as server:
        events = await told(server, model_with(STRICT), context, adapter, session_id="s")
        await told(server, model_with(STRICT), context, adapter, session_id="s")
        await told(server, model_with(STRICT), context, adapter, session_id="other")
        strict = ["strict" in json.loads(request.body)["tools"][0] for request in server.requests]
    assert strict == [True, False, False, True]
    (note,) = events[-1].message.diagnostics
    assert note.type == "anthropic_strict_tools_fallback"
    assert note.error.message.startswith("400 ")
    async with serving(refusal(400, TOO_STRICT), [head(), ANSWER]) as server:
        assert (await told(server, model_with(STRICT), context, dialect=DIALECT_1_0_3))[-1].type == "error"


async def test_tools_that_have_to_be_strict_are_not_sent_again():
    context = context_of(tools=(strict_tool("require"),))
    async with serving(refusal(400, TOO_STRICT), [head(), ANSWER]) as server:
        assert (await told(server, model_with(STRICT), context))[-1].type == "error"
        assert len(server.requests) == 1


# --- threads ----------------------------------------------------------------------------------------------

THREADS = {"supportsMessageThreads": True}


def refused_thread(code=None, message="no"):
    details = {} if code is None else {"details": {"error_code": code}}
    return refusal(400, json.dumps({"type": "error", "error": {"message": message, **details}}))


async def converse(server, *contexts, dialect=DIALECT_1_6_0, **fields):
    """Requests of one session, one after the other; gives the bodies, and the last message."""
    adapter = AnthropicMessages()
    message = None
    for context in contexts:
        messages = tuple(message if each is None else each for each in context.messages)
        events = await told(
            server,
            model_with(THREADS),
            attrs.evolve(context, messages=messages),
            adapter,
            session_id="s",
            dialect=dialect,
            **fields,
        )
        message = events[-1].message
    return [json.loads(request.body) for request in server.requests], message


FIRST, SECOND = context_of(prompt="Be brief."), context_of(USER, None, USER, prompt="Be brief.")


async def test_a_request_continues_the_one_before_as_of_1_6_0():
    async with serving([head(), ANSWER]) as server:
        (one, two), _ = await converse(server, FIRST, SECOND)
    assert one["thread"] == {"type": "create"}
    assert two["thread"] == {"type": "continue", "previous_message_id": "msg_1"}
    assert [message["role"] for message in two["messages"]] == ["user"]
    assert "system" in one
    assert "system" not in two
    for fields in ({"dialect": DIALECT_1_0_3}, {"disable_continuation": True}, {"cache_retention": "none"}):
        async with serving([head(), ANSWER]) as server:
            bodies, _ = await converse(server, FIRST, SECOND, **fields)
        assert not any("thread" in body for body in bodies)


@pytest.mark.parametrize(
    "context",
    [context_of(USER, None, USER, prompt="Be long."), context_of(USER, USER), context_of(None, USER)],
)
async def test_what_has_changed_begins_a_new_thread(context):
    async with serving([head(), ANSWER]) as server:
        (_, two), _ = await converse(server, FIRST, context)
    assert two["thread"] == {"type": "create"}


@pytest.mark.parametrize(
    ("scripts", "threads"),
    [
        ([refused_thread("thread_not_found")], ["create", "continue", "create", "create"]),
        ([refused_thread("thread_unsupported_request")], ["create", "continue", None, None]),
        (
            [refused_thread(None, "thread: Extra inputs are not permitted")],
            ["create", "continue", None, None],
        ),
    ],
)
async def test_a_thread_that_is_refused(scripts, threads):
    answer = [head(), ANSWER]
    async with serving(answer, *scripts, answer) as server:
        bodies, message = await converse(
            server, FIRST, SECOND, context_of(USER, None, USER, prompt="Be brief.")
        )
    kinds = [body["thread"]["type"] if "thread" in body else None for body in bodies]
    assert kinds == threads
    assert message.diagnostics is None


async def test_another_refusal_is_a_failure():
    answer = [head(), ANSWER]
    async with serving(answer, refused_thread("other", "thread"), answer) as server:
        adapter = AnthropicMessages()
        asked = [model_with(THREADS), FIRST, adapter]
        assert (await told(server, *asked, session_id="s"))[-1].type == "done"
        assert (await told(server, *asked, session_id="s"))[-1].type == "error"
        assert len(server.requests) == 2


# --- in an agent ------------------------------------------------------------------------------------------


async def test_an_agent():
    adapter = AnthropicMessages()

    def stream_fn(model, context, given):
        return adapter.stream_simple(model, context, attrs.evolve(provider_options(given), api_key=KEY))

    async with serving([head(), ANSWER]) as server:
        agent = Agent(stream_fn=stream_fn, model=at(server), system_prompt="Be brief.")
        assert (await agent.prompt("Hi")).text == "Hello"
        assert json.loads(server.requests[0].body)["system"][0]["text"] == "Be brief."


async def test_a_key_is_in_no_text(caplog):
    caplog.set_level(logging.DEBUG)
    for key in (KEY, TOKEN, KEY + "\n bad", KEY + "\u20ac"):
        async with serving(refusal(400, "no")) as server:
            given = options(api_key=key, headers={"x-more": key})
            assert KEY not in repr(given)
            assert TOKEN not in repr(given)
            async with AnthropicMessages().stream(at(server), context_of(), given) as stream:
                events = [event async for event in stream]
        shown = f"{events!r} {stream!r} {caplog.text}"
        assert KEY not in shown
        assert TOKEN not in shown
