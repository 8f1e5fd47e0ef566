"""The `Stepper`: a trio program that goes on only when its test says so, from synchronous code.

Trio's guest mode lets a host run trio's scheduler pass by pass; here the host is the test. Trio asks its clock how long
it may sleep, so a clock that never lets it sleep keeps trio in this thread. That clock is virtual, too: time passes by
`advance` alone. And a pass in which no task has run means that everything waits.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar, TypeVarTuple

import outcome
import trio
import trio.testing

from ..agent.nursery import bare
from ..errors import PiTrioError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: In `settle`: so many passes without rest are taken for an endless loop.
MOST_PASSES: Final = 100_000
#: In `advance`: so many deadlines in a thousandth of a second are taken for time that does not get on.
MOST_DEADLINES: Final = 100_000
#: On closing, in real seconds: how long nothing may happen before what still runs is taken to be stuck.
PATIENCE: Final = 10.0


#: The stepper of each thread, as long as its program runs.
_here: Final = threading.local()


class StepperError(PiTrioError, RuntimeError):
    """The program cannot do what the test asks its `Stepper` for: it never rests, never ends, or has not ended yet."""


class Clock(trio.abc.Clock):
    """A clock that the stepper sets."""

    def __init__(self) -> None:
        self.time = 0.0
        self.next_deadline = math.inf  # as of the last pass that left nothing runnable
        self.sleep = 0.0  # how long trio may wait for the world outside, in real seconds

    def start_clock(self) -> None:
        """Nothing to start."""

    def current_time(self) -> float:
        """The time that the stepper has set."""
        return self.time

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """How long trio may sleep. It asks when nothing is runnable."""
        self.next_deadline = deadline
        return self.sleep if deadline > self.time else 0.0


class StepCounter(trio.abc.Instrument):
    """Counts how often a task has run."""

    def __init__(self) -> None:
        self.count = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002
        """A task runs."""
        self.count += 1


class Started(Generic[T]):
    """A function that a stepper has started, and what has become of it."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self._scope = trio.CancelScope()
        self._outcome: outcome.Maybe[T] | None = None
        self._over = False
        self._asked = False

    @property
    def done(self) -> bool:
        """Whether it has returned, raised or been cancelled."""
        return self._over

    def error(self) -> Exception | None:
        """What it has raised; None if it has not.

        Who has asked need not be told again: closing the stepper does not raise it.
        """
        self._asked = self._over
        return self._error

    def result(self) -> T:
        """What it has returned.

        Raises:
            Exception: what it has raised.
            StepperError: it has not ended, or was cancelled.
        """
        if not self._over:
            raise StepperError(f"{self.name} has not ended")
        if self._outcome is None:
            raise StepperError(f"{self.name} was cancelled")
        self._asked = True
        if isinstance(self._outcome, outcome.Value):
            return self._outcome.value
        raise self._outcome.error

    def cancel(self) -> None:
        """Cancel the scope around it; it takes steps to end."""
        self._scope.cancel()

    @property
    def _error(self) -> Exception | None:
        error = self._outcome.error if isinstance(self._outcome, outcome.Error) else None
        return error if isinstance(error, Exception) else None

    async def _run(self, async_fn: Callable[[*Ts], Awaitable[T]], args: tuple[*Ts]) -> None:
        try:
            with self._scope:
                try:
                    self._outcome = outcome.Value(await async_fn(*args))
                except Exception as error:
                    self._outcome = outcome.Error(error)
        finally:
            self._over = True


