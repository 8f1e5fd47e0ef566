"""One scripted response, told to one reader who pulls: its pace, its abort, its result.

An event is made when it is asked for, so there is no task in the background and nothing to clean up. Pi
pushes the events of a response into a queue instead, all at once where no pace is set; here the response is
never ahead of its reader, and an abort is noticed at the next event that would add to the message.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Self, TypeAlias

import attrs
import trio

from ..events import (
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingStart,
    ToolCallDelta,
    ToolCallStart,
    UnknownStreamEvent,
)
from ..texts import REQUEST_ABORTED
from ..timestamps import now
from .scripted_usage import tokens_of
from .stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import TracebackType

    from ..abort import AbortSignal
    from ..messages import AssistantMessage

logger = logging.getLogger("pi_trio")

_Delta: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta
_Addition: TypeAlias = StreamStart | TextStart | ThinkingStart | ToolCallStart | _Delta


class ScriptedStream:
    """The events of one response, and its result; also its own context manager.

    Reading an event is a checkpoint, and cancelling it loses none: the next read gives the same event. An
    abort is looked for before each event that adds to the message (a start, a delta), and after a delta's
    delay, which is not cut short.

    Args:
        open_: prepares the response and gives its events. What it raises, and what they raise, becomes an
            `error` event. If it is cancelled, the next read calls it again.
        blank: a message without content that names API, provider and model, for the messages of errors.
        signal: the abort of the request.
        tokens_per_second: the pace of the deltas; None for no delays.
        timed: whether the last message gets its `duration_ms`, where it has none and is not older than the
            stream. The message of an error or abort that comes about here always gets one.
    """

    def __init__(
        self,
        open_: Callable[[], Awaitable[Iterator[StreamEvent]]],
        *,
        blank: AssistantMessage,
        signal: AbortSignal,
        tokens_per_second: float | None,
        timed: bool,
    ) -> None:
        self._open = open_
        self._blank = blank
        self._signal = signal
        self._tokens_per_second = tokens_per_second
        self._timed = timed
        self._watch = Stopwatch()
        self._events: Iterator[StreamEvent] | None = None
        self._due: StreamEvent | None = None  # made, and not read yet
        self._partial: AssistantMessage | None = None  # of the last event that was read
        self._ahead: deque[StreamEvent] = deque()  # read by `result()` on its way to the end
        self._result: AssistantMessage | None = None
        self._closed = False
        self._busy = False

    def __aiter__(self) -> ScriptedStream:
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        if self._ahead:
            await trio.lowlevel.checkpoint()
            return self._ahead.popleft()
        if self._ended:
            await trio.lowlevel.checkpoint()
            raise StopAsyncIteration
        return await self._read()

    async def result(self) -> AssistantMessage | None:
        """The whole message; None if the stream was left before its end.

        Reads on to the end, and keeps the events to be read later. Cancelling it loses nothing.

        Raises:
            trio.BusyResourceError: another task is reading.
        """
        if self._ended:
            await trio.lowlevel.checkpoint()
        while not self._ended:
            self._ahead.append(await self._read())
        return self._result

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closed = True

    @property
    def _ended(self) -> bool:
        return self._closed or self._result is not None

    async def _read(self) -> StreamEvent:
        if self._busy:
            raise trio.BusyResourceError("another task is reading this response")
        self._busy = True
        try:
            if self._due is None:
                self._due = await self._next()
            await trio.sleep(self._delay(self._due))
            event, self._due = self._due, None
        finally:
            self._busy = False
        if isinstance(event, _Addition) and self._signal.aborted:
            event = self._aborted(self._partial or event.partial)
        if isinstance(event, StreamDone):
            event = attrs.evolve(event, message=self._with_duration(event.message))
            self._result = event.message
        elif isinstance(event, StreamError):
            event = attrs.evolve(event, error=self._with_duration(event.error))
            self._result = event.error
        elif not isinstance(event, UnknownStreamEvent):
            self._partial = event.partial
        return event

    async def _next(self) -> StreamEvent:
        try:
            if self._events is None:
                self._events = await self._open()
            return next(self._events)
        except Exception as error:
            logger.warning("a scripted response has failed", exc_info=error)
            return self._failed(str(error) or type(error).__name__)

    def _delay(self, event: StreamEvent) -> float:
        """How long, in seconds, an event takes to come."""
        if self._tokens_per_second is None or not isinstance(event, _Delta):
            return 0
        return tokens_of(event.delta) / self._tokens_per_second

    def _failed(self, text: str) -> StreamError:
        self._timed = True
        message = attrs.evolve(self._blank, stop_reason="error", error_message=text, timestamp=now())
        return StreamError(reason="error", error=message)

    def _aborted(self, partial: AssistantMessage) -> StreamError:
        self._timed = True
        message = attrs.evolve(partial, stop_reason="aborted", error_message=REQUEST_ABORTED, timestamp=now())
        return StreamError(reason="aborted", error=message)

    def _with_duration(self, message: AssistantMessage) -> AssistantMessage:
        return self._watch.stamp(message) if self._timed else message
