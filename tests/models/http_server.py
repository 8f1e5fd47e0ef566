"""A real HTTP server on the loopback, whose answers are scripts: what it sends, when it waits, and how it ends.

    async with serving([Script(head(), b"data: 1\\n\\n", wait, b"data: 2\\n\\n")]) as server:
        ... server.url, server.requests, server.closed

Each connection is given the next script (the last one again when there are no more), and is closed behind it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import attrs
import h11
import trio


class Reset:
    """The connection is broken off."""


@attrs.define
class Request:
    target: str
    headers: dict[str, str]
    body: bytes


@attrs.define
class Server:
    """What the server has seen. `closed` counts the connections that a client has closed before their script ended."""

    url: str = ""
    requests: list[Request] = attrs.field(factory=list)
    closed: int = 0
    open: int = 0
    _changed: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot)

    def change(self) -> None:
        self._changed.unpark_all()

    async def until(self, condition) -> None:
        """Wait until something holds of it."""
        while not condition(self):
            await self._changed.park()


def head(status: int = 200, **headers: str) -> bytes:
    """The head of an answer whose body goes on until the connection is closed."""
    fields = {"content-type": "text/event-stream", "connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode("latin-1")


def refusal(status: int, body: str = "", **headers: str) -> tuple[bytes, ...]:
    return head(status, content_length=str(len(body.encode())), **headers), body.encode()


@asynccontextmanager
async def serving(*scripts: Sequence[object]) -> AsyncIterator[Server]:
    """A script is a sequence of bytes to send, `trio.Event`s to wait for, and perhaps `Reset` at its end."""
    server = Server()
    left = list(scripts)

    async def converse(stream: trio.SocketStream) -> None:
        script = left.pop(0) if len(left) > 1 else left[0]
        server.open += 1
        try:
            async with stream:
                request = await _request(stream)
                if request is None:
                    return
                server.requests.append(request)
                server.change()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_notice, stream, server, nursery.cancel_scope)
                    for step in script:
                        if isinstance(step, bytes):
                            await stream.send_all(step)
                        elif step is Reset:
                            stream.setsockopt(*_LINGER)
                        else:
                            await step.wait()  # type: ignore[attr-defined]
                    nursery.cancel_scope.cancel()
        except (trio.BrokenResourceError, h11.RemoteProtocolError):  # gone, perhaps within its request
            server.closed += 1
        finally:
            server.open -= 1
            server.change()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(partial(trio.serve_listeners, converse, [listener]))
        yield server
        nursery.cancel_scope.cancel()


async def _request(stream: trio.SocketStream) -> Request | None:
    """The request; None if the client has gone without one."""
    connection = h11.Connection(h11.SERVER)
    request = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.ConnectionClosed):
            return None
        else:
            assert isinstance(event, h11.EndOfMessage), event
            assert request is not None
            headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
            return Request(request.target.decode(), headers, bytes(body))


async def _notice(stream: trio.SocketStream, server: Server, scope: trio.CancelScope) -> None:
    """See that the client closes the connection."""
    try:
        if await stream.receive_some() == b"":
            server.closed += 1
    except trio.BrokenResourceError:
        server.closed += 1
    scope.cancel()


def _linger() -> tuple[int, int, bytes]:
    import socket
    import struct

    return socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)


_LINGER = _linger()
