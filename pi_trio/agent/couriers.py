"""Tasks that finish the deliveries which nobody waits for on the spot: those of progress reports.

Deliveries may overlap, so each that is under way needs a task. But to start and end a task costs trio more than two
listeners that yield, and a tool may report much. So a task that has finished its delivery stays for the next one, and a
run has as many of them as it ever needed at one time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeAlias

import trio
from outcome import Value

from ..happening import Happening
from .delivery import Delivery


class Report:
    """A progress report on its way, whose delivery has begun. What a tool gets for it, and may wait for.

    Args:
        arrived: called when it has been delivered.
    """

    __slots__ = ("_arrived", "_delivered", "delivery")

    def __init__(self, delivery: Delivery, arrived: Callable[[], None]) -> None:
        self.delivery = delivery
        self._arrived = arrived
        self._delivered = Happening()

    def has_arrived(self) -> None:
        """The delivery is over."""
        self._delivered.set()
        self._arrived()

    async def wait(self) -> None:
        """Return when every listener has handled it."""
        await self._delivered.wait()


#: The reports of one call that nobody has fetched yet, the oldest first.
Reports: TypeAlias = deque[Report]


class Couriers:
    """The tasks of one run. Under `nursery`, which must not be left before all reports have arrived."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._idle: list[trio.lowlevel.Task] = []

    def send_for(self, reports: Reports) -> None:
        """Have one more of a call's reports delivered. Whoever comes first takes the oldest, so they go in order."""
        if self._idle:
            courier = self._idle.pop()
            courier.context = copy_context()  # what a task that is started here would have
            trio.lowlevel.reschedule(courier, Value(reports))
        else:
            self._nursery.start_soon(self._work, reports)

    def dismiss(self) -> None:
        """Let the tasks end: all reports have arrived, and none will come."""
        while self._idle:
            trio.lowlevel.reschedule(self._idle.pop())

    @trio.lowlevel.enable_ki_protection
    async def _work(self, reports: Reports | None) -> None:
        courier = trio.lowlevel.current_task()

        def leave(_raise_cancel: object) -> trio.lowlevel.Abort:
            self._idle.remove(courier)
            return trio.lowlevel.Abort.SUCCEEDED

        while reports is not None:
            report = reports.popleft()
            try:
                await report.delivery.finish()
            finally:
                report.has_arrived()
            self._idle.append(courier)
            reports = await trio.lowlevel.wait_task_rescheduled(leave)
