"""A subject behind a WebSocket: one message a text frame, and to start it again means to connect again.

The subject runs by itself, perhaps on another machine; the tester neither starts nor ends it, and does not
see its stderr. Its profile is what its `hello` says.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Self
from urllib.parse import urlsplit

import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    WebSocketConnection,
    wrap_client_stream,
)

from pi_trio.conformance.faults import ProtocolFault, SubjectDied, SubjectFault, SubjectUnstartable
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.protocol import LIMITS, Limits, Object, decode

from .remote import HELLO_WITHIN, PATIENCE, RemoteSubject

_CONNECT_WITHIN: Final = 10.0
"""Seconds for the connection and its handshake."""

_PARTING: Final = 2.0
"""Seconds for the closing handshake."""

_STATUS_LINE: Final = 64
"""Bytes in which the status of an answer stands."""

_TOO_BIG: Final = 1009
"""The code with which our own side closes the connection when a message is too long."""


class WebSocketSubject(RemoteSubject):
    """A connected subject; made by `open_websocket_subject`."""

    def __init__(self, connection: WebSocketConnection, patience: float, limits: Limits) -> None:
        super().__init__(patience, limits)
        self._connection = connection

    async def _send(self, text: str) -> None:
        try:
            await self._connection.send_message(text)
        except ConnectionClosed as closed:
            raise _end(closed, self._limits) from None

    async def _next(self) -> Object:
        try:
            frame = await self._connection.get_message()
        except ConnectionClosed as closed:
            raise _end(closed, self._limits) from None
        if not isinstance(frame, str):
            raise ProtocolFault("a message is a text frame, this one is binary")
        line = frame.encode("utf-8", "surrogatepass")
        self._count(line)
        return decode(line)


def _end(closed: ConnectionClosed, limits: Limits) -> SubjectDied | ProtocolFault:
    """What the end of a connection means."""
    reason = closed.reason
    if reason is None:
        return SubjectDied("the connection ended")
    if reason.code == _TOO_BIG:
        return ProtocolFault(f"a message is longer than {limits.line} bytes")
    said = f": {reason.reason}" if reason.reason else ""
    return SubjectDied(f"the connection ended with code {reason.code} ({reason.name}){said}")


@asynccontextmanager
async def open_websocket_subject(
    url: str,
    *,
    patience: float = PATIENCE,
    hello_within: float = HELLO_WITHIN,
    limits: Limits = LIMITS,
) -> AsyncGenerator[WebSocketSubject]:
    """Connect to a subject, and disconnect when the block is left.

    Args:
        url: `ws://…` or `wss://…`.
        patience: seconds for each reply.
        hello_within: seconds for the `hello`, once connected.
        limits: how much the subject may say.

    Raises:
        SubjectUnstartable: nobody is there, the connection was refused, or no valid `hello` came.
        SubjectDied: into the block, if the subject breaks the WebSocket protocol itself.
    """
    stage = "connecting"
    failed: BaseException | None = None
    line = _Line(url)
    try:
        with single_errors():
            async with line, trio.open_nursery() as nursery:
                with trio.fail_after(_CONNECT_WITHIN):
                    connection = await line.connect(nursery, limits)
                stage = "connected"
                try:
                    subject = WebSocketSubject(connection, patience, limits)
                    await subject.introduce(hello_within)
                    yield subject
                    stage = "over"
                except BaseException as error:
                    failed = error
                    raise
                finally:
                    with trio.move_on_after(_PARTING):  # not shielded: who is in a hurry just hangs up
                        await connection.aclose()
                    nursery.cancel_scope.cancel()
    except SubjectFault:
        raise
    except Exception as error:
        if error is failed:  # the block's own
            raise
        if stage == "connecting":
            raise SubjectUnstartable(_no_connection(error, line)) from None
        if stage == "connected":
            raise SubjectDied(f"it breaks the WebSocket protocol: {error!r:.200}") from error
        # How it says goodbye is no concern of ours.


class _Line:
    """The bytes below the WebSocket; closed with its block, whatever becomes of the WebSocket."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "wss"
        self._host = parts.hostname or ""
        self._port = (443 if self._secure else 80) if parts.port is None else parts.port
        self._place = parts.netloc.rpartition("@")[2]
        self._resource = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        self._stream: trio.abc.Stream | None = None
        self._answer: _Answer | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    async def connect(self, nursery: trio.Nursery, limits: Limits) -> WebSocketConnection:
        """Raises: OSError: nobody is there. (A refusal is raised into the nursery.)"""
        if self._secure:
            self._stream = await trio.open_ssl_over_tcp_stream(
                self._host, self._port, ssl_context=ssl.create_default_context(), https_compatible=True
            )
        else:
            self._stream = await trio.open_tcp_stream(self._host, self._port)
        scope = trio.CancelScope()
        self._answer = answer = _Answer(self._stream, scope)
        with scope:
            return await wrap_client_stream(
                nursery,
                answer,  # type: ignore[arg-type]  # it needs no more than a stream
                self._place,
                self._resource,
                max_message_size=limits.line,
            )
        raise SubjectUnstartable(answer.instead())

    def instead(self) -> str:
        """What came instead of a handshake; empty if nothing was tried."""
        return "" if self._answer is None else self._answer.instead()


class _Answer(trio.abc.Stream):
    """The bytes below the handshake. They show at once that there will be none, and then nobody waits for it.

    Args:
        scope: that of the wait for the handshake.
    """

    def __init__(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        self._stream = stream
        self._scope = scope
        self._begins = b""

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        if not data:
            self._scope.cancel()
        elif len(self._begins) < _STATUS_LINE:
            self._begins += bytes(data[:_STATUS_LINE])
            if self._status() not in ("", "101"):
                self._scope.deadline = trio.current_time() + _PARTING  # for its reasons
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        self._scope.cancel()  # what came was no handshake
        await self._stream.aclose()

    def _status(self) -> str:
        match = re.match(rb"HTTP/1\.[01] (\d{3})[ \r]", self._begins)
        return match[1].decode() if match else ""

    def instead(self) -> str:
        """What came instead of a handshake."""
        if self._status() not in ("", "101"):
            return f"refused with status {self._status()}"
        if not self._begins:
            return "the connection ended before the handshake"
        return f"what answers is no WebSocket: {ascii(self._begins)[2:-1]:.80}"


def _no_connection(error: Exception, line: _Line) -> str:
    """Why there is none."""
    match error:
        case ConnectionRejected(status_code=status, body=body):
            said = (body or b"").decode("utf-8", "replace").strip()
            return f"refused with status {status}{f': {said[:200]}' if said else ''}"
        case trio.TooSlowError():
            return f"no connection within {_CONNECT_WITHIN:g} seconds"
        case OSError():
            return error.strerror or str(error)
        case _:
            return line.instead() or str(error) or type(error).__name__
