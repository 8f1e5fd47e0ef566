"""The tasks of a run that finish the deliveries of progress reports.

Deliveries may overlap, so each that is under way needs a task. But to start and end a task costs trio more than two
listeners that yield, and a tool may report much. So a task that is done stays for the next report, and a run has as
many of them as it ever needed at one time. (Calls have a task each: what a tool leaves behind in its own, a lock that
it holds, say, goes with it.)

**Whose they are.** The nursery around the loop (`settlement.py`) owns them all. It is left when the loop is over and
has dismissed those that are idle, and the others have ended. A call has no nursery for its reports, but counts what is
under way (`under_way.py`), and each is counted off when it is over, however it ended.
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

    __slots__ = ("_arrived", "_delivered", "_is_over", "context", "delivery")

    def __init__(self, delivery: Delivery, arrived: Callable[[], None]) -> None:
        self.delivery = delivery
        #: What its listeners are called in, as if a task had been started for it.
        self.context = copy_context()
        self._arrived = arrived
        self._is_over = False
        self._delivered: Happening | None = None  # mostly nobody waits

    def has_arrived(self) -> None:
        """The delivery is over."""
        self._is_over = True
        if self._delivered is not None:
            self._delivered.set()
        self._arrived()

    async def wait(self) -> None:
        """Return when every listener has handled it."""
        if self._is_over:
            await trio.lowlevel.checkpoint()
            return
        if self._delivered is None:
            self._delivered = Happening()
        await self._delivered.wait()


#: The reports of one call that nobody has fetched yet, the oldest first.
Reports: TypeAlias = deque[Report]


class Couriers:
    """The tasks of one run. Under `nursery`, which must not be left before all that they do is done."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        #: Those that wait for something to do; the last one goes first.
        self._idle: dict[trio.lowlevel.Task, None] = {}

    def send(self, reports: Reports) -> None:
        """Have the reports of a call delivered, of which the first has nobody who does it."""
        context = reports[0].context
        if self._idle:
            courier, _ = self._idle.popitem()
            courier.context = context
            trio.lowlevel.reschedule(courier, Value(reports))
        else:
            context.run(self._nursery.start_soon, self._work, reports)

    def dismiss(self) -> None:
        """Let the tasks end: all that was to be done is done, and nothing more will come."""
        while self._idle:
            trio.lowlevel.reschedule(self._idle.popitem()[0])

    @trio.lowlevel.enable_ki_protection
    async def _work(self, reports: Reports | None) -> None:
        courier = trio.lowlevel.current_task()

        def leave(_raise_cancel: object) -> trio.lowlevel.Abort:
            # It has nothing to lose, and need not raise; be it that a listener has left a scope open in this task.
            del self._idle[courier]
            trio.lowlevel.reschedule(courier)
            return trio.lowlevel.Abort.FAILED

        while reports is not None:
            report = reports[0]
            try:
                must_wait = report.delivery.must_wait()
                # Not before: what a listener has reported meanwhile stands behind it, and nobody else is sent for.
                reports.popleft()
                if reports:
                    self._pass_on(reports)
                while must_wait:
                    try:
                        await report.delivery.hear()
                    except BaseException as error:
                        report.delivery.has_failed(error)
                    must_wait = report.delivery.must_wait()
            finally:
                report.has_arrived()
            del report
            self._idle[courier] = None
            reports = await trio.lowlevel.wait_task_rescheduled(leave)

    def _pass_on(self, reports: Reports) -> None:
        """See to the reports behind one: to those at once whose listeners need not be waited for.

        For the others another courier is sent, because deliveries may overlap.
        """
        while reports:
            report = reports[0]
            if report.context.run(report.delivery.must_wait):
                self.send(reports)
                return
            reports.popleft().has_arrived()
