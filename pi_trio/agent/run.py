"""One run: how events get out, and how a failure gets in.

The algorithm (`loop.py`) is plain sequential code. What makes it safe is here:

- **Delivery** (`delivery.py`). `begin(event)` reduces the ledger and the agent's state and calls the first listener;
  the rest is awaited. What was reduced stays, whatever listeners do.
- **Failure.** The first error in time is the run's. It ends every wait for the outside world, and nothing else:
  deliveries that are under way go on to all listeners (D-01). An interrupt (KeyboardInterrupt, SystemExit) is a
  failure too, and is never only a note on another one.
- **Waits** (`wait.py`). Everything outside is asked through `ask`, or read inside a `Wait`.
- **Shields.** Deliveries are kept from every cancellation from outside, until the grace of a cancelled run is over.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal, TypeAlias

import trio

from ..abort import AbortController
from ..events import AgentEvent
from ..profile import Profile
from .couriers import Couriers
from .delivery import Audience, Delivery, Listener, Listeners
from .interrupts import call_user, can_be_awaited
from .ledger import Ledger, Part
from .nursery import bare, is_cancelled, remark, stray
from .wait import Aborted, Cut, Wait

logger = logging.getLogger("pi_trio")

#: What an abort does: it raises the run's signal and nothing else, as upstream ("signal"), or it also ends every
#: wait for the outside world ("cancel", D-10).
AbortMode: TypeAlias = Literal["cancel", "signal"]
#: Takes an event into a state, synchronously, before anybody hears of it.
Reducer: TypeAlias = Callable[[AgentEvent], None]


async def ask_directly(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function and await its answer, if it can be awaited."""
    answer = function(*args)
    return await answer if can_be_awaited(answer) else answer


