"""One request whose answer is streamed, over httpx: tries, pauses and failures, up to the bytes of the body.

    async with post_stream(request, signal=signal) as answer:
        while data := await answer.receive():
            ...

A try that fails before the answer begins may be repeated (`tries.py`); nothing is once the body has begun.

The signal ends every wait. Whatever ends a request, an abort, a cancellation, a failure or the end of the block, its
socket is closed when the block is left. What goes wrong is a `TransportError`.
"""

from __future__ import annotations

import codecs
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
from .content_encoding import unpacker
from .transport_errors import (
    BodyFailedError,
    ConnectionFailedError,
    HeadersTimeoutError,
    MalformedAnswerError,
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
#: What is read of the body of a refusal, in bytes: it goes into an error text.
_REFUSAL: Final = 64 * 1024
#: How deep a cause is looked for.
_DEPTH: Final = 5
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_AROUND: Final = " \t\r\n"  # a value, and not sent
#: What every request says, unless it says otherwise. What is compressed arrives late and in lumps.
_PLAIN: Final = {"accept-encoding": "identity"}
#: A request is not tried again, unless somebody says so.
_NEVER: Final = Retries()
_MISSING: Final = "asking a provider needs httpx: pip install 'pi_trio[models]'"


#: What stands before the user's name, and the user with all that belongs to it.
_USER: Final = re.compile(r"^((?:[^/?#]*:)?//)?[^/?#]*@")
_NO_USER: Final = "the address of a provider has no user and no password in it"


def without_user(url: str) -> str:
    """A URL as it can be shown: without a user's name and password."""
    return _USER.sub(r"\1", url.strip())


# --- the request ------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PostRequest:
    """What is sent. The headers are all there are, but for those of HTTP itself."""

    url: str = attrs.field(repr=lambda url: repr(without_user(url)))
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
        self._unpacker: Final = unpacker(self.headers.get("content-encoding", ""))

    def _abort(self) -> None:
        self._wait.cancel()

    async def receive(self) -> bytes:
        """The next bytes of the body, as the network brings them; none when it is over.

        Goes through the scheduler if it has to wait for the network, and not if the bytes are here already.

        Raises:
            RequestAbortedError: the signal is raised.
            BodyFailedError: the connection is broken, or what came is no HTTP.
            MalformedAnswerError: the body is encoded in a way that nobody knows.
        """
        import httpx

        if self._signal.aborted:
            await trio.lowlevel.checkpoint()
            raise RequestAbortedError("nothing")
        try:
            # Not the signal's own scope: this happens once for each piece of a body.
            with trio.CancelScope() as self._wait:
                if self._unpacker is not None and (data := self._unpacker.take()):
                    # Much may have been packed into little, and it is others' time that it takes.
                    await trio.lowlevel.checkpoint()
                    return data
                while True:
                    data = await anext(self._raw)
                    if self._unpacker is not None:
                        self._unpacker.give(data)
                        data = self._unpacker.take()
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
        TransportError: there is a user in the URL, whose password would be sent in place of a key.
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


def can_be_sent(value: str) -> bool:
    """Whether a header can have this value, as a key has to be sent in one."""
    return _VALUE.fullmatch(value.strip(_AROUND)) is not None


def _prepared(request: PostRequest) -> httpx.Request:
    """The request for httpx; without what a client of httpx would say of itself.

    What cannot be sent is found here, for httpx would log it, and it may be a key.
    """
    import httpx

    if _USER.match(request.url.strip()):
        raise TransportError(_NO_USER)
    headers: list[tuple[bytes, bytes]] = []
    for name, told in {**_PLAIN, **request.headers}.items():
        if not _NAME.fullmatch(name) or not can_be_sent(told):
            raise ConnectionFailedError("a header cannot be sent")
        headers.append((name.encode("ascii"), told.strip(_AROUND).encode("latin-1")))
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
    """The refusal that an answer is, as an error."""
    answer = HttpAnswer(response, signal)
    try:
        body = await _refusal_text(answer)
    finally:
        with trio.CancelScope(shield=True):
            await answer.close()
            await response.aclose()
    raise StatusError(answer.status, answer.headers, body, response.reason_phrase)


async def _refusal_text(answer: HttpAnswer) -> str:
    """What a refusal says; of very much, the beginning."""
    body = b""
    try:
        while len(body) <= _REFUSAL and (data := await answer.receive()):
            body += data
    except BodyFailedError:
        pass  # what has come has to do
    except MalformedAnswerError as error:
        return str(error)
    if len(body) <= _REFUSAL:
        return body.decode(errors="replace")
    # Not through the middle of a character.
    return codecs.getincrementaldecoder("utf-8")("replace").decode(body[:_REFUSAL]) + "…"


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
