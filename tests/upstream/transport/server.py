"""The provider of the lockstep: one local server that plays the answers of many cases at once.

A client's base URL holds who it is and which case it has (`/p/17` is real Pi with case 17, `/o/17` this package),
so that all cases share one port. What is sent is written by hand, byte by byte, because most of it is wrong on
purpose; what is received is read by h11 and wsproto. Each chunk of a case is one HTTP chunk, which is what a
client's parser hands on whatever TCP did to it; where there are no HTTP chunks, a `hold` between two pieces keeps
them apart.

Every answer ends its connection, so that no request meets a connection that an earlier case has left behind.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, TypeAlias

import attrs
import h11
import trio
import zstandard

from .cases import Case, Step, data_of
from .websocket import speak

#: Told of a wait: what kind it is. Returns when the client has done what it can.
Waits: TypeAlias = Callable[[str], Awaitable[None]]

#: So long may a client take to hang up, in seconds; then the server does.
PATIENCE = 20

USED_UP: dict[str, Any] = {
    "status": 599,
    "headers": {"content-type": "text/plain"},
    "steps": ["the case has no more answers"],
}


@attrs.define
class Visitor:
    """One client with one case: the answers that it has still to get, and what it has asked."""

    answers: list[dict[str, Any]]
    waits: Waits
    requests: list[dict[str, Any]] = attrs.field(factory=list)
    connections: list[trio.CancelScope] = attrs.field(factory=list)
    _left: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot)

    def next_answer(self) -> dict[str, Any]:
        return self.answers.pop(0) if self.answers else USED_UP

    def leave(self, connection: trio.CancelScope) -> None:
        """A connection has ended."""
        self.connections.remove(connection)
        self._left.unpark_all()

    async def gone(self) -> None:
        """Return when all connections have ended."""
        while self.connections:
            await self._left.park()

    def peek(self) -> dict[str, Any]:
        return self.answers[0] if self.answers else USED_UP


@attrs.define
class Server:
    """Where the cases are answered."""

    port: int
    tls_port: int
    refused_port: int
    visitors: dict[str, Visitor] = attrs.field(factory=dict)

    def place(self, case: Case, side: str, number: int, waits: Waits) -> tuple[Case, Visitor]:
        """The case with the addresses of this server in it, and its visitor; `forget` it when the case is over."""
        key = f"{side}/{number}"
        self.visitors[key] = visitor = Visitor(list(case["answers"]), waits)
        places = {
            "{server}": f"http://127.0.0.1:{self.port}/{key}",
            "{tls}": f"https://localhost:{self.tls_port}/{key}",
            "{refused}": f"http://127.0.0.1:{self.refused_port}/{key}",
        }
        base_url = case["model"]["baseUrl"]
        for name, address in places.items():
            base_url = base_url.replace(name, address)
        placed = {name: value for name, value in case.items() if name != "answers"}
        return {**placed, "model": {**case["model"], "baseUrl": base_url}}, visitor

    def forget(self, side: str, number: int) -> None:
        """The case is over: what still serves it ends."""
        for scope in self.visitors.pop(f"{side}/{number}").connections:
            scope.cancel()

    async def serve(self, stream: trio.abc.Stream, sock: trio.socket.SocketType) -> None:
        """Answer one connection."""
        with trio.CancelScope() as scope:
            try:
                await _Connection(self, stream, sock, scope).run()
            except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
                pass  # the client has gone, which is its right
            finally:
                await trio.aclose_forcefully(stream)


@asynccontextmanager
async def open_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server on the loopback, on free ports; `tls` is the context of the second one."""
    async with trio.open_nursery() as nursery:
        plain, secure = [(await trio.open_tcp_listeners(0, host="127.0.0.1"))[0] for _ in range(2)]
        # Bound, and never listening: whoever connects is refused, and nobody else gets the port.
        with socket.socket() as refusing:
            refusing.bind(("127.0.0.1", 0))
            server = Server(
                plain.socket.getsockname()[1], secure.socket.getsockname()[1], refusing.getsockname()[1]
            )

            async def answer_plain(stream: trio.SocketStream) -> None:
                await server.serve(stream, stream.socket)

            async def answer_tls(stream: trio.SocketStream) -> None:
                assert tls is not None
                await server.serve(trio.SSLStream(stream, tls, server_side=True), stream.socket)

            nursery.start_soon(trio.serve_listeners, answer_plain, [plain])
            if tls is not None:
                nursery.start_soon(trio.serve_listeners, answer_tls, [secure])
            yield server
            nursery.cancel_scope.cancel()
            await secure.aclose()


