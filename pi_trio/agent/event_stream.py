"""The events of a run, and of all runs, as channels for a reader.

A reader is a subscriber like any other: the run waits until it has taken an event, so a slow reader slows the run. But
it can leave at any moment, and then nothing waits for it any more. What happens side by side comes in the order in
which the reader is called: that in which it was said, unless a listener in front of it takes longer over one event than
over another (S-18). An event is in its place as soon as the reader is called, and only the waiting is left for later.

`open_stream` is for one run, which its block owns: who leaves the block early ends the run. `open_channel` only
listens, as long as its block stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import trio

from ..abort import AbortSignal
from ..events import AgentEnd, AgentEvent
from ..happening import Happening
from .delivery import Listener, Listeners
from .nursery import is_cancelled, open_bare_nursery, remark


class EventChannel(trio.abc.ReceiveChannel[AgentEvent]):
    """Events, each told until it is taken. Several tasks may read: each event goes to one of them."""

    def __init__(self) -> None:
        self._told = deque[tuple[AgentEvent, Happening]]()
        self._readers = trio.lowlevel.ParkingLot()
        self._ended = False
        self._closed = False

    @trio.lowlevel.enable_ki_protection
    def _tell(self, event: AgentEvent, _signal: AbortSignal) -> Awaitable[None] | None:
        """The listener: an event has been said. What it returns waits until the event is taken, or nobody reads."""
        if self._closed:
            return None
        taken = Happening()
        self._told.append((event, taken))
        self._readers.unpark()
        return taken.wait()

    @trio.lowlevel.enable_ki_protection
    def _end(self) -> None:
        """There will be no more events."""
        self._ended = True
        self._readers.unpark_all()

    @trio.lowlevel.enable_ki_protection
    async def receive(self) -> AgentEvent:
        """The next event. Cancelled, it has taken none.

        Raises:
            trio.EndOfChannel: there will be no more; `async for` ends.
            trio.ClosedResourceError: the channel was closed, or its block has been left.
        """
        await trio.lowlevel.checkpoint()
        while not self._told:
            if self._closed:
                raise trio.ClosedResourceError
            if self._ended:
                raise trio.EndOfChannel
            await self._readers.park()
        event, taken = self._told.popleft()
        taken.set()
        return event

    @trio.lowlevel.enable_ki_protection
    def close(self) -> None:
        """Read no more: nothing waits for this reader from now on."""
        self._closed = True
        while self._told:
            self._told.popleft()[1].set()
        self._readers.unpark_all()

    async def aclose(self) -> None:
        """`close`, and a checkpoint."""
        self.close()
        await trio.lowlevel.checkpoint()


class EventStream(EventChannel):
    """The events of one run; the stream ends when the run has settled."""

    def __init__(self) -> None:
        super().__init__()
        self._error: Exception | None = None
        self._read_to_the_end = False

    async def receive(self) -> AgentEvent:
        """The next event. Cancelled, it has taken none.

        Raises:
            trio.EndOfChannel: the run has settled; `async for` ends.
            trio.ClosedResourceError: the stream was closed, or its block has been left.
            Exception: an error that the run's events did not tell, once, after the last of them.
        """
        try:
            event = await super().receive()
        except trio.EndOfChannel:
            if self._error is not None:
                error, self._error = self._error, None
                if isinstance(
                    error, (trio.EndOfChannel, StopAsyncIteration)
                ):  # which would read as a good end
                    raise RuntimeError(f"the run has failed with {error!r}") from error
                raise error from None
            raise
        self._read_to_the_end = isinstance(event, AgentEnd)
        return event


S = TypeVar("S", bound=EventStream)


@asynccontextmanager
async def open_stream(
    stream: S, begin: Callable[[Listener], Callable[[], Awaitable[object]]]
) -> AsyncGenerator[S]:
    """Run an agent in the background of a block, which reads `stream`.

    Args:
        begin: begins the run, synchronously, given the listener that is to hear its events; it returns what plays the
            run to its settlement.

    Leaving before the last event was read cancels the run: it is aborted and settles before this returns, and what it
    still says reaches nobody here. An `Exception` of the run is raised by the iteration, or on leaving if nobody has
    read that far; an interrupt ends the block at once.
    """
    finish = begin(stream._tell)

    @trio.lowlevel.enable_ki_protection
    async def play() -> None:
        try:
            await finish()
        except Exception as error:
            stream._error = error
        finally:
            stream._end()

    left: BaseException | None = None
    try:
        async with open_bare_nursery() as nursery:
            nursery.start_soon(play, name="pi_trio run")
            try:
                yield stream
            except BaseException as error:
                if is_cancelled(error):
                    raise
                left = error  # carried past the nursery, where it would meet what the run has to say
            finally:
                stream.close()
            if not stream._read_to_the_end:
                nursery.cancel_scope.cancel()
    except trio.Cancelled:
        if left is None:  # or else what the block has raised goes first, as it does in any nursery
            raise
    except BaseException as interrupt:
        if left is not None:
            remark(interrupt, "the block had failed, too", left)
        raise
    if left is None:
        left = stream._error
    elif stream._error is not None:
        remark(left, "the run had failed, too", stream._error)
    if left is not None:
        raise left


@asynccontextmanager
async def open_channel(listeners: Listeners) -> AsyncGenerator[EventChannel]:
    """Listen as long as the block stands; what is told to `listeners` comes out of the channel.

    Who leaves the block, closes the channel or is cancelled is unsubscribed at once, and never fails or delays a run.
    Entering is a checkpoint, leaving is none.
    """
    await trio.lowlevel.checkpoint()
    channel = _Subscribed(listeners)
    try:
        yield channel
    finally:
        channel.close()


class _Subscribed(EventChannel):
    """Subscribed from its making until it is closed."""

    def __init__(self, listeners: Listeners) -> None:
        super().__init__()
        self._unsubscribe = listeners.add(self._tell)

    @trio.lowlevel.enable_ki_protection
    def close(self) -> None:
        self._unsubscribe()
        super().close()
