"""The part of a log that is a trace, or what went over a wire.

From a `create` on the monitor of traces follows both, with all that was said. Where none was seen, because a log has
the subject's side alone, begins later, or has a line that cannot be read, there is still what each listener hears: that
is judged like any other log of events.
"""

from __future__ import annotations

from collections.abc import Iterable

from pi_trio.conformance.lines import commands_of, event_of, is_ask
from pi_trio.conformance.monitors import Bursts, EventMonitor, TraceMonitor
from pi_trio.conformance.protocol import Object

from .book import Book
from .lines import NothingKnownError
from .wire import Golden, Wire, cancels, checked, does_something, is_header, is_of_trace, is_wire


class Traces:
    """Judges lines that have no type."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._monitor: TraceMonitor | None = None
        self._cancelling = False
        """Of what the monitor follows, aborts cancel."""
        self._always_cancelling = False
        self._ears: dict[str, EventMonitor] = {}
        self._first: str | None = None
        self._wire: Wire | None = None
        self._bursts = Bursts[tuple[int, bytes]]()
        self._golden: Golden | None = None
        self._is_late = False
        """The subject replies before all that a command causes has come to pass: its quiescence is none."""
        self._reply: tuple[Object, int, bytes] | None = None
        """Of such a subject the latest reply, which is judged when all has come that belongs to it."""

    @property
    def open(self) -> bool:
        """Whether something has begun and was not closed."""
        return bool(self._monitor or self._ears or self._wire or self._golden)

    def line(self, line: Object, raw: bytes) -> None:
        """Go on by one line.

        Raises:
            UnreadableError: it is of no trace and no wire, or has not the shape of what it seems to be.
        """
        if is_header(line):
            self.close("the log")
            self._book.turn_page()
            self._book.named(f"pi-{line['release']}")
            self._golden = Golden() if "enters" in line else None
        elif self._golden is not None:
            self._golden.add(self._book.at, line)
            if self._golden.whole:
                self._play(self._golden)
        elif self._wire is not None or is_wire(line):
            if line.get("tell") == "hello":
                self._hail(line)
            self._wire = self._wire or Wire()
            self._message(self._wire, line, raw)
        elif is_of_trace(line):
            self._tell(checked(line), raw)
        else:
            raise NothingKnownError

    def lost(self) -> None:
        """A line could not be read: until the next agent is created, only listeners are followed."""
        self._take_reply()
        self._hand_on(self._bursts.rest())
        if self._monitor is not None:
            self._book.settle(self._monitor)
        for ear in self._ears.values():
            self._book.settle(ear)
        self._monitor, self._ears = None, {}

    def close(self, what: str) -> None:
        """It ends here."""
        self._take_reply()
        self._hand_on(self._bursts.rest())
        if self._monitor is not None:
            self._book.found(self._monitor.end())
            if self._wire is None or not self._wire.rests:
                self._book.cut(what, "in the middle of a trace")
        elif self._golden is not None:
            self._book.cut(what, "in the middle of a trace")
        elif any("agent_start" not in ear.allowed().events for ear in self._ears.values()):
            self._book.cut(what, "in the middle of a run")
        self._forget()
        self._wire = None

    def _forget(self) -> None:
        self.lost()
        self._golden = self._first = None
        self._always_cancelling = self._is_late = False

    # --- lines ------------------------------------------------------------------------------------------------

    def _play(self, golden: Golden) -> None:
        """Judge the runtime's side of a golden trace, of which all is known now."""
        self._golden = None
        self._always_cancelling = golden.cancelling
        for self._book.at, line in golden.lines:
            self._tell(checked(line), b"")

    def _hail(self, hello: Object) -> None:
        """A subject says what it is."""
        self.close("the session before")
        self._book.turn_page()
        self._book.named(str(hello.get("profile")))
        features = hello.get("features")
        self._always_cancelling = type(features) is dict and features.get("abort") == "cancelling"
        self._is_late = hello.get("quiescence") == "none"

    def _message(self, wire: Wire, message: Object, raw: bytes) -> None:
        """What went over a wire."""
        if self._monitor is not None or message.get("cmd") == "create":
            line = wire.translate(message)
            if self._is_late and "re" in message:
                self._reply = line, self._book.at, raw
                return
            if "cmd" in message:
                self._take_reply()
            self._tell(line, raw)
        elif (heard := wire.overhear(message)) is not None:
            self._overhear(*heard, raw)

    def _take_reply(self) -> None:
        """What the latest command has caused is all there now."""
        if self._reply is not None:
            now = self._book.at
            (line, self._book.at, raw), self._reply = self._reply, None
            self._tell(line, raw)
            self._book.at = now

    def _tell(self, line: Object, raw: bytes) -> None:
        if self._monitor is None:
            self._hand_on([(line, (self._book.at, raw))])
        else:
            self._hand_on(self._bursts.add(line, (self._book.at, raw)))

    def _hand_on(self, lines: Iterable[tuple[Object, tuple[int, bytes]]]) -> None:
        now = self._book.at
        try:
            for line, (self._book.at, raw) in lines:
                self._judge(line, raw)
        finally:
            self._book.at = now

    def _judge(self, line: Object, raw: bytes) -> None:
        for command in commands_of(line):
            if command.get("cmd") == "create":
                self._create(command)
        event = event_of(line)
        key = "" if event is None else line["ask"]["key"] if is_ask(line) else line["key"]
        if self._monitor is not None:
            self._book.result.asked += does_something(line)
            if event is not None:
                self._count(key, event)
            self._book.found(self._monitor.tell(line), raw)
        elif event is not None:
            self._overhear(key, event, raw)
        if "end" in line:
            self._forget()
            self._book.turn_page(behind=True)

    def _create(self, command: Object) -> None:
        """A new agent. If its aborts are of another kind than those of the one before, it has a monitor of its own."""
        cancelling = self._always_cancelling or cancels(command)
        self._first = None
        candidates = self._book.basis.profiles
        if self._monitor is not None:
            if self._cancelling is cancelling:
                return
            candidates = self._monitor.candidates
        self.lost()
        self._monitor = TraceMonitor(self._book.basis.force, candidates, cancelling=cancelling)
        self._cancelling = cancelling

    def _overhear(self, key: str, event: Object, raw: bytes) -> None:
        """An event, of which is known who hears it and nothing else."""
        ear = self._ears.get(key)
        if ear is None:
            basis, midway = self._book.basis, self._book.midway or bool(self._ears)
            ear = self._ears[key] = EventMonitor(basis.force, basis.profiles, midway=midway)
        self._count(key, event)
        self._book.found(ear.tell(event), raw)

    def _count(self, key: str, event: Object) -> None:
        """What the first listener hears is counted."""
        self._first = key if self._first is None else self._first
        if key == self._first:
            self._book.result.events += 1
            self._book.result.runs += event["type"] == "agent_start"