class _Containing:
    """What raises inside fails the run and goes no further, but for a cancellation."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if isinstance(error, Cut):
            return True
        if is_cancelled(error):
            return False
        self._run.fail(error)
        return True


class _Shield(AbstractContextManager[trio.CancelScope, "bool | None"]):
    """A shield of a run, entered in its list, so that the grace reaches it."""

    __slots__ = ("_scope", "_shields")

    def __init__(self, scope: trio.CancelScope, shields: dict[trio.CancelScope, None]) -> None:
        self._scope = scope
        self._shields = shields

    def __enter__(self) -> trio.CancelScope:
        self._shields[self._scope] = None
        return self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        del self._shields[self._scope]
        return self._scope.__exit__(kind, error, traceback)


class Run:
    """One run of the loop, from `agent_start` to settlement."""

    def __init__(
        self, *, profile: Profile, reduce: Reducer, listeners: Listeners, abort_mode: AbortMode
    ) -> None:
        self.profile = profile
        self.controller = AbortController()
        self.signal = self.controller.signal
        #: Whether the run was aborted in the cancelling mode: no hook starts any more, no queue is polled (D-10).
        self.cancelled = False
        if abort_mode == "cancel":
            self.signal.on_abort(self._cancel)
        self.ledger = Ledger()
        self.failure: BaseException | None = None
        #: The first KeyboardInterrupt, SystemExit or other error that is no `Exception`.
        self.interrupt: BaseException | None = None
        #: Errors after the failure: of listeners during the closing events. The first is raised at settlement
        #: (D-04).
        self.late_errors: list[BaseException] = []
        #: Set when the last event has been said.
        self.over = False
        #: May be entered by many at a time, and again.
        self.containing = _Containing(self)
        #: The nursery that everything in the run runs under.
        self.nursery: trio.Nursery | None = None
        #: Who delivers progress reports. There from the loop's beginning to its end.
        self.couriers: Couriers
        #: The waits for the outside that are open, in the order in which they began.
        self.waits: dict[Wait, None] = {}
        self._shields: dict[trio.CancelScope, None] = {}
        self._grace_ends = math.inf
        self._reduce = reduce
        self._audience = Audience(listeners, self.signal, self._listener_failed)
        self._closing = False

    # --- failure -----------------------------------------------------------------------------------------

    def fail(self, error: BaseException) -> None:
        """Record an error. The first one is the run's failure and ends every wait for the outside world."""
        error = self._noted(error)
        if self.failure is None:
            self.failure = error
            self._end_waits()
        elif error is not self.failure:
            remark(self.failure, "later in the same run", error)
            logger.error("another error in a run that had failed already", exc_info=error)

    @property
    def errors(self) -> tuple[BaseException, ...]:
        """The failure, then the errors of the ending. Others that came in between are notes on the failure."""
        first = () if self.failure is None else (self.failure,)
        return (*first, *self.late_errors)

    def check(self) -> None:
        """Raise `Cut` if the run has failed."""
        if self.failure is not None:
            raise Cut

    def check_abort(self) -> None:
        """Raise `Aborted` if the run was aborted in the cancelling mode."""
        if self.cancelled:
            raise Aborted

    def _cancel(self) -> None:
        self.cancelled = True
        self._end_waits()

    def _end_waits(self) -> None:
        for wait in tuple(self.waits):
            wait.end()

    def _noted(self, error: BaseException) -> BaseException:
        """The error without the groups of somebody's nurseries; an interrupt is remembered, whenever it comes."""
        error = bare(error)
        if isinstance(error, trio.Cancelled):
            return stray(error)
        if self.interrupt is None and not isinstance(error, Exception):
            self.interrupt = error
        return error

    # --- events out --------------------------------------------------------------------------------------

    def begin(self, event: AgentEvent, part: Part = None) -> Delivery:
        """Say an event: reduce it and call the first listener, synchronously. The caller must
        have it heard to the end (`Delivery.finish`, or `hear` and `has_failed`).

        Raises:
            Cut: the run has failed, so only the closing events may still be said.
        """
        if self.failure is not None and not self._closing:
            raise Cut
        self.ledger.reduce(event, part)
        self._reduce(event)
        return Delivery(event, self._audience)

    async def emit(self, event: AgentEvent, part: Part = None) -> None:
        """Say an event and wait until every listener has handled it.

        Raises:
            Cut: the run had failed before, or failed during the delivery.
        """
        delivery = self.begin(event, part)
        while delivery.must_wait():
            try:
                await delivery.hear()
            except BaseException as error:
                delivery.has_failed(error)
        if self.failure is not None and not self._closing:
            raise Cut

    async def close(self, events: Iterator[tuple[AgentEvent, Part]]) -> None:
        """Say the closing events of a failed run. A listener that fails now is dropped until settlement (D-04)."""
        self._closing = True
        for event, part in events:
            await self.emit(event, part)

    def reduce_silently(self, events: Iterator[tuple[AgentEvent, Part]]) -> None:
        """Take closing events into the ledger and the state; there is nobody left to tell."""
        for event, part in events:
            self.ledger.reduce(event, part)
            self._reduce(event)

    def _listener_failed(self, listener: Listener | None, error: BaseException) -> None:
        """A listener raised. That fails the run; in the closing events it drops the listener instead."""
        if self._closing or self.ledger.ended:
            error = self._noted(error)
            if listener is not None:
                self._audience.dropped.add(listener)
            if self.late_errors:
                remark(self.late_errors[0], "later in the same run", error)
            self.late_errors.append(error)
        else:
            self.fail(error)

    def encloses_current_task(self) -> bool:
        """Whether the current task is part of this run: a listener, hook or tool (D-11).

        Tasks that merely share an ancestor with the run are not.
        """
        task = trio.lowlevel.current_task()
        while (nursery := task.parent_nursery) is not None:
            if nursery is self.nursery:
                return True
            task = nursery.parent_task
        return False

    # --- shields -----------------------------------------------------------------------------------------

    def shielded(self) -> AbstractContextManager[trio.CancelScope, bool | None]:
        """A shield that stands until the grace of a cancelled run is over."""
        return _Shield(trio.CancelScope(shield=True, deadline=self._grace_ends), self._shields)

    def begin_grace(self, seconds: float) -> None:
        """The run was cancelled from outside: its shields fall after so many seconds. A grace that has begun
        is not lengthened.
        """
        self._grace_ends = min(self._grace_ends, trio.current_time() + seconds)
        for scope in self._shields:
            scope.deadline = self._grace_ends

    # --- waits for the outside ---------------------------------------------------------------------------

    async def ask(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a hook or a tool and wait for its answer.

        Called inline: what it does before it first suspends happens before this returns to the scheduler.

        Raises:
            Cut: the run failed before the answer came.
            Aborted: the run was aborted, in the cancelling mode, before the answer came or the function was called.
            Exception: what the function raises.
        """
        self.check()
        self.check_abort()
        answer = call_user(function, *args)
        if can_be_awaited(answer):
            with Wait(self) as wait:
                answer = await wait.outside(answer)
        return answer
