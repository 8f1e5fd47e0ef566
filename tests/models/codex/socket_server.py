"""A real WebSocket server on the loopback, whose answers are scripts; it serves the event stream of a case, too.

Each message of a client is answered by the next script: texts are sent, an `Event` is waited for, `Close` and `Drop`
end the connection. A script that is bytes answers a POST, or refuses a handshake.
"""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import attrs
import h11
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, Request, TextMessage


@attrs.frozen
class Close:
    code: int = 1000
    reason: str = ""


class Drop:
    """The connection ends without a close frame."""


@attrs.define
class Seen:
    url: str = ""
    handshakes: int = 0
    messages: list[dict] = attrs.field(factory=list)
    posts: list[bytes] = attrs.field(factory=list)
    headers: list[dict] = attrs.field(factory=list)
    open: int = 0
    _changed: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot)

    async def until(self, condition) -> None:
        while not condition(self):
            await self._changed.park()

    def change(self) -> None:
        self._changed.unpark_all()


@asynccontextmanager
async def serving(*scripts, tls: ssl.SSLContext | None = None) -> AsyncIterator[Seen]:
    seen = Seen()
    left = list(scripts)

    async def converse(stream: trio.abc.Stream) -> None:
        seen.open += 1
        seen.change()
        try:
            async with stream:
                await _converse(stream, seen, left)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            pass
        finally:
            seen.open -= 1
            seen.change()

    async with trio.open_nursery() as nursery:
        if tls is None:
            serve: Any = partial(trio.serve_tcp, converse, 0, host="127.0.0.1")
        else:
            serve = partial(
                trio.serve_ssl_over_tcp, converse, 0, tls, host="127.0.0.1", https_compatible=True
            )
        (listener,) = await nursery.start(serve)
        plain = listener if tls is None else listener.transport_listener
        address = f"127.0.0.1:{plain.socket.getsockname()[1]}"
        seen.url = f"http://{address}" if tls is None else f"https://{address}"
        yield seen
        nursery.cancel_scope.cancel()


async def _converse(stream, seen, left) -> None:
    parser, raw, body = h11.Connection(h11.SERVER), b"", b""
    request = None
    while True:
        event = parser.next_event()
        if event is h11.NEED_DATA:
            data = await stream.receive_some()
            raw += data
            parser.receive_data(data)
        elif isinstance(event, h11.Request):
            request = event
            seen.headers.append({name.decode(): value.decode() for name, value in event.headers})
            if event.method == b"GET":
                break
        elif isinstance(event, h11.Data):
            body += event.data
        else:
            break
    if request is None:
        return
    if request.method == b"POST":
        seen.posts.append(bytes(body))
    else:
        seen.handshakes += 1
        if not left or not isinstance(left[0], bytes):
            await _speak(stream, raw, seen, left)
            return
    seen.change()
    await stream.send_all(left.pop(0))


async def _waited(stream, event) -> bool:
    """Wait for an event; whether it has come before the client has left."""
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def listen() -> None:
            with contextlib.suppress(trio.BrokenResourceError):
                while await stream.receive_some():
                    pass
            nursery.cancel_scope.cancel()

        await event.wait()
        nursery.cancel_scope.cancel()
    return event.is_set()


async def _speak(stream, raw, seen, left) -> None:
    socket = WSConnection(ConnectionType.SERVER)
    socket.receive_data(raw)
    while True:
        for event in socket.events():
            match event:
                case Request():
                    await stream.send_all(socket.send(AcceptConnection()))
                case TextMessage():
                    seen.messages.append(json.loads(event.data))
                    seen.change()
                    for step in left.pop(0):
                        if isinstance(step, trio.Event):
                            if not await _waited(stream, step):
                                return
                        elif isinstance(step, Close):
                            await stream.send_all(socket.send(CloseConnection(step.code, step.reason)))
                        elif isinstance(step, Drop):
                            return
                        else:
                            text = step if isinstance(step, str) else json.dumps(step)
                            await stream.send_all(socket.send(TextMessage(text)))
                case Ping():
                    await stream.send_all(socket.send(event.response()))
                case CloseConnection():
                    if socket.state.name == "REMOTE_CLOSING":
                        await stream.send_all(socket.send(event.response()))
                    return
        data = await stream.receive_some()
        if not data:
            return
        socket.receive_data(data)
