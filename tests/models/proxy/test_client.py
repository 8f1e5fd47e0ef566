"""The proxy's client: at our server, and at servers that do what they should not."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
import trio.testing

from pi_trio import Agent, tool
from pi_trio.abort import AbortController
from pi_trio.codec import unstructure
from pi_trio.messages import UserMessage
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.proxy import stream_proxy
from pi_trio.models.proxy.client import ABORTED
from pi_trio.models.proxy.reader import CLOSED
from pi_trio.models.proxy.server import Offer, serve_proxy
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.scripted import DEFAULT_MODEL, ScriptedProvider, assistant, thinking, tool_call
from pi_trio.models.stream import ModelContext, ResponseStream, StreamOptions

from .bytes_told import line

CONTEXT = ModelContext(messages=(UserMessage(content="Hello", timestamp=1),))
USAGE = unstructure(assistant().usage)
START = line({"type": "start"}) + line({"type": "text_start", "contentIndex": 0})
DELTA = line({"type": "text_delta", "contentIndex": 0, "delta": "Hi"})
DONE = line({"type": "done", "reason": "stop", "usage": USAGE})


@asynccontextmanager
async def serving(ask, model=DEFAULT_MODEL):
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(serve_proxy, [Offer(model, ask)], token="t0ken"))
        yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


class Answering:
    """A server that sends bytes, and does not close what it has sent them on before it is told to."""

    def __init__(self, *pieces, close=True):
        self.pieces = pieces
        self.close = close
        self.left = trio.Event()
        self.requests = []

    async def serve(self, stream):
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request or not request.endswith(b"}}"):
                request += await stream.receive_some()
            self.requests.append(request)
            for piece in self.pieces:
                await stream.send_all(piece)
            if not self.close:
                with suppress(trio.BrokenResourceError):
                    while await stream.receive_some():
                        pass
                self.left.set()

    @asynccontextmanager
    async def __call__(self):
        async with trio.open_nursery() as nursery:
            listeners = await nursery.start(partial(trio.serve_tcp, self.serve, 0, host="127.0.0.1"))
            yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
            nursery.cancel_scope.cancel()


HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"


async def told(url, token="t0ken", *, model=DEFAULT_MODEL, **options):
    ask = stream_proxy(url, token)
    async with ask(model, CONTEXT, StreamOptions(**options)) as stream:
        events = [event async for event in stream]
        last = events[-1]
        assert await stream.result() is (last.message if last.type == "done" else last.error)
        return events


async def failure(url, *args, **options):
    """The text of a response that has failed before it began."""
    (event,) = await told(url, *args, **options)
    assert (event.type, event.error.content) == ("error", ())
    return event.error.error_message


# --- at our server ----------------------------------------------------------------------------------------


async def test_events_come_through():
    message = assistant(
        thinking("Hm"), "I add. Ünïcode 😀", tool_call("add", {"a": 1}), stop_reason="toolUse"
    )
    provider = ScriptedProvider([message])
    async with serving(provider.stream) as url:
        events = await told(url)
    assert [event.type for event in events if not event.type.endswith("_delta")] == [
        "start", "thinking_start", "thinking_end", "text_start", "text_end", "toolcall_start", "toolcall_end", "done",
    ]  # fmt: skip
    done = events[-1].message
    assert (done.content, done.stop_reason) == (message.content, "toolUse")
    assert done.usage.output > 0
    assert done.duration_ms is not None


async def test_an_agent_asks_through_a_proxy():
    @tool
    def add(a: int, b: int) -> str:
        """Add."""
        return str(a + b)

    script = [assistant(tool_call("add", {"a": 2, "b": 3}), stop_reason="toolUse"), assistant("It is 5.")]
    provider = ScriptedProvider(script)
    async with serving(provider.stream) as url:
        agent = Agent(model=provider.models[0], stream_fn=stream_proxy(url, "t0ken"), tools=[add])
        result = await agent.prompt("What is 2 + 3?")
    assert result.raise_for_error().text == "It is 5."


async def test_what_is_asked_arrives():
    asked = []

    def ask(model, context, options):
        asked.append((context, options))
        return ScriptedProvider([assistant("Yes")]).stream(model, context, options)

    given = ProviderOptions(
        temperature=0.5, max_tokens=9, reasoning="low", session_id="s", headers={"x-a": "1"}, api_key="s3cret"
    )
    async with serving(ask) as url, stream_proxy(url, "t0ken")(DEFAULT_MODEL, CONTEXT, given) as stream:
        await stream.result()
    ((context, options),) = asked
    assert context == CONTEXT
    for name in ("temperature", "max_tokens", "reasoning", "session_id", "headers"):
        assert getattr(options, name) == getattr(given, name)
    assert options.api_key is None  # it stays where it is


@pytest.mark.parametrize("waits", [False, True])
async def test_the_token_may_be_asked_for(waits):
    async def later():
        await trio.lowlevel.checkpoint()
        return "t0ken"

    async with serving(ScriptedProvider([assistant("Hi")]).stream) as url:
        assert (await told(url, later if waits else lambda: "t0ken"))[-1].type == "done"


async def test_a_token_that_cannot_be_had():
    def fail():
        raise ValueError("not logged in")

    assert await failure("http://127.0.0.1:1", fail) == "not logged in"


async def test_a_stranger_is_told_why():
    async with serving(ScriptedProvider().stream) as url:
        assert await failure(url, "guessed") == "Proxy error: the token is not right"
        assert "there is scripted/scripted-1" in await failure(
            url, model=ScriptedProvider(provider="other").models[0]
        )


async def test_an_abort_reaches_the_model():
    aborted = trio.Event()

    @asynccontextmanager
    async def held(model, context, options):
        options.signal.on_abort(aborted.set)
        stream, builder = ResponseStream(), ResponseBuilder(model)
        for event in (builder.start(), builder.text_start(), builder.text_delta("He")):
            stream.push(event)
        yield stream

    controller = AbortController()
    ask = None
    async with serving(held) as url:
        ask = stream_proxy(url, "t0ken")
        async with ask(DEFAULT_MODEL, CONTEXT, StreamOptions(signal=controller.signal)) as stream:
            async for event in stream:
                if event.type == "text_delta":
                    controller.abort()
        await aborted.wait()
    assert (event.type, event.reason, event.error.error_message) == ("error", "aborted", ABORTED)
    assert event.error.text == "He"


async def test_leaving_a_response_reaches_the_model():
    server = Answering(HEAD, START, DELTA, close=False)
    async with server() as url:
        async with stream_proxy(url, "t")(DEFAULT_MODEL, CONTEXT, StreamOptions()) as stream:
            assert (await anext(stream)).type == "start"
        await server.left.wait()


@pytest.mark.parametrize("pieces", [(), (HEAD,), (HEAD, START, DELTA)])
async def test_a_cancellation_anywhere_leaves_nothing(pieces):
    server = Answering(*pieces, close=False)
    async with server() as url:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def stop():
                    await trio.testing.wait_all_tasks_blocked(0.01)
                    scope.cancel()

                nursery.start_soon(stop)
                await told(url)
        assert scope.cancelled_caught
        await server.left.wait()


# --- at others --------------------------------------------------------------------------------------------


async def test_the_request_is_that_of_pi():
    server = Answering(HEAD, START, DELTA, DONE)
    async with server() as url:
        await told(f"{url}/", "s3same", session_id="s")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *fields = head.decode().lower().split("\r\n")
    assert first == "post /api/stream http/1.1"
    assert {"authorization: bearer s3same", "content-type: application/json"} <= set(fields)
    assert body.startswith(b'{"model":{"id":"scripted-1",')
    assert body.endswith(
        b'"context":{"messages":[{"role":"user","content":"Hello","timestamp":1}]},'
        b'"options":{"sessionId":"s","transport":"auto"}}'
    )


async def test_nobody_listens():
    with trio.socket.socket() as taken:
        await taken.bind(("127.0.0.1", 0))
        text = await failure(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert text.startswith("The proxy cannot be reached: ")
    assert text.endswith("Connection refused")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 500 Oops\r\n\r\n", "Proxy error: 500 Internal Server Error"),
        (b'HTTP/1.1 429 x\r\n\r\n{"error":"slow down"}', "Proxy error: slow down"),
        (b'HTTP/1.1 400 x\r\n\r\n{"error":{"code":1}}', 'Proxy error: {"code":1}'),
        (b'HTTP/1.1 400 x\r\n\r\n{"error":""}', "Proxy error: 400 Bad Request"),
        (b"HTTP/1.1 403 x\r\n\r\nnull", "Proxy error: 403 Forbidden"),
        (b"HTTP/1.1 599 x\r\n\r\n[", "Proxy error: 599"),
        (b"HTTP/1.1 307 x\r\nlocation: http://other.example/\r\n\r\n", "Proxy error: 307 Temporary Redirect"),
        (b"HTTP/1.1 204 x\r\n\r\n", CLOSED),
        (HEAD, CLOSED),
        (b"hello\r\n\r\n", "The proxy cannot be reached: "),
        (b"", "The proxy cannot be reached: "),
    ],
)  # fmt: skip
async def test_an_answer_that_is_none(answer, text):
    async with Answering(answer)() as url:
        assert (await failure(url)).startswith(text)


async def test_a_stream_that_breaks_keeps_what_has_come():
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"
    async with Answering(head, START, DELTA)() as url:
        *_, event = await told(url)
    assert event.error.text == "Hi"
    assert event.error.error_message.startswith("The proxy's answer was cut off: ")


async def test_a_stream_that_ends_early_keeps_what_has_come():
    async with Answering(HEAD, START, DELTA)() as url:
        *_, event = await told(url)
    assert (event.error.text, event.error.error_message) == ("Hi", CLOSED)


async def test_a_response_that_is_done_is_over_though_its_answer_is_not():
    server = Answering(HEAD, START + DELTA + DONE, close=False)
    async with server() as url:
        assert (await told(url))[-1].message.text == "Hi"
        await server.left.wait()


async def test_an_abort_before_the_request():
    controller = AbortController()
    controller.abort()
    (event,) = await told("http://127.0.0.1:1", signal=controller.signal)
    assert (event.reason, event.error.error_message) == ("aborted", ABORTED)


async def test_an_abort_ends_the_wait_for_a_token():
    controller = AbortController()

    async def token():
        controller.abort()
        await trio.sleep_forever()

    with trio.fail_after(5):
        (event,) = await told("http://127.0.0.1:1", token, signal=controller.signal)
    assert (event.reason, event.error.error_message) == ("aborted", ABORTED)
