"""Asking the Codex endpoint: by socket, by event stream, in the sockets of a session, and what is left of it."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager

import attrs
import pytest
import trio
import trio.testing
import trustme
import zstandard

from pi_trio.abort import AbortController
from pi_trio.messages import Model, UserMessage
from pi_trio.models import http
from pi_trio.models.codex import CodexResponses, CodexSessions
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

from .. import http_server
from .socket_server import Close, Drop, serving
from .test_reading import token

KEY = token({"chatgpt_account_id": "acc"})
CREATED = {"type": "response.created", "response": {"id": "r1"}}
ITEM = {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "hey"}]}
SAID = {"type": "response.output_item.done", "output_index": 0, "item": ITEM}
COMPLETED = {"type": "response.completed", "response": {"id": "r1", "status": "completed"}}
WHOLE = [CREATED, SAID, COMPLETED]
REFUSED = b"HTTP/1.1 403 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
STREAMED = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    b'data: {"type": "response.completed", "response": {"id": "r2"}}\n\n'
)


def model_at(url):
    return attrs.evolve(
        Model.unknown(), id="m", api="openai-codex-responses", provider="openai-codex", base_url=url
    )


def asking(*texts):
    return ModelContext(messages=tuple(UserMessage(content=text, timestamp=1) for text in texts))


async def told(adapter, seen, context=None, **options):
    options = ProviderOptions(**{"api_key": KEY, **options})
    async with adapter.stream(model_at(seen.url), context or asking("hi"), options) as stream:
        return [event async for event in stream]


def names(events):
    return [event.type for event in events]


async def test_a_response_by_socket():
    async with serving(WHOLE) as seen:
        events = await told(CodexResponses(), seen, session_id="s")
        await seen.until(lambda seen: not seen.open)
    assert names(events) == ["start", "text_start", "text_end", "done"]
    assert (seen.messages[0]["type"], seen.messages[0]["input"][-1]["role"]) == ("response.create", "user")
    assert seen.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (seen.headers[0]["chatgpt-account-id"], seen.headers[0]["session-id"]) == ("acc", "s")


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_response_by_a_secure_socket(tmp_path, monkeypatch, trusted):
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    ((trusted and authority) or trustme.CA()).cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    http.trusted_context.cache_clear()
    try:
        async with serving(WHOLE, tls=context) as seen:
            events = await told(CodexResponses(), seen)
            await seen.until(lambda seen: not seen.open)
    finally:
        http.trusted_context.cache_clear()
    assert names(events) == (["start", "text_start", "text_end", "done"] if trusted else ["error"])
    assert trusted or "certificate" in events[0].error.diagnostics[0].error.message.lower()


async def test_without_a_socket_the_event_stream_answers_and_the_session_stays_with_it():
    adapter = CodexResponses()
    async with serving(REFUSED, STREAMED, STREAMED) as seen:
        events = await told(adapter, seen, session_id="s")
        (note,) = events[-1].message.diagnostics
        assert (note.type, note.details["phase"]) == (
            "provider_transport_failure",
            "before_message_stream_start",
        )
        assert KEY not in repr(note)
        events = await told(adapter, seen, session_id="s")
        assert events[-1].message.diagnostics is None
    assert (seen.handshakes, len(seen.posts)) == (1, 2)
    sent = zstandard.ZstdDecompressor().decompressobj().decompress(seen.posts[0])
    assert sent.startswith(b'{"model":"m","store":false')


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", "WebSocket failed: the connection was closed in the handshake"),
        (REFUSED, "WebSocket failed: the handshake was answered with 403"),
    ],
)
async def test_why_there_is_no_socket(answer, text):
    async with serving(answer, STREAMED) as seen:
        (note,) = (await told(CodexResponses(), seen))[-1].message.diagnostics
    assert note.error.message == text


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (Close(1011, "bad"), "WebSocket closed 1011 bad"),
        (Close(1009), "WebSocket closed 1009 message too big"),
        (Drop(), "WebSocket error"),
        ("{", "Invalid Codex WebSocket JSON"),
        ({"type": "error", "message": "m"}, "Codex error: m"),
    ],
)
async def test_a_failure_behind_the_beginning(end, text):
    async with serving([CREATED, end]) as seen:
        events = await told(CodexResponses(), seen)
    assert names(events) == ["start", "error"]
    assert events[-1].error.error_message.startswith(text)
    noted = events[-1].error.diagnostics is not None
    assert noted == text.startswith("WebSocket ")


@pytest.mark.parametrize("transport", ["auto", "websocket-cached", "websocket", None])
async def test_a_session_goes_on_from_its_last_response(transport):
    async with serving(WHOLE, WHOLE) as seen, CodexSessions() as sessions:
        adapter = CodexResponses(sessions)
        (*_, last) = await told(adapter, seen, session_id="s", transport=transport)
        context = ModelContext(messages=(*asking("hi").messages, last.message, *asking("more").messages))
        await told(adapter, seen, context, session_id="s", transport=transport)
        assert (seen.handshakes, seen.open) == (1, 1)
    assert len(seen.messages) == 2
    again = seen.messages[1]
    if transport in ("auto", "websocket-cached"):
        assert (again["previous_response_id"], len(again["input"])) == ("r1", 1)
    else:
        assert "previous_response_id" not in again
        assert len(again["input"]) == 3


async def test_a_lost_response_is_asked_for_again_whole():
    lost = {"type": "error", "code": "previous_response_not_found", "message": "lost"}
    async with serving(WHOLE, [lost], WHOLE) as seen, CodexSessions() as sessions:
        adapter = CodexResponses(sessions)
        (*_, last) = await told(adapter, seen, session_id="s", transport="auto")
        context = ModelContext(messages=(*asking("hi").messages, last.message, *asking("more").messages))
        events = await told(adapter, seen, context, session_id="s", transport="auto")
    assert names(events) == ["start", "text_start", "text_end", "done"]
    assert [len(message["input"]) for message in seen.messages] == [1, 1, 3]
    assert seen.handshakes == 2


async def test_a_busy_socket_stays_with_its_request():
    hold = trio.Event()
    async with serving([CREATED, hold, *WHOLE[1:]], WHOLE) as seen, CodexSessions() as sessions:
        adapter = CodexResponses(sessions)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: told(adapter, seen, session_id="s"))
            await seen.until(lambda seen: seen.messages)
            await told(adapter, seen, session_id="s")
            hold.set()
        assert seen.handshakes == 2
        await seen.until(lambda seen: seen.open == 1)


async def test_sockets_end_with_their_owner_or_when_nobody_wants_them(autojump_clock):
    # Where the clock jumps, only a server in the same loop can be spoken to: this one is.
    async with serving(WHOLE, WHOLE) as seen:
        async with CodexSessions(idle=5) as sessions:
            await told(CodexResponses(sessions), seen, session_id="s")
            assert seen.open == 1
            await trio.sleep(4)
            assert seen.open == 1
            await seen.until(lambda seen: not seen.open)
            await told(CodexResponses(sessions), seen, session_id="s")
            assert seen.handshakes == 2
        await seen.until(lambda seen: not seen.open)


async def test_an_old_socket_gets_no_new_request(autojump_clock):
    async with serving(WHOLE, WHOLE) as seen, CodexSessions(idle=10_000) as sessions:
        await told(CodexResponses(sessions), seen, session_id="s")
        await trio.sleep(DIALECT_1_6_0.codex_socket_age)
        await told(CodexResponses(sessions), seen, session_id="s", dialect=DIALECT_0_85_0)
        assert seen.handshakes == 1  # which lets them grow older
        await trio.sleep(DIALECT_0_85_0.codex_socket_age)
        left = trio.Event()
        left.set()


async def test_a_socket_that_is_silent_for_too_long(autojump_clock):
    async with serving([CREATED, trio.Event()]) as seen:
        events = await told(CodexResponses(), seen, timeout_ms=200)
        await seen.until(lambda seen: seen.messages)
    assert events[-1].error.error_message == "WebSocket idle timeout after 200ms"


@pytest.mark.parametrize("after", range(4))
async def test_an_abort_leaves_nothing(after):
    controller = AbortController()
    steps = [*WHOLE[:after], trio.Event()]
    async with serving(steps) as seen:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def abort():
                await seen.until(lambda seen: seen.messages)
                await trio.testing.wait_all_tasks_blocked(0.02)
                controller.abort()

            events = await told(CodexResponses(), seen, signal=controller.signal)
        await seen.until(lambda seen: not seen.open)
    assert events[-1].type == ("done" if after == 3 else "error")
    assert after == 3 or events[-1].reason == "aborted"


@pytest.mark.parametrize(
    ("timeout_ms", "text"),
    [
        (None, "This operation was aborted"),
        (0.5, "This operation was aborted"),
        (60_000, "Request was aborted"),
    ],
)
async def test_what_is_said_of_an_abort_in_the_body(timeout_ms, text):
    controller = AbortController()
    async with (
        http_server.serving([http_server.head(), trio.Event()]) as server,
        trio.open_nursery() as nursery,
    ):

        @nursery.start_soon
        async def abort():
            await server.until(lambda server: server.requests)
            await trio.testing.wait_all_tasks_blocked(0.05)
            controller.abort()

        options = {"transport": "sse", "signal": controller.signal, "timeout_ms": timeout_ms}
        events = await told(CodexResponses(), server, **options)
    assert names(events) == ["start", "error"]
    assert (events[-1].reason, events[-1].error.error_message) == ("aborted", text)


@pytest.mark.parametrize("sessions", [None, CodexSessions])
@pytest.mark.parametrize("after", range(3))
async def test_leaving_and_cancelling_leave_nothing(after, sessions):
    owner = sessions() if sessions else CodexSessions()
    async with serving([*WHOLE[:after], trio.Event()]) as seen:
        adapter = CodexResponses(owner)
        with trio.move_on_after(5) as scope:
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def cancel():
                    await seen.until(lambda seen: seen.messages)
                    await trio.testing.wait_all_tasks_blocked(0.02)
                    scope.cancel()

                await told(adapter, seen, session_id="s")
        assert scope.cancelled_caught
        await seen.until(lambda seen: not seen.open)


async def test_an_error_of_the_caller_comes_out_bare():
    async with serving([CREATED, trio.Event()]) as seen:
        with pytest.raises(KeyError, match="mine"):
            async with CodexResponses().stream(
                model_at(seen.url), asking("hi"), ProviderOptions(api_key=KEY)
            ) as stream:
                async for _event in stream:
                    raise KeyError("mine")
        await seen.until(lambda seen: not seen.open)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"api_key": None}, "No API key for provider: openai-codex"),
        ({"api_key": "sk-secret"}, "Failed to extract accountId from token"),
        ({"timeout_ms": -1}, "Invalid timeoutMs: -1"),
        ({"websocket_connect_timeout_ms": float("nan")}, "Invalid timeoutMs: NaN"),
    ],
)
async def test_a_request_that_cannot_be_made(options, text):
    async with serving() as seen:
        (event,) = await told(CodexResponses(), seen, **options)
    assert event.error.error_message == text
    assert not seen.headers


async def test_a_simple_request_needs_a_key():
    with pytest.raises(ResponseFailedError, match="No API key"):
        CodexResponses().stream_simple(model_at("http://x"), asking("hi"), ProviderOptions())


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("how", ["abort", "cancel"])
@pytest.mark.parametrize("scripts", [[WHOLE, WHOLE], [REFUSED, STREAMED]])
async def test_an_end_at_any_moment_leaves_nothing(how, kept, scripts):
    """The response is ended after so many passes of the scheduler, from before its first to behind its last."""
    async with serving(*scripts * 40) as seen:
        for passes in range(0, 60, 2):
            controller = AbortController()
            async with CodexSessions() if kept else _nobody() as sessions, trio.open_nursery() as nursery:

                @nursery.start_soon
                async def end(passes=passes, controller=controller, nursery=nursery):
                    for _ in range(passes):
                        await trio.lowlevel.checkpoint()
                    if how == "abort":
                        controller.abort()
                    else:
                        nursery.cancel_scope.cancel()

                signal = controller.signal
                events = await told(CodexResponses(sessions), seen, session_id="s", signal=signal)
                assert events[-1].type in ("done", "error")
            await seen.until(lambda seen: not seen.open)


@asynccontextmanager
async def _nobody():
    yield None
