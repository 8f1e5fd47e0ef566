"""A run that its caller reads while it happens, in one task: what `agent.open_prompt` gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

from .active import ActiveRun
from .delivery import Listener, Listeners
from .event_stream import EventStream, open_stream
from .result import RunResult


class OpenRun(EventStream):
    """The events of a run, and when it has settled its `result`."""

    def __init__(self) -> None:
        super().__init__()
        self._active: ActiveRun | None = None

    @property
    def result(self) -> RunResult:
        """What the run came to, also if it was left early.

        Raises:
            RuntimeError: it has not settled yet: read it to its end, or leave the block.
        """
        result = None if self._active is None else self._active.result
        if result is None:
            raise RuntimeError(
                "the run goes on; its result is there when its events have ended, or the block"
            )
        return result

    @trio.lowlevel.enable_ki_protection
    def close(self) -> None:
        if self._active is not None:
            self._active.reader = None  # for whom the run waits no more
        super().close()


@asynccontextmanager
async def open_run(listeners: Listeners, start: Callable[[], ActiveRun]) -> AsyncGenerator[OpenRun]:
    """Run an agent in the background of a block.

    Args:
        start: begins the run, synchronously; what it raises is raised here, and nothing has begun.
    """
    opened = OpenRun()

    def begin(tell: Listener) -> Callable[[], Awaitable[object]]:
        unsubscribe = listeners.add(tell)
        try:
            opened._active = active = start()
        except BaseException:
            unsubscribe()
            raise
        active.on_settled.append(unsubscribe)
        active.reader = trio.lowlevel.current_task()
        return active.finish

    async with open_stream(opened, begin):
        yield opened
