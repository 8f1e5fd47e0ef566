"""The worker threads of plain functions that are tools.

They have a limit of their own, apart from trio's, so that tools that block for long do not keep a program from opening
files and looking up hosts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import trio

T = TypeVar("T")

#: So many plain functions run at once, unless the limiter is told otherwise; as many as trio's default.
DEFAULT_LIMIT: Final = 40

_limiter: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("pi_trio.tool_threads")


def current_tool_thread_limiter() -> trio.CapacityLimiter:
    """The limiter of all tools without one of their own; one for each `trio.run`. Assign its `total_tokens` for more.

    Raises:
        RuntimeError: called outside trio.
    """
    try:
        return _limiter.get()
    except LookupError:
        limiter = trio.CapacityLimiter(DEFAULT_LIMIT)
        _limiter.set(limiter)
        return limiter


async def run_in_worker(
    function: Callable[[], T], name: str, limiter: trio.CapacityLimiter | None, *, abandon: bool
) -> T:
    """Call a function in a worker thread, and return or raise what it does.

    Args:
        name: what to call the thread.
        abandon: whether a cancellation leaves the thread behind; otherwise it is waited for, and a function that
            returns all the same keeps its answer.
    """
    return await trio.to_thread.run_sync(
        function,
        thread_name=f"tool {name}",
        abandon_on_cancel=abandon,
        limiter=current_tool_thread_limiter() if limiter is None else limiter,
    )
