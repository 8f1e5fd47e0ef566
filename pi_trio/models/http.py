"""One request whose answer is streamed, over httpx: tries, pauses and failures, up to the bytes of the body.

    async with post_stream(request, signal=signal) as answer:
        while data := await answer.receive():
            ...

A try that fails before the answer begins may be repeated (`tries.py`); nothing is once the body has begun.

The signal ends every wait. Whatever ends a request, an abort, a cancellation, a failure or the end of the block, its
socket is closed when the block is left. What goes wrong is a `TransportError`.
"""

from __future__ import annotations

import re
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs
import trio

from ..abort import AbortSignal
from .transport_errors import (
    BodyFailedError,
    ConnectionFailedError,
    HeadersTimeoutError,
    RequestAbortedError,
    StatusError,
    TransportError,
)
from .tries import Retries

if TYPE_CHECKING:
    import httpx

    #: What sends requests. (By this name, others need not know of httpx.)
    Client: TypeAlias = httpx.AsyncClient

#: How long the headers of an answer may take where nobody says, in milliseconds.
DEFAULT_TIMEOUT_MS: Final = 600_000
#: How deep a cause is looked for.
_DEPTH: Final = 5
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
#: What every request says, unless it says otherwise. What is compressed arrives late and in lumps.
_PLAIN: Final = {"accept-encoding": "identity"}
#: A request is not tried again, unless somebody says so.
_NEVER: Final = Retries()
_MISSING: Final = "asking a provider needs httpx: pip install 'pi_trio[models]'"


# --- the request ------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PostRequest:
    """What is sent. The headers are all there are, but for those of HTTP itself."""

    url: str
    headers: Mapping[str, str] = attrs.field(repr=False)
    content: bytes = attrs.field(repr=lambda content: f"<{len(content)} bytes>")


# --- the answer -------------------------------------------------------------------------------------------


class HttpAnswer:
    """An answer whose body is still to be read.

    Attributes:
        status: of HTTP.
        headers: by their names in lower case.
    """

    def __init__(self, response: httpx.Response, signal: AbortSignal) -> None:
        self.status: Final = response.status_code
        self.headers: Final[Mapping[str, str]] = {
            name.decode("latin-1").lower(): response.headers[name.decode("latin-1")]
            for name, _ in response.headers.raw
        }
        self._raw: Final[AsyncIterator[bytes]] = response.aiter_raw()
        self._signal: Final = signal
        self._wait = trio.CancelScope()
        self._unregister: Final = signal.on_abort(self._abort)
        # None was asked for (`_PLAIN`), but some gateways always compress.
        packed = self.headers.get("content-encoding", "identity") in ("gzip", "x-gzip", "deflate")
        self._unpack: Final = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress if packed else None

    def _abort(self) -> None:
        self._wait.cancel()

    async def receive(self) -> bytes:
        """The next bytes of the body, as the network brings them; none when it is over.

        Goes through the scheduler if it has to wait for the network, and not if the bytes are here already.

        Raises:
            RequestAbortedError: the signal is raised.
            BodyFailedError: the connection is broken, or what came is no HTTP.
        """
        import httpx

        if self._signal.aborted:
            await trio.lowlevel.checkpoint()
            raise RequestAbortedError("nothing")
        try:
            # Not the signal's own scope: this happens once for each piece of a body.
            with trio.CancelScope() as self._wait:
                while True:
                    data = await anext(self._raw)
                    if self._unpack is not None:
                        data = self._unpack(data)
                    if data:
                        return data
        except StopAsyncIteration:
            return b""
        except (httpx.HTTPError, zlib.error) as error:
            raise BodyFailedError(_words(error)) from error
        assert self._wait.cancelled_caught
        raise RequestAbortedError("body")

    async def close(self) -> None:
        """Read no more. The body is a chain of generators of httpx, and each of them has to be left in order: so it is
        the innermost one, in its wait for the network, that is made to end them all.
        """
        import httpx

        self._unregister()
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                while True:
                    await anext(self._raw)
            except (StopAsyncIteration, httpx.HTTPError, httpx.StreamError):
                pass  # the body is given up: how it ends is nobody's business


