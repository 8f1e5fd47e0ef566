"""Asking the Responses API of a server: what comes back, and what is left of it."""

from __future__ import annotations

import json

import attrs
import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.messages import Model, UserMessage
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.openai_responses import OpenAIResponses
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

from ..http_server import head, refusal, serving

KEY = "sk-secret-0123"
CONTEXT = ModelContext(messages=(UserMessage(content="hi", timestamp=1),))
CREATED = {"type": "response.created", "response": {"id": "r"}}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "m"}}
DELTA = {"type": "response.output_text.delta", "output_index": 0, "delta": "hey"}
COMPLETED = {"type": "response.completed", "response": {"status": "completed"}}


def sse(*events):
    return "".join(
        f"data: {json.dumps(event) if isinstance(event, dict) else event}\n\n" for event in events
    ).encode()


def model_at(server, provider="openai"):
    return attrs.evolve(
        Model.unknown(), id="m", api="openai-responses", provider=provider, base_url=server.url
    )


async def told(server, *, provider="openai", **options):
    options = ProviderOptions(**{"api_key": KEY, **options})
    async with OpenAIResponses().stream(model_at(server, provider), CONTEXT, options) as stream:
        return [event async for event in stream]


async def test_a_response():
    async with serving([head(), sse(CREATED, ADDED, DELTA, COMPLETED)]) as server:
        events = await told(server)
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "done"]
    assert server.requests[0].target.endswith("/responses")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(server.requests[0].body)["input"][0]["role"] == "user"


async def test_nothing_counts_behind_done():
    async with serving([head(), sse(CREATED, COMPLETED, "[DONE]", "no json")]) as server:
        events = await told(server)
    assert events[-1].type == "done"


@pytest.mark.parametrize(
    ("dialect", "provider", "text"),
    [
        (DIALECT_0_85_0, "xai", 'OpenAI API error (400): {"message":"no"}'),
        (DIALECT_1_0_3, "xai", 'xai API error (400): {"message":"no"}'),
        (DIALECT_1_6_0, "openai", 'OpenAI API error (400): {"message":"no"}'),
    ],
)
async def test_a_refusal(dialect, provider, text):
    async with serving(refusal(400, '{"error": {"message": "no"}}')) as server:
        (event,) = await told(server, dialect=dialect, provider=provider)
    assert event.error.error_message == text
    assert KEY not in repr(event)


@pytest.mark.parametrize(
    ("code", "dialect", "hint"),
    [
        ("subscription_sharing_usage_limit_exceeded", DIALECT_0_85_0, None),
        ("subscription_sharing_usage_limit_exceeded", DIALECT_1_0_3, "Check your ChatGPT usage"),
        ("subscription_sharing_workplace_individual_usage_limit_exceeded", DIALECT_1_0_3, None),
        ("subscription_sharing_workplace_individual_usage_limit_exceeded", DIALECT_1_6_0, "workspace"),
    ],
)
async def test_a_limit_is_explained(code, dialect, hint):
    async with serving(refusal(429, json.dumps({"error": {"code": code}}))) as server:
        (event,) = await told(server, dialect=dialect)
    lines = event.error.error_message.split("\n")
    assert (hint in lines[1]) if hint else len(lines) == 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("no json", "Error reading response: malformed server-sent event JSON."),
        ('{"error": {"message": "m"}}', "m"),
        ('{"error": {"code": 7}}', '{"code":7}'),
        ("null", "The provider's stream is malformed: null is no event"),
    ],
)
async def test_data_that_are_an_error(data, text):
    async with serving([head(), sse(CREATED, data)]) as server:
        events = await told(server)
    assert events[-1].error.error_message == text


@pytest.mark.parametrize("come", [(), (CREATED, ADDED), (CREATED, ADDED, DELTA)])
async def test_an_abort_leaves_nothing(come):
    controller = AbortController()
    async with serving([head(), sse(*come), trio.Event()]) as server:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def abort():
                await server.until(lambda server: server.requests)
                controller.abort()

            events = await told(server, signal=controller.signal)
        await server.until(lambda server: not server.open)
    assert events[-1].reason == "aborted"


async def test_a_simple_request():
    async with serving([head(), sse(COMPLETED)]) as server:
        model = attrs.evolve(model_at(server), reasoning=True)
        options = ProviderOptions(api_key=KEY, reasoning="max")
        async with OpenAIResponses().stream_simple(model, CONTEXT, options) as stream:
            assert (await stream.result()).stop_reason == "stop"
        body = json.loads(server.requests[0].body)
    assert (body["reasoning"]["effort"], body["max_output_tokens"]) == ("high", 16)
    with pytest.raises(ResponseFailedError, match="No API key for provider: openai"):
        OpenAIResponses().stream_simple(model, CONTEXT, ProviderOptions())
