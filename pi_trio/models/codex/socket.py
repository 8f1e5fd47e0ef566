"""One WebSocket of the Codex endpoint, and the task that holds it.

trio-websocket reads a socket in a task of its own. Here that task, and the end of the socket, belong to another one:
`hold`, in a nursery of whoever owns the socket. When it is told to let go, or cancelled, the socket is closed, and
the nursery has nothing left of it. No failure of a socket comes out of its nursery; whoever waits for the socket gets
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import trio

from ..exchange import ResponseFailedError
from ..nursery import open_bare_nursery

if TYPE_CHECKING:
    from trio_websocket import WebSocketConnection

#: How long a close frame may take, in seconds. It need not be answered.
_CLOSING: Final = 0.05
_LARGEST: Final = 1 << 27
_BUFFER: Final = 1 << 16
_TOO_BIG: Final = 1009
#: There was no close frame.
_ABNORMAL: Final = 1006
_MISSING: Final = "asking Codex by WebSocket needs trio-websocket: pip install 'pi_trio[models]'"


class SocketFailedError(ResponseFailedError):
    """A WebSocket could not be opened, has been silent for too long, or has broken.

    Attributes:
        name: what Pi calls such an error.
        code: of the close frame, if there was one.
    """

    def __init__(self, text: str, *, name: str = "Error", code: int | None = None) -> None:
        super().__init__(text)
        self.name = name
        self.code = code


def _closed(code: int, reason: str | None) -> SocketFailedError:
    if code == _ABNORMAL:
        return SocketFailedError("WebSocket error")
    if not reason and code == _TOO_BIG:
        reason = "message too big"
    return SocketFailedError(
        f"WebSocket closed {code} {reason or ''}".rstrip(), name="WebSocketCloseError", code=code
    )


class Socket:
    """A WebSocket; open once `opened` has returned. One task at a time receives."""

    def __init__(self) -> None:
        self._scope: Final = trio.CancelScope()
        self._ready: Final = trio.Event()
        self._released: Final = trio.Event()
        self._connection: WebSocketConnection | None = None
        self._failure: SocketFailedError | None = None
        #: When it was opened, on trio's clock.
        self.since = 0.0

    async def hold(self, url: str, headers: Mapping[str, str]) -> None:
        """Open the socket, and close it when it is let go. To be started in the nursery that owns it."""
        try:
            with self._scope:
                await self._hold(url, headers)
        except Exception as error:
            self._failure = SocketFailedError(f"WebSocket failed: {_words(error)}")
        finally:
            self._ready.set()

    async def opened(self) -> None:
        """Wait until it is open.

        Raises:
            SocketFailedError: it could not be opened.
        """
        await self._ready.wait()
        if self._connection is None:
            raise self._failure or SocketFailedError("WebSocket failed")

    @property
    def is_open(self) -> bool:
        """Whether neither side has closed it."""
        return self._connection is not None and self._connection.closed is None

    def let_go(self) -> None:
        """Close it, with a close frame if there is time for one."""
        self._released.set()
        if self._connection is None:
            self._scope.cancel()

    def drop(self) -> None:
        """Close it at once."""
        self._scope.cancel()

    async def send(self, text: str) -> None:
        """Send a message.

        Raises:
            SocketFailedError: it is closed.
        """
        from trio_websocket import ConnectionClosed

        assert self._connection is not None
        try:
            await self._connection.send_message(text)
        except ConnectionClosed as closed:
            raise _why(closed) from None

    async def receive(self) -> str:
        """The next message.

        Raises:
            SocketFailedError: it is closed.
        """
        from trio_websocket import ConnectionClosed

        assert self._connection is not None
        try:
            message = await self._connection.get_message()
        except ConnectionClosed as closed:
            raise _why(closed) from None
        return message if isinstance(message, str) else message.decode("utf-8", "replace")

    async def _hold(self, url: str, headers: Mapping[str, str]) -> None:
        try:
            import trio_websocket
        except ImportError as error:
            raise ResponseFailedError(_MISSING) from error
        parts = urlsplit(url)
        stream = _WatchedStream(
            await _stream_to(parts.hostname or "", parts.port, secure=parts.scheme == "wss")
        )
        try:
            async with open_bare_nursery() as nursery:
                connection = None
                with trio.CancelScope() as handshake:
                    stream.on_end = handshake.cancel
                    connection = await trio_websocket.wrap_client_stream(
                        nursery,
                        cast("trio.SocketStream", stream),
                        parts.netloc.rpartition("@")[2],
                        parts.path + (f"?{parts.query}" if parts.query else ""),
                        extra_headers=_encoded(headers),
                        max_message_size=_LARGEST,
                        receive_buffer_size=_BUFFER,
                    )
                if connection is None:
                    raise SocketFailedError("the connection was closed in the handshake")
                stream.on_end = None
                self.since = trio.current_time()
                self._connection = connection
                self._ready.set()
                await self._released.wait()
                with trio.move_on_after(_CLOSING, shield=True):
                    await connection.aclose()
                nursery.cancel_scope.cancel()
        finally:
            await trio.aclose_forcefully(stream)


def _why(closed: Any) -> SocketFailedError:
    reason = closed.reason
    return SocketFailedError("WebSocket closed") if reason is None else _closed(reason.code, reason.reason)


def _words(error: BaseException) -> str:
    """What an error says; where it says nothing, its cause knows."""
    if (status := getattr(error, "status_code", None)) is not None:  # of a handshake that was refused
        return f"the handshake was answered with {status}"
    if not str(error) and error.__cause__ is not None:
        return _words(error.__cause__)
    return str(error) or type(error).__name__


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    try:
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
    except UnicodeEncodeError:
        raise SocketFailedError("a header cannot be sent") from None


async def _stream_to(host: str, port: int | None, *, secure: bool) -> trio.abc.Stream:
    if not secure:
        return await trio.open_tcp_stream(host, port or 80)
    from ..http import trusted_context

    context = await trio.to_thread.run_sync(trusted_context)
    stream = await trio.open_ssl_over_tcp_stream(
        host, port or 443, ssl_context=context, https_compatible=True
    )
    try:
        await stream.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return stream


class _WatchedStream(trio.abc.Stream):
    """A stream that tells when the other side has ended it: trio-websocket would wait for its handshake for ever."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self.on_end: Any = None

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        try:
            data = await self._stream.receive_some(max_bytes)
        except trio.BrokenResourceError:
            data = b""
        if not data and self.on_end is not None:
            self.on_end()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


async def open_socket(
    nursery: trio.Nursery, url: str, headers: Mapping[str, str], timeout_ms: float | None
) -> Socket:
    """A socket that is held by a task of `nursery`.

    Args:
        nursery: owns the socket.
        url: `ws:` or `wss:`.
        headers: of the handshake.
        timeout_ms: how long it may take to open, in milliseconds; None for no limit.

    Raises:
        SocketFailedError: it could not be opened in time. Cancelling the wait closes it.
    """
    socket = Socket()
    nursery.start_soon(partial(socket.hold, url, headers))
    try:
        with trio.move_on_after(float("inf") if timeout_ms is None else timeout_ms / 1000):
            await socket.opened()
            return socket
    except BaseException:
        socket.drop()
        raise
    socket.drop()
    raise SocketFailedError(f"WebSocket connect timeout after {timeout_ms:.0f}ms")
