"""A subject behind a real WebSocket: whatever it does comes out as a fault, within bounds."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket

from pi_trio.conformance.faults import (
    ProtocolFault,
    SubjectDied,
    SubjectFault,
    SubjectSilent,
    SubjectUnstartable,
)
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.protocol import REQUIRED_COMMANDS, Limits
from pi_trio.conformance.subjects.choice import websocket
from pi_trio.conformance.subjects.websocket import open_websocket_subject

HELLO = {
    "tell": "hello", "protocol": 1, "subject": "far away", "version": "1", "profile": "pi-1.6.0", "hooks": [],
    "commands": list(REQUIRED_COMMANDS),
}  # fmt: skip

Play = Callable[[WebSocketConnection], Awaitable[None]]


@asynccontextmanager
async def server(play: Play, *, refuse: int | None = None, hello: Any = HELLO) -> AsyncGenerator[str]:
    """A subject at a WebSocket, as its URL: says its hello, and then plays."""

    async def meet(request: WebSocketRequest) -> None:
        if refuse is not None:
            await request.reject(refuse, body=b"not now\x1b[2J\n")
            return
        connection = await request.accept()
        with suppress(ConnectionClosed, trio.BrokenResourceError, trio.ClosedResourceError):
            if hello is not None:
                await connection.send_message(json.dumps(hello))
            await play(connection)

    with single_errors():
        async with trio.open_nursery() as nursery:
            served = await nursery.start(partial(serve_websocket, meet, "127.0.0.1", 0, None))
            yield f"ws://127.0.0.1:{served.port}/here"
            nursery.cancel_scope.cancel()


def says(*frames: Any, after: Play | None = None) -> Play:
    """For each command: these frames."""

    async def play(connection: WebSocketConnection) -> None:
        command = json.loads(await connection.get_message())
        for frame in frames:
            text = (
                json.dumps(frame).replace('"$id"', str(command["id"])) if isinstance(frame, dict) else frame
            )
            await connection.send_message(text)
        if after is not None:
            await after(connection)
        await trio.sleep_forever()

    return play


async def deaf(connection: WebSocketConnection) -> None:
    await trio.sleep_forever()


async def request(play: Play, **options: Any) -> list[Any]:
    async with server(play) as url, open_websocket_subject(url, **{"patience": 10, **options}) as subject:
        return await subject.request({"id": 7, "cmd": "create"})


async def fault_of(kind: type[SubjectFault], play: Play, **options: Any) -> SubjectFault:
    with pytest.raises(kind) as caught:
        await request(play, **options)
    assert type(caught.value) is kind
    return caught.value


EVENT = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
REPLY = {"re": "$id", "ok": None}


async def test_one_message_a_frame() -> None:
    assert await request(says(EVENT, EVENT, REPLY)) == [EVENT, EVENT, {"re": 7, "ok": None}]


async def test_to_start_again_means_to_connect_again() -> None:
    async with server(says(REPLY)) as url:
        for _ in range(3):
            async with websocket(url, 10)() as subject:
                assert subject.hello["subject"] == "far away"
                await subject.request({"id": 1, "cmd": "create"})


async def test_a_subject_that_says_nothing_is_given_up() -> None:
    fault = await fault_of(SubjectSilent, says(EVENT), patience=0.2)
    assert fault.message == "no reply to create within 0.2 seconds"
    assert fault.received == (EVENT,)


async def test_a_subject_that_hangs_up_has_died() -> None:
    async def hang_up(connection: WebSocketConnection) -> None:
        await connection.aclose(4001, "had enough")

    fault = await fault_of(SubjectDied, says(EVENT, after=hang_up))
    assert fault.message.startswith("the connection ended with code 4001")
    assert fault.message.endswith(": had enough")
    assert fault.received == (EVENT,)


async def test_a_connection_that_breaks_is_a_death() -> None:
    async def cut(connection: WebSocketConnection) -> None:
        await trio.aclose_forcefully(connection._stream)

    fault = await fault_of(SubjectDied, says(after=cut))
    assert "1006" in fault.message


async def test_bytes_that_are_no_websocket_are_told() -> None:
    async def babble(connection: WebSocketConnection) -> None:
        await connection._stream.send_all(b"\xff\xff\xff\xff rubbish")

    fault = await fault_of(SubjectDied, says(after=babble))
    assert "1002" in fault.message


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("Hello", "not a JSON line"),
        ("[1]", "a message is an object"),
        ('{"re": 1}', "either ok or error"),
        (b"{}", "a message is a text frame, this one is binary"),
        ("", "not a JSON line"),
    ],
)
async def test_rubbish_is_quoted(frame: Any, told: str) -> None:
    assert told in (await fault_of(ProtocolFault, says(frame))).message


async def test_floods_and_long_messages_are_cut_off() -> None:
    flood = says(*[EVENT] * 30, REPLY)
    fault = await fault_of(ProtocolFault, flood, limits=Limits(messages=20))
    assert fault.message == "more than 20 messages in answer to create"
    fault = await fault_of(ProtocolFault, flood, limits=Limits(total=1000))
    assert fault.message == "more than 1000 bytes for one agent"
    fault = await fault_of(ProtocolFault, says("x" * 5000), limits=Limits(line=4000))
    assert fault.message == "a message is longer than 4000 bytes"


@pytest.mark.parametrize(
    ("hello", "told"), [({**HELLO, "protocol": 2}, "protocol 2"), ({}, "no valid hello")]
)
async def test_a_wrong_hello_is_refused(hello: Any, told: str) -> None:
    async with server(deaf, hello=hello) as url:
        with pytest.raises(SubjectUnstartable, match=told):
            async with open_websocket_subject(url):
                pass


async def test_a_hello_that_does_not_come_is_not_waited_for() -> None:
    async with server(deaf, hello=None) as url:
        with pytest.raises(SubjectUnstartable, match=r"no hello within 0\.2 seconds"):
            async with open_websocket_subject(url, hello_within=0.2):
                pass


async def test_a_refusal_is_told() -> None:
    async with server(deaf, refuse=503) as url:
        with pytest.raises(SubjectUnstartable) as caught:
            async with open_websocket_subject(url):
                pass
    assert caught.value.message == "refused with status 503: not now\x1b[2J"


@pytest.mark.parametrize(
    ("answer", "ends", "told"),
    [
        (b"", True, "the connection ended before the handshake"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", True, "refused with status 200"),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 1000000\r\n\r\nhello", False, "refused with status 302"),
        (b"\x1b[2J\0 rubbish\r\n\r\n", False, "what answers is no WebSocket: "),
        (b"SSH-2.0-x\r\n", True, "what answers is no WebSocket: SSH-2.0-x"),
        (b"HTTP/1.1 101 X\r\n" + b"A: b\r\n" * 50_000, False, "what answers is no WebSocket: HTTP/1.1 101"),
    ],
    ids=["nothing", "a page", "elsewhere", "rubbish", "another protocol", "endless headers"],
)
async def test_who_is_no_websocket_is_known_at_once(
    answer: bytes, ends: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a handshake may take."""
    monkeypatch.setattr("pi_trio.conformance.subjects.websocket._CONNECT_WITHIN", 1000.0)
    monkeypatch.setattr("pi_trio.conformance.subjects.websocket._PARTING", 0.2)

    async def speak(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        with suppress(trio.BrokenResourceError):
            await stream.send_all(answer)
        if not ends:
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, speak, [listener])
        port = listener.socket.getsockname()[1]
        with pytest.raises(SubjectUnstartable) as caught:
            async with open_websocket_subject(f"ws://127.0.0.1:{port}"):
                pass
        nursery.cancel_scope.cancel()
    assert caught.value.message.startswith(told)


async def test_nobody_at_home_is_told() -> None:
    async with server(deaf) as url:
        pass
    with pytest.raises(SubjectUnstartable, match="connect"):
        async with open_websocket_subject(url):
            pass


async def test_the_error_of_the_block_comes_out_as_it_is() -> None:
    async with server(deaf) as url:
        with pytest.raises(ZeroDivisionError):
            async with open_websocket_subject(url):
                raise ZeroDivisionError


async def test_cancelling_ends_the_connection() -> None:
    ended = trio.Event()

    async def watch(connection: WebSocketConnection) -> None:
        try:
            while True:
                await connection.get_message()
        finally:
            ended.set()

    with trio.fail_after(5):
        async with server(watch) as url:
            with trio.move_on_after(0.2) as scope:
                async with open_websocket_subject(url) as subject:
                    await subject.request({"id": 1, "cmd": "create"})
            assert scope.cancelled_caught
            await ended.wait()


@pytest.mark.parametrize("url", ["http://x", "ws://", "ws:x", "nothing"])
def test_what_is_no_url_of_a_websocket_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="begins with ws:// or wss:// and has a host"):
        websocket(url, 1)
