"""What each listener of a driven subject hears, each with a monitor of its own.

A listener hears every event from its subscription on. One that fails takes the event from those behind it, where the
subject does as the releases do; so such an event is told to their monitors in silence, and the rest of what they hear
is judged as if they had heard it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

import attrs

from .content import Object
from .digest import digest
from .docket import Docket
from .events import EventMonitor
from .known import Known
from .reduction import Reduction

_BEHIND: Final = 1000
"""How many events a listener may be behind the others; of one that hears nothing any more no more are kept."""


@attrs.define(eq=False)
class Ear:
    """One listener: its monitor, and the events that one before it may have taken from it."""

    key: str
    monitor: EventMonitor
    hidden: list[Object] = attrs.field(factory=list[Object])
    pending: deque[int] = attrs.field(factory=lambda: deque[int](maxlen=_BEHIND))
    """The digests of events that others have heard and it has not."""
    excused: bool = False
    """It has failed while a failure was told, and hears no more of this run."""


class Ears:
    """The listeners of one agent, in the order of their subscriptions."""

    def __init__(self, docket: Docket, *, loop: bool, known: Known) -> None:
        self._docket = docket
        self._known = known
        self._loop = loop
        self._ears: dict[str, Ear] = {}
        self._reduction = Reduction(docket)

    def subscribe(self, key: str) -> None:
        """A listener is there from the beginning."""
        self._ears[key] = Ear(key, EventMonitor(self._docket, known=self._known))

    def join(self, key: str, delivered: Iterable[Object]) -> None:
        """A listener is there from now on. What is being delivered just now it may hear, and is not the first to."""
        if key not in self._ears:
            monitor = EventMonitor(self._docket, midway=True, known=self._known)
            ear = self._ears[key] = Ear(key, monitor)
            ear.pending.extend(digest(event) for event in delivered)

    def unsubscribe(self, key: str) -> None:
        """A listener hears no more."""
        self._ears.pop(key, None)
        # It may have been the only one that has heard what the state has by now.
        self._reduction.doubt()

    def forget_state(self) -> None:
        """The state was changed by hand."""
        self._reduction.forget()

    def empty_state(self) -> None:
        """The state was reset."""
        self._reduction.empty()

    def hear(self, key: str, event: Object, state: Object | None) -> bool:
        """A listener hears an event. Whether it is the first that does."""
        ear = self._ears.get(key)
        if ear is None:
            return False
        self._docket.listener = key
        if ear.hidden:
            self._uncover(ear, event)
        first = self._is_new(ear, event)
        if event.get("type") == "agent_start":
            if ear.excused or self._loop:
                ear.monitor.excuse()
            ear.excused = False
        ear.monitor.hear(event)
        if first:
            self._reduction.reduce(event)
        if state is not None and (ear.monitor.in_run or event.get("type") == "agent_end"):
            self._reduction.see(event, state, first=first)
        self._docket.listener = None
        return first

    def _is_new(self, ear: Ear, event: Object) -> bool:
        """Whether nobody has heard an event before."""
        if len(self._ears) == 1 and not ear.pending:
            return True
        number = digest(event)
        if number in ear.pending:
            ear.pending.remove(number)
            return False
        for other in self._ears.values():
            if other is not ear:
                other.pending.append(number)
        return True

    def _uncover(self, ear: Ear, event: Object | None) -> None:
        """Whether an event that may have been taken from a listener has come to it, or never will."""
        while ear.hidden:
            taken = ear.hidden.pop(0)
            if taken == event:
                self._docket.holds("FAIL-28")
                return
            if not self._loop and not ear.excused:
                self._docket.as_pi(
                    "FAIL-28", "D-04", "an event that a failing listener has taken", taken["type"]
                )
            with self._docket.silence():
                ear.monitor.hear(taken)

    def failed(self, key: str, event: Object) -> None:
        """A listener fails at an event."""
        ear = self._ears.get(key)
        if ear is not None:
            ear.excused = ear.excused or self._known.failing
        behind = False
        for each in self._ears.values():
            if behind and event not in each.hidden:
                each.hidden.append(event)
            behind = behind or each.key == key

    def settled(self, *, ok: bool) -> None:
        """A run has settled: all of it was heard."""
        for ear in self._ears.values():
            self._docket.listener = ear.key
            self._uncover(ear, None)
            if ear.excused or (self._loop and not ok):
                ear.monitor.excuse()
            else:
                ear.monitor.close(closed=True)
            ear.excused = False
            ear.pending.clear()
        self._docket.listener = None
        if self._known.failing:
            # Whoever has failed in it may have missed what was said.
            self._reduction.forget()
