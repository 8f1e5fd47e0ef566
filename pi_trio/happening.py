"""Something that happens once, and can be waited for, whoever is struck by Ctrl-C meanwhile.

It is `trio.Event` but for one thing: a KeyboardInterrupt that strikes inside `trio.Event.wait` can leave the task
among those that wait, though it does not; and when the event is set, it is woken out of something else, which breaks
trio's scheduler. Such waits of this package are seen by users' tasks, which Ctrl-C may strike anywhere.
"""

from __future__ import annotations

import trio


class Happening:
    """Has not happened until it is `set`."""

    __slots__ = ("_happened", "_waiters")

    def __init__(self) -> None:
        self._happened = False
        self._waiters: trio.lowlevel.ParkingLot | None = None  # most are set before anybody waits

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._happened

    @trio.lowlevel.enable_ki_protection
    def set(self) -> None:
        """It has happened: wake who waits. The second time does nothing."""
        self._happened = True
        if self._waiters is not None:
            self._waiters.unpark_all()

    @trio.lowlevel.enable_ki_protection
    async def wait(self) -> None:
        """Return when it has happened. A checkpoint."""
        if self._happened:
            await trio.lowlevel.checkpoint()
            return
        if self._waiters is None:
            self._waiters = trio.lowlevel.ParkingLot()
        await self._waiters.park()
