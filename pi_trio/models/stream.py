"""What the loop asks of a model: a *stream function*, and the stream of one response that it returns.

A stream function takes the model, the transcript and the options of one request, and returns (or is a
coroutine function that returns) an **async context manager** around an async iterator of stream events that
also has `result()`. Entering and leaving belong to the loop, so a provider that needs tasks of its own keeps
its nursery inside that context manager, and nothing of a request outlives its response. What its `__aiter__`
gives may be an async generator (which alone is no stream: it has no `result`), with a nursery or a timeout
around its `yield`s: the loop closes it in the task that has read it, and keeps what happens in there from the
listeners. (A generator that reads another one has to close that: `contextlib.aclosing`.) An iterator of a class
of yours must leave no scope open between two events, as it would by reading such a generator in its `__anext__`:
give the generator itself. A failure of the provider is an `error` event, not an exception. `ResponseBuilder`
(`builder.py`) makes the events.

`ResponseStream` is the simplest such thing: a queue that somebody pushes into.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Self, TypeAlias

import attrs
import trio

from ..abort import AbortSignal
from ..events import StreamDone, StreamError, StreamEvent
from ..jsonvalue import JSON
from ..messages import AssistantMessage, Message, Model, ThinkingLevel, ToolDeclaration


@attrs.frozen(kw_only=True)
class ModelContext:
    """What a request tells the model.

    Since 1.0.3 the prompt and the tools are system messages among `messages`; in older profiles they are the
    other two fields, which are None otherwise.
    """

    messages: tuple[Message, ...]
    system_prompt: str | None = None
    tools: tuple[ToolDeclaration, ...] | None = None


@attrs.frozen(kw_only=True)
class StreamOptions:
    """The options of one request, as the agent has them.

    `reasoning` is None for "off". `signal` is the run's; the provider is expected to end the response with an
    `error` event, reason "aborted", when it is raised. `max_retry_delay_ms` is in milliseconds, 0 means no
    limit.
    """

    signal: AbortSignal = attrs.field(factory=AbortSignal)
    reasoning: ThinkingLevel | None = None
    api_key: str | None = attrs.field(default=None, repr=False)
    session_id: str | None = None
    identity: Mapping[str, JSON] | None = None
    transport: str = "auto"
    thinking_budgets: Mapping[str, int] | None = None
    max_retry_delay_ms: float | None = None
    on_payload: Callable[..., Any] | None = None
    on_response: Callable[..., Any] | None = None
    on_provider_stream_event: Callable[..., Any] | None = None


class AssistantMessageEventStream(Protocol):
    """The events of one response, for one reader, and its one result."""

    def __aiter__(self) -> AsyncIterator[StreamEvent]: ...

    async def result(self) -> AssistantMessage | None:
        """The whole message, once it is known; None if the stream has ended without one."""
        ...


Opened: TypeAlias = AbstractAsyncContextManager[AssistantMessageEventStream]
StreamFn: TypeAlias = Callable[[Model, ModelContext, StreamOptions], Opened | Awaitable[Opened]]


async def close_events(events: AsyncGenerator[StreamEvent]) -> None:
    """Close a generator of events, in the task that has read it: what it has opened around a `yield` ends in order."""
    try:
        await events.aclose()
    except BaseExceptionGroup as group:
        rest = group.split(GeneratorExit)[1]  # a nursery has put it into a group, and it has done its work
        if rest is not None:
            raise rest from None


class ResponseStream:
    """The events of one response, pushed in by a provider and read by the loop.

    The queue has no bound, as in Pi: a provider is never throttled by the loop, and `push` never waits. The
    first `done` or `error` event, or the first `end` with a result, decides the result; what is pushed after
    that is ignored.

    Also its own async context manager, so a stream function may return it as it is.
    """

    def __init__(self) -> None:
        self._events: deque[StreamEvent] = deque()
        self._closed = False
        self._result: AssistantMessage | None = None
        self._error: BaseException | None = None
        self._changed = trio.lowlevel.ParkingLot()

    @property
    def closed(self) -> bool:
        """Whether the stream takes no more events."""
        return self._closed

    def push(self, event: StreamEvent) -> None:
        """Add an event; a `done` or `error` event closes the stream and decides its result."""
        if self._closed:
            return
        self._events.append(event)
        if isinstance(event, StreamDone):
            self.end(event.message)
        elif isinstance(event, StreamError):
            self.end(event.error)
        else:
            self._changed.unpark_all()

    def end(self, result: AssistantMessage | None = None) -> None:
        """Close the stream. The first result that is given counts; events that are queued stay readable."""
        self._closed = True
        if self._result is None:
            self._result = result
        self._changed.unpark_all()

    def fail(self, error: BaseException) -> None:
        """Close the stream; reading raises `error` after the queued events. Providers should push an
        error event instead.
        """
        if not self._closed:
            self._error = error
            self.end()

    def __aiter__(self) -> ResponseStream:
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event. A checkpoint; cancelling it takes no event."""
        if self._events or self._closed:
            await trio.lowlevel.checkpoint()
        while not self._events:
            if self._closed:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            await self._changed.park()
        return self._events.popleft()

    async def result(self) -> AssistantMessage | None:
        """The response's message, once the stream is closed; None if it was ended without one."""
        if self._closed:
            await trio.lowlevel.checkpoint()
        while not self._closed:
            await self._changed.park()
        return self._result

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.end()