class Stepper:
    """Runs a trio program step by step, in a test that is a plain function, or in the rules of a state machine.

        with Stepper() as stepper:
            run = stepper.start(agent.prompt, "Hello")
            stepper.settle()  # until everything waits for the test, or for time to pass
            model.pending[0].answer("Hello yourself")
            stepper.settle()
            assert run.result().text == "Hello yourself"

    Between the steps, what trio does without `await` may be done here as well: set an event, send into a channel,
    cancel a scope, `agent.abort()`, `agent.steer(...)`.

    The program begins with the stepper. `close` cancels what is left and lets it end, in as much virtual time as that
    takes; leaving the block does so. A stepper that is never closed leaves its thread unfit for trio. A thread has one
    trio program at a time, so an async test cannot use a stepper.

    Raises:
        StepperError: the thread has another stepper, whose program has not ended.

    Tasks that are runnable in one pass are run in the order that trio chooses: let a test make one thing happen at a
    time. Sockets and processes are served when they are ready at a step, and not waited for.
    """

    def __init__(self) -> None:
        self._clock = Clock()
        self._steps = StepCounter()
        self._ticks: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._nursery: trio.Nursery | None = None
        self._end: outcome.Outcome[None] | None = None
        self._started: list[Started[Any]] = []
        self._closed = False
        self._ticking = False
        self._thread = threading.get_ident()
        if (other := getattr(_here, "stepper", None)) is not None:
            raise StepperError(f"this thread has a stepper whose program has not ended: {other._living()}")
        trio.lowlevel.start_guest_run(
            self._main,
            run_sync_soon_threadsafe=self._ticks.put,
            run_sync_soon_not_threadsafe=self._ticks.put,
            done_callback=self._ended,
            host_uses_signal_set_wakeup_fd=True,
            clock=self._clock,
            instruments=[self._steps],
        )
        _here.stepper = self
        while self._nursery is None:
            self._tick()

    # --- what a test does -----------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """The program's time, `trio.current_time()`: in seconds, from 0."""
        return self._clock.time

    def start(self, async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> Started[T]:
        """Start a function in a task of its own. It begins to run at the next step.

        An exception is kept, for `result()`. Nobody else is cancelled by it.

        Raises:
            StepperError: the stepper is closed.
        """
        if self._nursery is None or self._closed:
            raise StepperError("the stepper is closed")
        started: Started[T] = Started(getattr(async_fn, "__qualname__", repr(async_fn)))
        self._started.append(started)
        self._nursery.start_soon(started._run, async_fn, args, name=async_fn)
        return started

    def step(self) -> bool:
        """Run every task that is runnable now, each to where it waits next.

        Returns:
            Whether there was any.

        Raises:
            KeyboardInterrupt, SystemExit: what a task has raised that is no Exception, bare; the first, with the others
                as notes.
            StepperError: the stepper is closed, or this is inside its own program, or in another thread.
        """
        self._check_outside()
        if self._closed:
            raise StepperError("the stepper is closed")
        ran = self._tick()
        self._raise_if_ended()
        return ran

    def settle(self, *, threads: bool = True) -> None:
        """Step until everything waits: for the test, or for time to pass.

        Args:
            threads: whether worker threads are waited for, in real time: those of tools that are plain functions, and
                all others that a task waits for. False is for a test that holds one of them itself, or where one waits
                for time to pass.

        Raises:
            As `step`; and StepperError: the program does not come to rest.
        """
        for _ in range(MOST_PASSES):
            if not self.step():
                if not (threads and trio.testing.active_thread_count()):
                    return
                self._wait_for_the_world(math.inf)
                self._raise_if_ended()
        raise StepperError(f"the program does not rest: {self._living()}")

    def advance(self, seconds: float) -> None:
        """Settle, and let time pass, settling at each deadline on the way.

        Args:
            seconds: virtual ones.

        Raises:
            As `settle`, also if time does not get on; and ValueError: time does not go backwards, nor on for ever.
        """
        until = self._clock.time + seconds
        if not (seconds >= 0 and math.isfinite(until)):
            raise ValueError(f"time passes by a number of seconds, not {seconds}")
        self.settle()
        since, deadlines = self._clock.time, 0
        while self._clock.next_deadline <= until:
            self._clock.time = self._clock.next_deadline
            deadlines += 1
            if self._clock.time >= since + 0.001:
                since, deadlines = self._clock.time, 0
            elif deadlines > MOST_DEADLINES:
                raise StepperError(f"time does not get on for all its deadlines: {self._living()}")
            self.settle()
        self._clock.time = until

    def close(self) -> None:
        """Cancel what still runs, and let it end. When it has ended, closing again does nothing.

        Raises:
            Exception: what a started function has raised and nobody has asked for; the first, with the others as notes.
            StepperError: something does not end although it is cancelled; the text says what. Or this is inside its own
                program.
        """
        self._check_outside()
        if self._end is not None:
            return
        self._closed = True
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()
        for _ in range(MOST_PASSES):
            if self._end is not None:
                break
            if not self._tick() and self._end is None:
                self._let_end()
        else:
            raise StepperError(f"the program does not end: {self._living()}")
        self._raise_if_ended()
        unasked = [started for started in self._started if started._error is not None and not started._asked]
        if unasked:
            error = unasked[0].error()
            assert error is not None
            for other in unasked[1:]:
                error.add_note(f"{other.name} has failed, too: {other._error!r}")
            raise error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except Exception as other:  # the test has failed before, and that is what matters
            error.add_note(f"the program has failed, too: {other!r}")

    # --- inside ---------------------------------------------------------------------------------------------

    async def _main(self) -> None:
        async with trio.open_nursery() as self._nursery:
            await trio.sleep_forever()

    def _ended(self, end: outcome.Outcome[None]) -> None:
        self._end = end
        _here.stepper = None

    def _tick(self) -> bool:
        """One pass of trio's scheduler; whether any task has run in it."""
        before = self._steps.count
        self._ticking = True
        try:
            self._ticks.get()()
        finally:
            self._ticking = False
        return self._steps.count > before

    def _check_outside(self) -> None:
        """In the program, and in its threads, the next pass would be waited for in vain."""
        if self._ticking:
            raise StepperError("the program cannot step itself")
        if threading.get_ident() != self._thread:
            raise StepperError("a stepper is for the thread that has made it")

    def _raise_if_ended(self) -> None:
        """The program goes on until it is closed, unless something that is no Exception has ended it."""
        if self._end is None:
            return
        self._closed = True
        try:
            self._end.unwrap()
        except BaseExceptionGroup as group:
            raise bare(group) from None

    def _wait_for_the_world(self, seconds: float) -> bool:
        """Sleep in real time, until something comes from outside, or no longer than that; whether it did."""
        self._clock.sleep = seconds
        try:
            ran = self._tick()  # if there is still nothing to do, trio goes to sleep, in a thread of its own
        finally:
            self._clock.sleep = 0.0
        if self._end is None:
            ran |= self._tick()  # comes when trio has woken
        return ran

    def _let_end(self) -> None:
        """The program is cancelled and waits all the same: for time to pass, or for the world outside."""
        if self._clock.next_deadline < math.inf:
            self._clock.time = self._clock.next_deadline
        elif trio.testing.active_thread_count():
            self._wait_for_the_world(math.inf)
        elif not self._wait_for_the_world(PATIENCE):
            raise StepperError(f"the program does not end, although it is cancelled: {self._living()}")

    def _living(self) -> str:
        """What has not ended."""
        return ", ".join(started.name for started in self._started if not started.done) or "tasks of trio"
