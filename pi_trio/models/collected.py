"""The stream that a collection gives: a provider's, or the failure to get one, told in one way.

Who reads it finds a last event in any case. What a provider does wrong (it raises, or its stream ends in the middle)
is an `error` event with everything that has come so far.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Final, Literal, Self

import attrs
import trio

from ..abort import AbortSignal
from ..events import StreamDone, StreamError, StreamEvent, UnknownStreamEvent
from ..messages import AssistantMessage, Model
from ..texts import NO_RESULT
from .dialect import Dialect
from .exchange import ResponseFailedError
from .models_error import ModelsError, OperationAbortedError, blank_response, text_of_error
from .stopwatch import Stopwatch
from .stream import AssistantMessageEventStream, Opened, close_events
from .transport_errors import TransportError

logger: Final = logging.getLogger("pi_trio")

#: What is raised to make a response fail; anything else is a mistake.
_EXPECTED: Final = (ModelsError, OperationAbortedError, ResponseFailedError, TransportError)


class CollectedStream:
    """The events of one response, for one reader, and its result; also its own context manager.

    Entering it finds the key and opens the provider's stream; leaving it leaves that one. Reading an event goes
    through the scheduler where the provider's stream does: what that has ready comes at once. `result()` reads on to
    the end, and keeps the events to be read later.

    Args:
        open_: finds the key and gives the provider's stream. What it raises becomes an `error` event.
        model: named by the message of a failure.
        signal: the abort of the request.
        dialect: what a failure under a raised signal is called, and whether the last message says how long it took.
    """

    def __init__(
        self,
        open_: Callable[[], Awaitable[Opened]],
        *,
        model: Model,
        signal: AbortSignal,
        dialect: Dialect,
    ) -> None:
        self._open = open_
        self._model = model
        self._signal = signal
        self._dialect = dialect
        self._opened: Opened | None = None
        self._inner: AssistantMessageEventStream | None = None
        self._source: AsyncIterator[StreamEvent] | None = None
        self._told: AsyncGenerator[StreamEvent] | None = None
        self._failure: Exception | None = None
        self._partial: AssistantMessage | None = None
        self._ahead: deque[StreamEvent] = deque()
        self._result: AssistantMessage | None = None
        self._ended = False
        self._busy = False

    async def __aenter__(self) -> Self:
        """Find the key and open the provider's stream. A failure is kept, to be told to who reads.

        Cancelling it leaves nothing open.
        """
        self._watch = Stopwatch()
        try:
            opened = await self._open()
            self._inner = await opened.__aenter__()
            self._opened = opened
            self._source = aiter(self._inner)
        except Exception as error:
            self._failure = error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._ended = True
        try:
            if self._told is not None:
                await close_events(self._told)
            if isinstance(self._source, AsyncGenerator):
                await close_events(self._source)
        finally:
            if self._opened is None:
                left = None
            else:
                left = await self._opened.__aexit__(kind, error, traceback)
        return left

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        # A generator may hold scopes open between two events, so its reader gets one to close (see `stream.py`).
        if not isinstance(self._source, AsyncGenerator):
            return self
        if self._told is None:
            self._told = self._tell()
        return self._told

    async def _tell(self) -> AsyncGenerator[StreamEvent]:
        try:
            while True:
                try:
                    event = await self.__anext__()
                except StopAsyncIteration:
                    return
                yield event
        finally:
            if isinstance(self._source, AsyncGenerator):
                await close_events(self._source)

    async def __anext__(self) -> StreamEvent:
        """The next event.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        if self._ahead:
            await trio.lowlevel.checkpoint()
            return self._ahead.popleft()
        event = await self._read()
        if event is None:
            raise StopAsyncIteration
        return event

    async def result(self) -> AssistantMessage | None:
        """The whole message; None if the stream was left before its end.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        if self._ended:
            await trio.lowlevel.checkpoint()
        while not self._ended:
            event = await self._read()
            if event is not None:
                self._ahead.append(event)
        return self._result

    async def _read(self) -> StreamEvent | None:
        """The next event of the provider; None at the end."""
        if self._busy:
            raise trio.BusyResourceError("another task is reading this response")  # T-03
        if self._ended or self._source is None:
            await trio.lowlevel.checkpoint()
            if self._ended:
                return None
            if self._failure is None:
                raise RuntimeError("the stream of a response is entered before it is read")
            return self._fail(self._failure)
        self._busy = True
        try:
            event = await anext(self._source)
        except StopAsyncIteration:
            return await self._without_last_event()
        except Exception as error:
            return self._fail(error)
        finally:
            self._busy = False
        if isinstance(event, StreamDone):
            return self._last(attrs.evolve(event, message=self._timed(event.message)))
        if isinstance(event, StreamError):
            return self._last(attrs.evolve(event, error=self._timed(event.error)))
        if not isinstance(event, UnknownStreamEvent):
            self._partial = event.partial
        return event

    async def _without_last_event(self) -> StreamEvent | None:
        """The provider's stream has ended without one: by its result, if it has one; or it never will be (T-02)."""
        assert self._inner is not None
        try:
            self._result = await self._inner.result()
        except Exception as error:
            return self._fail(error)
        if self._result is None:
            return self._error("aborted" if self._signal.aborted else "error", NO_RESULT)
        self._ended = True
        return None

    def _fail(self, error: Exception) -> StreamEvent:
        if not isinstance(error, _EXPECTED):
            # A mistake of the provider's, or a hook of the user's.
            logger.error("a request to %s has failed", self._model.provider, exc_info=error)
        aborted = self._signal.aborted and self._dialect.aborted_before_request == "aborted"
        return self._error("aborted" if aborted else "error", text_of_error(error))

    def _error(self, reason: Literal["error", "aborted"], text: str) -> StreamEvent:
        if self._partial is None:
            message = blank_response(self._model, reason, text, timestamp=self._watch.began_at)
        else:  # T-05
            message = attrs.evolve(self._partial, stop_reason=reason, error_message=text)
        return self._last(StreamError(reason=reason, error=self._timed(message)))

    def _last(self, event: StreamDone | StreamError) -> StreamEvent:
        self._ended = True
        self._result = event.message if isinstance(event, StreamDone) else event.error
        return event

    def _timed(self, message: AssistantMessage) -> AssistantMessage:
        return self._watch.stamp(message) if self._dialect.durations else message
