"""Asking by HTTP: one POST with a compressed body, answered by server-sent events.

The endpoint has a policy of its own for trying again: with tries left, any failure before the answer is worth one,
but for a usage limit that is used up and a pause that is too long. (T-49.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from ...jsonvalue import JSON
from ...messages import Model
from ..exchange import EndOfAnswer, ResponseFailedError, call_hook
from ..http import HttpAnswer, PostRequest, post_stream
from ..request_options import ProviderOptions
from ..transport_errors import ConnectionFailedError, HeadersTimeoutError, RequestAbortedError, StatusError
from .data_lines import DataLines
from .reading import Messages
from .refusals import asked_pause_ms, may_help, pause_ms, refusal
from .request import milliseconds

if TYPE_CHECKING:
    from ..http import Client

_USED_UP: Final = "usage limit"
_LEVEL: Final = 3


def packed(body: bytes) -> bytes:
    """A body as the endpoint takes it: compressed by zstd.

    Raises:
        ResponseFailedError: zstandard is not installed.
    """
    try:
        import zstandard
    except ImportError as error:
        missing = "asking Codex needs zstandard: pip install 'pi_trio[models]'"
        raise ResponseFailedError(missing) from error
    return zstandard.ZstdCompressor(level=_LEVEL).compress(body)


class EventStreamAnswer:
    """What comes back; a batch is what one read of the network completes."""

    def __init__(self, answer: HttpAnswer, messages: Messages) -> None:
        self._http = answer
        self._lines = DataLines()
        self._messages = messages
        self._texts: deque[str] = deque()  # that nobody has read
        self._over = False

    async def receive(self) -> Iterable[JSON]:
        """As `HttpAnswer.receive`.

        Raises:
            EndOfAnswer: the response has ended, or the body is over.
        """
        self._messages.check_ended()
        if not self._texts:
            if self._over:
                raise EndOfAnswer
            data = await self._http.receive()
            self._over = not data
            self._texts.extend(self._lines.feed(data) if data else self._lines.end())
        return await self._messages.read(self._texts) if self._texts else ()


@asynccontextmanager
async def open_event_stream(
    request: PostRequest, messages: Messages, *, model: Model, options: ProviderOptions, client: Client | None
) -> AsyncGenerator[EventStreamAnswer]:
    """Send a request, again if that may help; gives its answer when `on_response` has seen it.

    `messages` reads what comes.

    Raises:
        ResponseFailedError: the last try has failed.
        RequestAbortedError: the signal is raised.
    """
    async with AsyncExitStack() as stack:
        tries = 0
        while True:
            if options.signal.aborted:
                raise RequestAbortedError("nothing")
            try:
                answer = await stack.enter_async_context(_posted(request, model, options, client))
                break
            except RequestAbortedError:
                raise
            except Exception as failure:
                pause = _pause(failure, tries, options)
                if pause is None:
                    raise _told(failure) from failure
            tries += 1
            with options.signal.scope() as scope:
                await trio.sleep(pause / 1000)
            if scope.cancelled_caught:
                raise RequestAbortedError("answer")
        yield EventStreamAnswer(answer, messages)


@asynccontextmanager
async def _posted(
    request: PostRequest, model: Model, options: ProviderOptions, client: Client | None
) -> AsyncGenerator[HttpAnswer]:
    """One try."""
    timeout = milliseconds(options.timeout_ms) or None
    try:
        async with post_stream(request, signal=options.signal, timeout_ms=timeout, client=client) as answer:
            await _seen(answer.status, answer.headers, model, options)
            yield answer
    except HeadersTimeoutError:
        text = f"Codex SSE response headers timed out after {timeout or 0:.0f}ms"
        raise ResponseFailedError(text) from None
    except ConnectionFailedError as failure:
        cause = f": {failure.cause}" if options.dialect.connection_cause else ""
        raise ResponseFailedError(f"fetch failed{cause}") from None
    except StatusError as failure:
        await _seen(failure.status, failure.headers, model, options)
        raise


async def _seen(status: int, headers: object, model: Model, options: ProviderOptions) -> None:
    if options.on_response is not None:
        told = {"status": status, "headers": dict(headers)}  # type: ignore[call-overload]
        await call_hook(options.signal, options.on_response, told, model)


def _pause(failure: Exception, tries: int, options: ProviderOptions) -> float | None:
    """How long to wait before the next try, in milliseconds; None if there is none."""
    if tries >= (options.max_retries or 0):
        return None
    if isinstance(failure, StatusError) and may_help(failure.status, failure.body):
        asked = asked_pause_ms(failure.headers, options.max_retry_delay_ms)
        return pause_ms(tries) if asked is None else asked
    return None if _USED_UP in str(_told(failure)) else pause_ms(tries)


def _told(failure: Exception) -> Exception:
    """The failure in words for the user."""
    if isinstance(failure, StatusError):
        return ResponseFailedError(refusal(failure.status, failure.phrase, failure.body))
    return failure
