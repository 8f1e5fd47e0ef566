"""Waiting for the outside world: tools, hooks and the provider, as opposed to listeners.

Everything outside is awaited in a `Wait`: a cancel scope of its own that is only ever cancelled while its owner
really waits for the outside. So what ends a wait cannot reach a listener by way of it (D-01). A failure of the run
ends every wait, and so does an abort in the cancelling mode (D-10). Who loses a wait so meets one of the two
exceptions here, and unwinds to whoever owns it: a call of a batch, a turn, or the run. (Like `trio.Cancelled` they
are no `Exception`, so that code which handles errors lets them pass.)
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import trio

from .interrupts import give_up, wait_for
from .nursery import is_cancelled
from .under_way import UnderWay

if TYPE_CHECKING:
    from .run import Run

T = TypeVar("T")


class Cut(BaseException):
    """The run has failed: what was going on is over. Internal to this package; never reaches a user."""


class Aborted(BaseException):
    """The run was aborted in the cancelling mode: this wait is over, or must not begin. Internal to this package."""


class Wait:
    """One stretch of waiting; leaving it because it was ended raises `Cut` or `Aborted`."""

    __slots__ = ("_outside", "_reached", "_run", "_scope", "_shield")

    def __init__(self, run: Run) -> None:
        self._scope = trio.CancelScope()
        self._run = run
        self._outside = False
        self._shield: trio.CancelScope | None = None
        self._reached = False

    def __enter__(self) -> Self:
        self._run.waits[self] = None
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        del self._run.waits[self]
        self._scope.__exit__(kind, error, traceback)
        if self._scope.cancelled_caught:
            self._run.check()
            raise Aborted

    def end(self) -> None:
        """End the wait, if its owner is waiting; what it is doing otherwise is not touched."""
        if self._outside:
            self._scope.cancel()
            self._reach()

    def shielded(self, nursery: trio.Nursery) -> AbstractContextManager[None]:
        """Keep what is done inside from every cancellation, but for what is awaited `outside`.

        To lower the shield for each such wait would take a tenth of a delta's time. So it stands; a task before it
        feels the cancellation of the surroundings, if ever there is one, and from then on it is lowered for them.

        Args:
            nursery: for that task; opened right before the shield, and left right after it.
        """
        return _Behind(self, self._run, nursery)

    def stand_behind(self, shield: trio.CancelScope | None) -> None:
        """What is done inside of this wait is done behind that shield from now on, or behind none."""
        self._shield = shield

    @trio.lowlevel.enable_ki_protection
    async def feel(self, reading: UnderWay) -> None:
        """Feel the cancellation of the surroundings, while something is done behind the shield."""
        try:
            await reading.wait()
        except trio.Cancelled:
            self._reach()
            raise

    def _reach(self) -> None:
        """The surroundings are cancelled: that is for what is awaited outside, now and from now on."""
        self._reached = True
        if self._outside and self._shield is not None:
            self._shield.shield = False

    async def outside(self, awaitable: Awaitable[T]) -> T:
        """Await something outside. May be used again and again inside one wait.

        Raises:
            Cut: the run has failed, before or meanwhile; an answer that came at the same moment is not used. (After an
                abort it is: what returns all the same keeps its answer.)
            Cancelled: the wait was ended, or the surroundings are cancelled.
            BaseException: whatever the awaitable raises, unless the run has failed.
        """
        self._outside = True
        if self._reached:
            self._reach()
        if self._run.failure is not None or self._run.cancelled:
            self.end()  # what has begun already still gets the chance to unwind
        try:
            answer = await wait_for(awaitable)
        except BaseException as error:
            give_up(awaitable)
            if is_cancelled(error) or self._run.failure is None:
                raise
            self._run.fail(error)  # later than the failure: a note on it
            raise Cut from None
        finally:
            self._outside = False
        if self._run.failure is not None:
            raise Cut
        if self._reached and self._shield is not None:
            self._shield.shield = True
        return answer


class _Behind(AbstractContextManager[None]):
    """`Wait.shielded`. A class, because each response enters one, and a generator takes four times as long."""

    def __init__(self, wait: Wait, run: Run, nursery: trio.Nursery) -> None:
        self._wait = wait
        self._shield = run.shielded()
        self._nursery = nursery
        self._reading = UnderWay(1)

    def __enter__(self) -> None:
        self._wait.stand_behind(self._shield.__enter__())
        self._nursery.start_soon(self._wait.feel, self._reading)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        try:
            return self._shield.__exit__(kind, error, traceback)
        finally:
            self._wait.stand_behind(None)
            self._reading.one_less()
