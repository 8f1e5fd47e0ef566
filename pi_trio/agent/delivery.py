"""One event on its way to its listeners.

A delivery has two halves. The synchronous one calls the first listener, inside the call that says the event: so
progress reports begin in order, whoever else is runnable. The rest awaits what each listener returned, and calls the
next. The set of listeners is live, and a listener that fails does not hide the event from those behind it
(D-04).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from types import CoroutineType
from typing import TypeAlias

import attrs
import trio

from ..abort import AbortSignal
from ..events import AgentEvent
from .interrupts import can_be_awaited, give_up
from .nursery import is_cancelled

#: Hears every event of a run, with the run's signal. What it returns is awaited, if it can be.
Listener: TypeAlias = Callable[[AgentEvent, AbortSignal], Awaitable[object] | object]


class Listeners:
    """The subscribers, in order of subscription. Who is added during a delivery still gets that event."""

    def __init__(self) -> None:
        self._numbers: dict[Listener, int] = {}
        self._next = 0
        #: With numbers that rise. Replaced when somebody comes or goes: so a delivery sees that there is something new.
        self.entries: tuple[tuple[Listener, int], ...] = ()

    def add(self, listener: Listener) -> Callable[[], bool]:
        """Subscribe; the same listener counts once.

        Returns:
            The function that unsubscribes; it says whether the listener was subscribed.

        Raises:
            TypeError: it cannot be called.
        """
        if not callable(listener):
            raise TypeError(f"a listener is a function of an event and a signal, not {listener!r}")
        if listener not in self._numbers:
            self._numbers[listener] = self._next
            self._next += 1
            self.entries = tuple(self._numbers.items())
        return lambda: self._remove(listener)

    def _remove(self, listener: Listener) -> bool:
        if self._numbers.pop(listener, None) is None:
            return False
        self.entries = tuple(self._numbers.items())
        return True

    def walk(self) -> Iterator[Listener]:
        """The listeners as they stand when each is reached. (What a `Delivery` does by itself, to be quick.)"""
        last = -1
        while left := [entry for entry in self.entries if entry[1] > last]:
            listener, last = left[0]
            yield listener


@attrs.define(eq=False)
class Audience:
    """Those who hear the events of one run.

    Attributes:
        listeners: the subscribers, each looked up when it is reached.
        signal: what they get with each event.
        failed: told of each listener that raises, with its error. None is an interrupt when all had heard the event.
        dropped: who hears no more of this run.
    """

    listeners: Listeners
    signal: AbortSignal
    failed: Callable[[Listener | None, BaseException], None]
    dropped: set[Listener] = attrs.field(factory=set[Listener])


@trio.lowlevel.disable_ki_protection
def _call(listener: Listener, event: AgentEvent, signal: AbortSignal) -> object:
    """As `call_user`, without the tuple that this makes of the arguments: it is done for every listener of an event."""
    return listener(event, signal)


class Delivery:
    """An event whose first listener has been called; `finish` does the rest."""

    __slots__ = ("_answer", "_audience", "_entries", "_event", "_listener", "_reached")

    def __init__(self, event: AgentEvent, audience: Audience) -> None:
        self._event = event
        self._audience = audience
        self._entries = audience.listeners.entries
        self._reached = 0
        self._call_next()

    @trio.lowlevel.enable_ki_protection
    def _call_next(self) -> None:
        audience = self._audience
        entries = audience.listeners.entries
        if entries is not self._entries:  # somebody has come or gone: go on behind the one that was reached
            last = self._entries[self._reached - 1][1] if self._reached else -1
            self._reached = sum(number <= last for _, number in entries)
            self._entries = entries
        self._answer: object = None
        reached = self._reached
        while reached < len(entries):
            self._listener: Listener | None = entries[reached][0]
            reached += 1
            if not (audience.dropped and self._listener in audience.dropped):
                self._reached = reached
                try:
                    self._answer = _call(self._listener, self._event, audience.signal)
                except BaseException as error:
                    audience.failed(self._listener, error)
                return
        self._listener = None

    def must_wait(self) -> bool:
        """Go on to the next listener that has to be waited for; whether there is one."""
        while self._listener is not None:
            answer = self._answer
            # (Here and below, that it mostly is a coroutine is asked before `can_be_awaited` is called to ask it.)
            if type(answer) is CoroutineType or can_be_awaited(answer):
                return True
            self._call_next()
        return False

    async def finish(self) -> None:
        """Wait for the first listener, then call and await the others in order. Raises nothing but Cancelled."""
        while self._listener is not None:
            try:
                await self.hear()
            except BaseException as error:
                self.has_failed(error)

    @trio.lowlevel.disable_ki_protection
    async def hear(self) -> None:
        """As `finish`, until a listener fails. If this raises, its caller, which is protected, must tell `has_failed`,
        and go on as long as there is somebody for whom it `must_wait`.

        (To do this by oneself, and not by `finish`, saves a coroutine for every event. That this awaits one listener
        after the other saves one for each: an interrupt between two of them is like one in the first, or the second.)
        """
        while self._listener is not None:
            answer = self._answer
            if type(answer) is CoroutineType or can_be_awaited(answer):
                await answer
            self._call_next()

    def has_failed(self, error: BaseException) -> None:
        """`hear` has raised. That is the listener's error, unless it is the cancellation: this raises that again."""
        give_up(self._answer)
        if is_cancelled(error):
            raise error
        self._audience.failed(self._listener, error)
        self._call_next()