@attrs.define
class _Connection:
    server: Server
    stream: trio.abc.Stream
    sock: trio.socket.SocketType
    scope: trio.CancelScope

    async def run(self) -> None:
        raw = b""
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        request: h11.Request | None = None
        body = bytearray()
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                data = await self.stream.receive_some(65536)
                raw += data if request is None else b""
                parser.receive_data(bytes(data))
            elif isinstance(event, h11.Request):
                request = event
                if dict(request.headers).get(b"upgrade", b"").lower() == b"websocket":
                    break
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
            else:  # gone before it had asked
                return
        assert request is not None
        _, side, number, *rest = request.target.decode().split("/", 3)
        visitor = self.server.visitors.get(f"{side}/{number}")
        if visitor is None:
            return  # of a case that is over
        visitor.connections.append(self.scope)
        try:
            await self._visited(visitor, request, "/" + (rest[0] if rest else ""), raw, bytes(body))
        finally:
            visitor.leave(self.scope)

    async def _visited(
        self, visitor: Visitor, request: h11.Request, target: str, raw: bytes, body: bytes
    ) -> None:
        """Answer a request of a visitor; `raw` is what came of it with its head, `body` what it said."""
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in request.headers}
        if request.method == b"GET":
            visitor.requests.append({"method": "WEBSOCKET", "target": target, "headers": headers})
            if "frames" in visitor.peek():
                await speak(self, visitor, raw)
                return
        else:
            said = _json(body, headers.get("content-encoding"))
            method = request.method.decode()
            visitor.requests.append({"method": method, "target": target, "headers": headers, "body": said})
        answer = visitor.next_answer()
        await self._say(USED_UP if "frames" in answer else answer, visitor.waits)  # it came by the other way

    async def _say(self, answer: dict[str, Any], waits: Waits) -> None:
        """Play an answer over HTTP."""
        framing = answer.get("framing", "chunked")
        for step in answer.get("before", ()):
            await self.wait(step, waits)
        if "status" in answer:
            await self.stream.send_all(_head(answer, framing))
        for step in answer["steps"]:
            data = data_of(step)
            if data is None:
                await self.wait(step, waits)
            elif data:
                await self.stream.send_all(
                    b"%x\r\n%b\r\n" % (len(data), data) if framing == "chunked" else data
                )
        end = answer.get("end", "end")
        if end == "end" and framing == "chunked":
            await self.stream.send_all(b"0\r\n\r\n")
        await self.leave(end, waits)

    async def wait(self, step: Step, waits: Waits) -> None:
        """Do what a step asks for that is no data."""
        assert isinstance(step, dict)
        kind = next(iter(step))
        if kind != "stall":
            await waits(kind)
        if kind != "hold":
            with trio.move_on_after(PATIENCE):
                while await self.stream.receive_some(65536):
                    pass

    async def leave(self, end: str, waits: Waits) -> None:
        """End the connection."""
        if end == "reset":
            await waits("hold")  # what was sent must have been read: a reset may overtake it
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.sock.close()
        elif isinstance(self.stream, trio.SocketStream):
            await self.stream.send_eof()
            with trio.move_on_after(PATIENCE):
                while await self.stream.receive_some(65536):
                    pass


def _head(answer: dict[str, Any], framing: str) -> bytes:
    status = answer["status"]
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Whatever"
    headers = dict(answer.get("headers", {}))
    if framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif framing == "length":
        headers["content-length"] = str(_length(answer["steps"]))
    if answer.get("end", "end") == "end":  # no other end leaves a connection that could be used again
        headers["connection"] = "close"
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} {reason}", *lines, "", ""]).encode()


def _length(steps: Sequence[Step]) -> int:
    return sum(len(data_of(step) or b"") for step in steps)


def _json(body: bytes, encoding: str | None) -> Any:
    """A body as JSON; its text where it is none."""
    if encoding == "zstd":
        body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
    try:
        return json.loads(body)
    except ValueError:
        return {"$text": body.decode("utf-8", "replace")}
