"""The part of a log that is what providers have said: the events of responses, one behind the other.

Such events stand in a log of their own. Between the events of an agent they are nothing that an agent says.
"""

from __future__ import annotations

from pi_trio.conformance.monitors.response import JUDGED, ResponseMonitor
from pi_trio.conformance.protocol import Object

from .book import Book


class Responses:
    """Judges the events of responses."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._monitor: ResponseMonitor | None = None

    @property
    def judges(self) -> bool:
        """Whether there is anything to judge them by."""
        return any(self._book.basis.force.get(clause) for clause in JUDGED)

    def event(self, event: Object, raw: bytes) -> None:
        """The next event."""
        result = self._book.result
        if self._monitor is None:
            force = self._book.basis.force
            in_force = frozenset[str]().union(*(force.get(clause, ()) for clause in JUDGED))
            self._monitor = ResponseMonitor(
                force, self._book.basis.profiles & in_force, midway=self._book.midway
            )
        was_open = self._monitor.open
        result.events += 1
        if found := self._monitor.tell(event):
            self._book.found(found, raw)
        begins = self._monitor.open or event["type"] == "error"
        result.responses += begins and not was_open

    def lost(self) -> None:
        """A line could not be read, and may have been one of these."""
        if self._monitor is not None:
            self._book.settle(self._monitor)
            self._monitor = None

    def close(self, what: str) -> None:
        """What came so far ends here."""
        monitor, self._monitor = self._monitor, None
        if monitor is None:
            return
        if monitor.open:
            self._book.cut(what, "in the middle of a response")
        self._book.settle(monitor)
