"""One event on its way to its listeners.

A delivery has two halves. The synchronous one calls the first listener, inside the call that says the event: so
progress reports begin in order, whoever else is runnable. The rest awaits what each listener returned, and calls the
next. The set of listeners is live, and a listener that fails does not hide the event from those behind it
(D-04).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

from ..abort import AbortSignal
from ..events import AgentEvent
from .interrupts import call_user, can_be_awaited, give_up, wait_for
from .nursery import is_cancelled

#: Hears every event of a run, with the run's signal. What it returns is awaited, if it can be.
Listener: TypeAlias = Callable[[AgentEvent, AbortSignal], Awaitable[object] | object]


class Listeners:
    """The subscribers, in order of subscription. Who is added during a delivery still gets that event."""

    def __init__(self) -> None:
        #: Replaced when somebody comes or goes, never changed: so a walk sees that there is something new.
        self._entries: dict[Listener, int] = {}
        self._next = 0

    def add(self, listener: Listener) -> Callable[[], bool]:
        """Subscribe; the same listener counts once.

        Returns:
            The function that unsubscribes; it says whether the listener was subscribed.

        Raises:
            TypeError: it cannot be called.
        """
        if not callable(listener):
            raise TypeError(f"a listener is a function of an event and a signal, not {listener!r}")
        if listener not in self._entries:
            self._entries = {**self._entries, listener: self._next}
            self._next += 1
        return lambda: self._remove(listener)

    def _remove(self, listener: Listener) -> bool:
        left = {**self._entries}
        subscribed = left.pop(listener, None) is not None
        self._entries = left
        return subscribed

    def walk(self) -> Iterator[Listener]:
        """The listeners as they stand when each is reached."""
        last, entries = -1, None
        while entries is not self._entries:  # at first, and after a change
            entries = self._entries
            for listener, number in entries.items():  # the numbers rise
                if number > last:
                    last = number
                    yield listener
                    if entries is not self._entries:
                        break


class Delivery:
    """An event whose first listener has been called; `finish` does the rest.

    Args:
        listeners: those that get the event, each looked up when it is reached.
        failed: told of each listener that raises, with its error.
    """

    __slots__ = ("_answer", "_event", "_failed", "_listener", "_listeners", "_signal")

    def __init__(
        self,
        event: AgentEvent,
        signal: AbortSignal,
        listeners: Iterator[Listener],
        failed: Callable[[Listener, BaseException], None],
    ) -> None:
        self._event = event
        self._signal = signal
        self._listeners = listeners
        self._failed = failed
        self._call_next()

    def _call_next(self) -> None:
        self._answer: object = None
        self._listener = listener = next(self._listeners, None)
        if listener is not None:
            try:
                self._answer = call_user(listener, self._event, self._signal)
            except BaseException as error:
                self._failed(listener, error)

    def must_wait(self) -> bool:
        """Go on to the next listener that has to be waited for; whether there is one."""
        while self._listener is not None:
            if can_be_awaited(self._answer):
                return True
            self._call_next()
        return False

    async def finish(self) -> None:
        """Wait for the first listener, then call and await the others in order. Raises nothing but Cancelled."""
        while self._listener is not None:
            if can_be_awaited(self._answer):
                try:
                    await wait_for(self._answer)
                except BaseException as error:
                    give_up(self._answer)
                    if is_cancelled(error):
                        raise
                    self._failed(self._listener, error)
            self._call_next()