@asynccontextmanager
async def post_stream(
    request: PostRequest,
    *,
    signal: AbortSignal,
    timeout_ms: float | None = None,
    retries: Retries = _NEVER,
    client: Client | None = None,
) -> AsyncGenerator[HttpAnswer]:
    """Send a request, and give its answer when the headers are there, status in the two hundreds.

    Args:
        request: what is sent.
        signal: ends every wait, in here and in `receive`.
        timeout_ms: how long the headers may take, in milliseconds; ten minutes by default. The body may take any time.
        retries: how often and when it is tried again.
        client: sends it; it stays open. Without one there is a new one, which is closed with the answer.

    Raises:
        StatusError, ConnectionFailedError, HeadersTimeoutError: by the last try.
        RetryTooLateError: the server asks for a pause that is too long.
        RequestAbortedError: the signal is raised.
    """
    async with _open_client(client) as sender:
        tries = 0
        while True:
            try:
                response = await _sent(sender, request, signal, timeout_ms)
                break
            except TransportError as failure:
                if tries >= retries.count or not retries.may_help(failure):
                    raise
                pause = retries.pause(failure, tries)
            tries += 1
            with signal.scope() as scope:
                await trio.sleep(pause)
            if scope.cancelled_caught:
                raise RequestAbortedError("answer")
        answer = HttpAnswer(response, signal)
        try:
            yield answer
        finally:
            with trio.CancelScope(shield=True):
                await answer.close()
                await response.aclose()


async def _sent(
    client: Client, request: PostRequest, signal: AbortSignal, timeout_ms: float | None
) -> httpx.Response:
    """One try: a good answer whose body is open, and any other as an error."""
    import httpx

    timeout = DEFAULT_TIMEOUT_MS if timeout_ms is None else timeout_ms
    with signal.scope() as aborted:
        try:
            with trio.move_on_after(timeout / 1000):
                # A redirection is not followed: a key goes nowhere but to the host that was named.
                response = await client.send(_prepared(request), stream=True, follow_redirects=False)
                if response.is_success:
                    return response
                return await _refused(response, signal)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ConnectionFailedError(_words(error)) from error
        raise HeadersTimeoutError
    assert aborted.cancelled_caught
    raise RequestAbortedError("answer")


def _prepared(request: PostRequest) -> httpx.Request:
    """The request for httpx; without what a client of httpx would say of itself.

    What cannot be sent is found here, for httpx would log it, and it may be a key.
    """
    import httpx

    headers: list[tuple[bytes, bytes]] = []
    for name, told in {**_PLAIN, **request.headers}.items():
        value = told.strip(" \t\r\n")
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ConnectionFailedError("a header cannot be sent")
        headers.append((name.encode("ascii"), value.encode("latin-1")))
    prepared = httpx.Request("POST", request.url, headers=headers, content=request.content)
    # Its own stream is an asynchronous generator, which nobody ends if the request is cut off while it is sent.
    prepared.stream = _body()(request.content)
    return prepared


@cache
def _body() -> Callable[[bytes], httpx.AsyncByteStream]:
    """The class of bodies, which needs that of httpx, and so is made when it is needed."""
    import httpx

    class WholeBody(httpx.AsyncByteStream):
        """A body in one piece, and its own iterator."""

        def __init__(self, content: bytes) -> None:
            self._left = [content]

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            if not self._left:
                raise StopAsyncIteration
            return self._left.pop()

    return WholeBody


async def _refused(response: httpx.Response, signal: AbortSignal) -> httpx.Response:
    answer = HttpAnswer(response, signal)
    pieces: list[bytes] = []
    try:
        while data := await answer.receive():
            pieces.append(data)
    except BodyFailedError:
        pass  # what has come has to do
    finally:
        with trio.CancelScope(shield=True):
            await answer.close()
            await response.aclose()
    body = b"".join(pieces).decode(errors="replace")
    raise StatusError(answer.status, answer.headers, body, response.reason_phrase)


@asynccontextmanager
async def _open_client(given: Client | None) -> AsyncGenerator[Client]:
    """The client that was given, or a new one for as long as the block takes."""
    if given is not None:
        yield given
        return
    client = new_client()
    try:
        yield client
    finally:
        with trio.CancelScope(shield=True):
            await client.aclose()


def new_client() -> Client:
    """A client, for many requests of one `trio.run`; to be closed by whoever asked for it.

    Raises:
        TransportError: httpx is not installed.
    """
    try:
        import httpx
    except ImportError as error:
        raise TransportError(_MISSING) from error
    return httpx.AsyncClient(verify=trusted_context(), timeout=None)  # noqa: S113  # each request has its own


@cache
def trusted_context() -> ssl.SSLContext:
    """Whom a client trusts. It takes long to make, and is the same for all."""
    import httpx

    return httpx.create_ssl_context()


def _words(error: BaseException) -> str:
    """What an error says, or its name where it says nothing; of its deepest cause, which knows best."""
    for _ in range(_DEPTH):
        error = error.__cause__ or error.__context__ or error
        if isinstance(error, BaseExceptionGroup):  # of one for each address that was tried
            error = error.exceptions[0]
    return str(error) or type(error).__name__
