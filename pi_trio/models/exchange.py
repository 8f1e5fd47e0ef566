"""One exchange with a provider: the frame that all adapters share.

An adapter brings two things. It *opens* the answer: an async context manager that sends the request, and gives what
the provider says, batch by batch. And it *reads* it: a `Reader`, which knows what the provider's events mean and makes
the events of a response of them, without waiting for anything. The `Exchange` between them is the stream that the loop
gets:

- the request is made when the first event is asked for, and one batch at a time is read, so memory holds no more of an
  answer than the network brought at once;
- whatever goes wrong becomes the terminal event that the reader makes of it, aborted if the signal is raised;
- when that event is made, or the stream is left, the answer is closed; nothing of it runs in the background.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final, Protocol, Self, TypeAlias

import attrs
import trio

from ..abort import AbortSignal
from ..errors import PiTrioError
from ..events import StreamDone, StreamError, StreamEvent
from ..messages import AssistantMessage, Model
from .request_options import ProviderOptions
from .stopwatch import Stopwatch
from .transport_errors import (
    BodyFailedError,
    ConnectionFailedError,
    HeadersTimeoutError,
    RequestAbortedError,
    RetryTooLateError,
    StatusError,
    TransportError,
)

logger: Final = logging.getLogger("pi_trio")


class ResponseFailedError(PiTrioError):
    """What makes a response fail, in the words that its `error_message` shows: by whoever prepares or reads it."""


class Reader(Protocol):
    """What a provider's events mean. Each method gives the events of the response that come of it, in order."""

    def start(self) -> Iterable[StreamEvent]:
        """The answer has begun."""
        ...

    def parse(self, raw: Any) -> Any:
        """The provider's event that something raw says; None if it says none.

        Raises:
            ResponseFailedError: it cannot be read.
        """
        ...

    def feed(self, event: Any) -> Iterable[StreamEvent]:
        """The provider has said this.

        Raises:
            ResponseFailedError: with that the response has failed.
        """
        ...

    def end(self) -> Iterable[StreamEvent]:
        """The provider has said everything. The last event is the terminal one.

        Raises:
            ResponseFailedError: the response is not complete.
        """
        ...

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """The response has failed, or was aborted. The last event is the terminal one."""
        ...


class Answer(Protocol):
    """What a provider says, batch by batch."""

    async def receive(self) -> Iterable[Any]:
        """The next batch of raw events; an empty one where nothing is complete yet.

        Raises:
            EndOfAnswer: there are no more.
            TransportError: the connection has failed, or the signal is raised.
        """
        ...


class EndOfAnswer(Exception):  # noqa: N818  # no error: it is how an answer ends
    """The provider has said everything. It may have brought some last raw events."""

    def __init__(self, last: Iterable[Any] = ()) -> None:
        super().__init__()
        self.last: Final = last


Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[Answer]]
"""Makes the request when the context manager is entered; called once."""


@attrs.frozen(kw_only=True)
class Wording:
    """How an API's client words the failures of a request. A `cause` is in the words of the system."""

    status: Callable[[StatusError], str] = str
    #: What the server had answered that asks for too long a pause; as `status`, if it is None.
    late: Callable[[StatusError], str] | None = None
    connection: Callable[[str], str] = attrs.field(default=lambda _cause: "Connection error.")
    timeout: str = "Request timed out."
    body: Callable[[str], str] = attrs.field(default=lambda _cause: "terminated")
    #: By what was waited for when the signal was raised: the answer, its body, or nothing.
    aborted: Mapping[str, str]

    def of(self, failure: BaseException) -> str:
        """The text of a failure."""
        match failure:
            case StatusError():
                return self.status(failure)
            case ConnectionFailedError():
                return self.connection(failure.cause)
            case HeadersTimeoutError():
                return self.timeout
            case BodyFailedError():
                return self.body(failure.cause)
            case RequestAbortedError():
                return self.aborted[failure.while_waiting]
            case RetryTooLateError():
                return (
                    f"Server requested {failure.delay}s retry delay (max: {failure.limit}s). "
                    f"{self._answered(failure.failure)}"
                )
            case _:
                return str(failure) or type(failure).__name__

    def _answered(self, failure: TransportError) -> str:
        if self.late is not None and isinstance(failure, StatusError):
            return self.late(failure)
        return self.of(failure)


