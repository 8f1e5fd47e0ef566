"""The adapter over a real connection: requests as they are sent, answers and failures as they are told."""

from __future__ import annotations

import json

import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.openai_chat import OpenAIChat
from pi_trio.models.openai_chat.adapter import _with_reasons
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import StreamOptions

from ..http_server import head, refusal, serving
from ..modelling import context, model
from .chunks import delta
from .test_body import USER

KEY = "sk-secret"


def sse(*chunks):
    return b"".join(
        f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n".encode() for chunk in chunks
    )


async def told(server, options=None, *, simple=False, **fields):
    """The events of a response."""
    adapter = OpenAIChat()
    asked = model(api="openai-completions", **{"provider": "openai", "baseUrl": server.url, **fields})
    make = adapter.stream_simple if simple else adapter.stream
    options = ProviderOptions(api_key=KEY) if options is None else options
    async with make(asked, context(USER), options) as stream:
        return [event async for event in stream]


async def test_a_request_and_its_answer():
    async with serving((head(), sse(delta(content="hey"), delta("stop"), "[DONE]"))) as server:
        events = await told(server, StreamOptions(api_key=KEY, reasoning="high"), simple=True, reasoning=True)
    (request,) = server.requests
    assert request.target.endswith("/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(request.body)["reasoning_effort"] == "high"
    assert events[-1].message.text == "hey"


@pytest.mark.parametrize(
    ("compat", "named"),
    [
        ({}, set()),
        ({"sendSessionAffinityHeaders": True}, {"session_id", "x-client-request-id", "x-session-affinity"}),
        (
            {"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openai-nosession"},
            {"x-client-request-id", "x-session-affinity"},
        ),
        ({"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openrouter"}, {"x-session-id"}),
    ],
)
async def test_headers_of_the_session(compat, named):
    async with serving((head(), sse(delta("stop")))) as server:
        await told(server, ProviderOptions(api_key=KEY, session_id="mine"), compat=compat)
    assert {name for name, value in server.requests[0].headers.items() if value == "mine"} == named


async def test_headers_of_the_model_and_the_caller():
    options = ProviderOptions(api_key=KEY, headers={"X-One": "caller", "accept": None})
    async with serving((head(), sse(delta("stop")))) as server:
        await told(server, options, headers={"x-one": "model", "x-two": "model"})
    headers = server.requests[0].headers
    assert (headers["x-one"], headers["x-two"], headers.get("accept")) == ("caller", "model", None)


async def test_a_header_may_stand_for_the_key():
    options = ProviderOptions(headers={"Authorization": "Basic x"})
    async with serving((head(), sse(delta("stop")))) as server:
        await told(server, options)
    assert server.requests[0].headers["authorization"] == "Basic x"


async def test_no_key():
    async with serving(()) as server:
        (event,) = await told(server, ProviderOptions())
        assert event.error.error_message == "No API key for provider: openai"
        with pytest.raises(ResponseFailedError, match="No API key"):
            await told(server, ProviderOptions(), simple=True)


@pytest.mark.parametrize(
    ("status", "said", "text"),
    [
        (400, {"error": {"message": "bad"}}, '400: {"message":"bad"}'),
        (500, "", "500 status code (no body)"),
        (
            429,
            {"error": {"message": "m", "metadata": {"raw": 'up "x"'}}},
            '429: {"message":"m","metadata":{"raw":"up \\"x\\""}}\nup "x"',
        ),
        (
            402,
            {"error": {"message": "m", "metadata": {"raw": "up"}}},
            '402: {"message":"m","metadata":{"raw":"up"}}',
        ),
    ],
)
async def test_refusals(status, said, text):
    async with serving(refusal(status, json.dumps(said) if said else "")) as server:
        (event,) = await told(server)
    assert event.error.error_message == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"message": "busy"}, "busy"),
        ({"message": "busy", "metadata": {"raw": "up"}}, "busy\nup"),
        ("text", '"text"'),
    ],
)
async def test_an_error_in_the_middle(error, text):
    async with serving((head(), sse(delta(content="hey"), {"error": error}))) as server:
        *_, event = await told(server)
    assert (event.error.error_message, event.error.text) == (text, "hey")


async def test_a_raw_event_has_a_reason_since_1_6_0():
    seen = []
    for dialect in (DIALECT_1_6_0, DIALECT_0_85_0):
        options = ProviderOptions(
            api_key=KEY, dialect=dialect, on_provider_stream_event=lambda event, _: seen.append(event)
        )
        async with serving((head(), sse({"choices": [{"delta": {}}]}, delta("stop")))) as server:
            await told(server, options)
    assert [event["choices"][0]["finish_reason"] for event in seen] == [None, "stop"]


async def test_an_abort_in_the_body_ends_what_has_begun():
    controller = AbortController()
    adapter = OpenAIChat()
    async with serving((head(), sse(delta(content="hey")), trio.Event())) as server:
        asked = model(api="openai-completions", provider="openai", baseUrl=server.url)
        options = ProviderOptions(api_key=KEY, signal=controller.signal)
        events = []
        async with adapter.stream(asked, context(USER), options) as stream:
            async for event in stream:
                events.append(event)
                if event.type == "text_delta":
                    controller.abort()
    assert [event.type for event in events][-2:] == ["text_end", "error"]
    assert events[-1].reason == "aborted"


async def test_a_key_is_in_no_failure():
    for script in (refusal(401, "{}"), (head(), sse({"error": {"message": "no"}}))):
        async with serving(script) as server:
            *_, event = await told(server)
        assert KEY not in repr(event)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"index": 0}, {"finish_reason": None, "index": 0}),
        ("ab", {"finish_reason": None, "0": "a", "1": "b"}),
        ([7], {"finish_reason": None, "0": 7}),
        (True, {"finish_reason": None}),
    ],
)
def test_a_choice_is_told_with_a_reason_whatever_it_is(choice, told):
    assert _with_reasons({"choices": [choice]}) == {"choices": [told]}
