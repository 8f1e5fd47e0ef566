"""What each listener hears, and nothing else: all that is known where no agent was seen to be created.

So it is in a log that has the subject's side alone, begins later, or has a line that cannot be read. Each listener is
judged like a log of events. But nobody sees there when another agent is created, nor that a listener subscribes or
fails: a new run may begin anywhere, and what seems to be a fault may be none, which is said.
"""

from __future__ import annotations

from typing import Final

from pi_trio.conformance.monitors import EventMonitor
from pi_trio.conformance.protocol import Object

from .book import Book
from .lines import UnreadableError

MOST: Final = 100
"""So many listeners are followed at once."""
_ALONE: Final = (
    "no agent is seen to be created before this, so each listener is judged alone, and what is found may come of a "
    "new agent, or of a listener that subscribes or fails; both sides of a wire, from the creation on, tell for sure"
)


class TooManyListenersError(UnreadableError):
    """Nobody can follow so many."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST} listeners, and no more are followed at once")


class Listeners:
    """The listeners of an agent, and their monitors."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._ears: dict[str, EventMonitor] = {}
        self._first: str | None = None
        """Whose events are counted."""
        self._warned = False
        self._left = False
        """One has left, and may come again in the middle of a run."""

    def __bool__(self) -> bool:
        return bool(self._ears)

    @property
    def in_run(self) -> bool:
        """Whether one of them has heard of a run that goes on."""
        return any(ear.in_run for ear in self._ears.values())

    def count(self, key: str, event: Object) -> None:
        """What the first listener hears is counted."""
        self._first = key if self._first is None else self._first
        if key == self._first:
            self._book.result.events += 1
            self._book.result.runs += event["type"] == "agent_start"

    def hear(self, key: str, event: Object, raw: bytes) -> None:
        """A listener hears an event.

        Raises:
            TooManyListenersError: there are too many.
        """
        ear = self._ears.get(key)
        if ear is not None and event["type"] == "agent_start" and ear.in_run:
            self.forget()
            ear = None
        if ear is None:
            ear = self._ears[key] = self._begin(event["type"])
        self.count(key, event)
        found = ear.tell(event)
        if not self._warned and any(each.kind == "broken" for each in found):
            self._warned = True
            self._book.note(self._book.at, _ALONE)
        self._book.found(found, raw)

    def _begin(self, kind: str) -> EventMonitor:
        if len(self._ears) == MOST:
            raise TooManyListenersError
        if self._first is None:
            self._book.begins(kind)
        basis, midway = self._book.basis, self._book.midway or self._left or bool(self._ears)
        return EventMonitor(basis.force, basis.profiles, midway=midway)

    def leave(self, key: str) -> None:
        """One is seen to unsubscribe."""
        ear = self._ears.pop(key, None)
        if ear is not None:
            self._book.settle(ear)
            self._left = True

    def settle(self) -> None:
        """They hear no more."""
        for ear in self._ears.values():
            self._book.settle(ear)
        self._ears = {}

    def forget(self) -> None:
        """They hear no more, and those of another agent may come."""
        self.settle()
        self._first, self._left = None, False
