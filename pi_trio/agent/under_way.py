"""What is under way and somebody waits for: the reports of a call, the reading of a response.

A `trio.Event` and a counter would do, but they are made for every call and every response, and an event keeps a
parking lot for any number of tasks. Here one waits, or none.
"""

from __future__ import annotations

import trio


class UnderWay:
    """How many of some things are under way, and the one task that waits for them.

    That task is protected from Ctrl-C (`interrupts.py`): struck in its wait, it would be woken out of something else.
    """

    __slots__ = ("_number", "_waiting")

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._waiting: trio.lowlevel.Task | None = None

    def one_more(self) -> None:
        """Another one begins."""
        self._number += 1

    def one_less(self) -> None:
        """One is over."""
        self._number -= 1
        if self._waiting is not None and not self._number:
            waiting, self._waiting = self._waiting, None
            trio.lowlevel.reschedule(waiting)

    async def wait(self) -> None:
        """Return when none is under way, in a later pass of the scheduler at the earliest."""
        if self._number:
            self._waiting = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._wait_no_more)
        else:
            await trio.lowlevel.cancel_shielded_checkpoint()

    def _wait_no_more(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._waiting = None
        return trio.lowlevel.Abort.SUCCEEDED