class Exchange:
    """The stream of one response. Its own async context manager.

    Args:
        opening: makes the request.
        reader: reads the answer.
        model, options: of the request.
        wording: of its failures.
        abort_drops: nothing is told behind an abort, not even what the network has brought before.
    """

    def __init__(
        self,
        opening: Opening,
        reader: Reader,
        *,
        model: Model,
        options: ProviderOptions,
        wording: Wording,
        abort_drops: bool = False,
    ) -> None:
        self._opening = opening
        self._reader = reader
        self._model = model
        self._options = options
        self._wording = wording
        self._abort_drops = abort_drops
        self._hook = options.on_provider_stream_event if options.dialect.provider_stream_events else None
        self._stack = AsyncExitStack()
        self._answer: Answer | None = None
        self._batch: Iterator[Any] = iter(())
        self._over = False  # the batch is the last one
        self._failure: Exception | None = None  # that what has come has led to
        self._cut = False  # a wait was cancelled, and what it waited for is lost
        self._ready: deque[StreamEvent] = deque()
        self._last: StreamDone | StreamError | None = None
        self._busy = False

    async def __aenter__(self) -> Self:
        """Begin to measure how long the response takes. Nothing is sent yet."""
        self._watch = Stopwatch()
        await trio.lowlevel.checkpoint()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close what is open. Cannot be cancelled, and does not wait for the provider."""
        await self._close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event. Can be cancelled at each; goes through the scheduler where the network is waited for.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        while not self._ready:
            if self._last is not None:
                await trio.lowlevel.checkpoint()
                raise StopAsyncIteration
            if self._hook is None and self._take():
                break
            await self._advance()
        return self._ready.popleft()

    async def result(self) -> AssistantMessage | None:
        """The message of the response, when it is over. What nobody has read is read here, and kept to be read.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        await trio.lowlevel.checkpoint()
        while self._last is None:
            await self._advance()
        return self._last.message if isinstance(self._last, StreamDone) else self._last.error

    # --- inside -------------------------------------------------------------------------------------------

    async def _advance(self) -> None:
        """Go one step further, which may bring events."""
        if self._busy:
            raise trio.BusyResourceError("another task is reading this response")
        self._busy = True
        try:
            await self._read()
        except Exception as failure:
            await self._fail(failure)
        except BaseException:
            self._cut = True
            raise
        finally:
            self._busy = False

    async def _read(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._cut:
            raise ResponseFailedError("Reading the response was cancelled")
        if self._answer is None:
            self._answer = await self._stack.enter_async_context(self._opening())
            self._ready.extend(self._reader.start())
            return
        if self._hook is None:
            if self._take() or self._failure is not None:
                return
        else:
            for raw in self._batch:
                if self._abort_drops and self._options.signal.aborted:
                    break
                if (event := self._reader.parse(raw)) is not None:
                    await call_hook(self._options.signal, self._hook, event, self._model)
                    self._ready.extend(self._reader.feed(event))
                    return  # it may take its time for the next one
        if self._over:
            if self._options.signal.aborted:
                raise RequestAbortedError("nothing")
            await self._finish(self._reader.end())
            return
        try:
            self._batch = iter(await self._answer.receive())
        except EndOfAnswer as end:
            self._batch, self._over = iter(end.last), True

    async def _fail(self, failure: Exception) -> None:
        if not isinstance(failure, (TransportError, ResponseFailedError)):
            # A hook of the user's, or a fault of ours.
            logger.error("a request to %s has failed", self._model.provider, exc_info=failure)
        await self._finish(self._reader.fail(self._wording.of(failure), self._options.signal.aborted))

    def _take(self) -> bool:
        """Read on in the batch until it says something, if it does. Nothing is waited for."""
        told = len(self._ready)
        try:
            while len(self._ready) == told and not (self._abort_drops and self._options.signal.aborted):
                raw = next(self._batch, None)
                if raw is None:
                    return False
                if (event := self._reader.parse(raw)) is not None:
                    self._ready.extend(self._reader.feed(event))
        except Exception as failure:  # the next step fails with it
            self._failure = failure
        return len(self._ready) > told

    async def _finish(self, events: Iterable[StreamEvent]) -> None:
        *others, last = events
        assert isinstance(last, (StreamDone, StreamError))
        if self._options.dialect.durations:
            last = self._watch.time(last)
        await self._close()
        self._ready.extend([*others, last])
        self._last = last

    async def _close(self) -> None:
        with trio.CancelScope(shield=True):
            await self._stack.aclose()
            await trio.lowlevel.checkpoint()


async def call_hook(signal: AbortSignal, function: Callable[..., Any], *arguments: object) -> Any:
    """Call a hook of the user's, plain or asynchronous; the signal ends the wait for it. A checkpoint.

    Raises:
        RequestAbortedError: the signal has ended it.
        Exception: the hook's own.
    """
    value = function(*arguments)
    if not inspect.isawaitable(value):
        await trio.lowlevel.checkpoint()
        return value
    with signal.scope():
        return await value
    raise RequestAbortedError("nothing")
