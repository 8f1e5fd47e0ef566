"""The part of a log that is a trace, or what went over a wire.

From a `create` on the monitor of traces follows both, with all that was said. Where none was seen, because a log has
the subject's side alone, begins later, or has a line that cannot be read, there is still what each listener hears: that
is judged like any other log of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pi_trio.conformance.lines import commands_of, event_of, is_ask
from pi_trio.conformance.monitors import Bursts, TraceMonitor
from pi_trio.conformance.protocol import Object

from .ahead import Ahead
from .book import Book
from .left_out import WITHOUT_QUIESCENCE
from .lines import NothingKnownError, TooDeepError, UnreadableError
from .listeners import MOST, Listeners, TooManyListenersError
from .wire import Golden, Wire, cancels, checked, does_something, is_header, is_of_trace, is_wire

_MARKS: Final = frozenset("=+-")
"""One of these is in each line of a golden trace."""
_OPEN: Final = 5_000
"""So many callbacks may be open at once."""
_MISSING: Final = (
    "no reply comes to what was sent: up to the next agent, only what each listener hears is judged"
)


class Traces:
    """Judges lines that have no type.

    Args:
        lose: hears of a line that could not be read, and why.
    """

    def __init__(self, book: Book, lose: Callable[[UnreadableError, bytes], None]) -> None:
        self._book = book
        self._lose = lose
        self._monitor: TraceMonitor | None = None
        self._cancelling = False
        """Of what the monitor follows, aborts cancel."""
        self._always_cancelling = False
        self._listeners = Listeners(book)
        self._subscribed: set[str] = set()
        """Those of the agent that the monitor follows."""
        self._does = False
        """The latest command does something, and does not only make an agent or wait for it."""
        self._wire: Wire | None = None
        self._ahead = Ahead()
        self._bursts = Bursts[tuple[int, bytes]]()
        self._golden: Golden | None = None
        self._is_late = False
        """The subject replies before all that a command causes has come to pass: its quiescence is none."""
        self._reply: tuple[Object, int, bytes] | None = None
        """Of such a subject the latest reply, which is judged when all has come that belongs to it."""

    @property
    def open(self) -> bool:
        """Whether something has begun and was not closed."""
        return bool(self._monitor or self._listeners or self._wire or self._golden)

    def line(self, line: Object, raw: bytes) -> None:
        """Go on by one line.

        Raises:
            UnreadableError: it is of no trace and no wire, or has not the shape of what it seems to be.
        """
        if is_header(line) or (self._golden is not None and _MARKS.isdisjoint(line)):
            self.close("the log")
        if is_header(line):
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
            self._went(line, raw)
        elif is_of_trace(line):
            self._trace(line, raw)
        else:
            raise NothingKnownError

    def lost(self) -> None:
        """A line could not be read: until the next agent is created, only listeners are followed."""
        self._ahead = Ahead()
        if self._golden is not None:
            self._golden.damaged = True
        self._settle()

    def _settle(self) -> None:
        """The monitors have seen the last of what they follow."""
        self._take_reply()
        self._hand_on(self._bursts.rest())
        if self._monitor is not None:
            self._book.settle(self._monitor)
            self._monitor = None
        self._listeners.settle()

    def close(self, what: str) -> None:
        """It ends here."""
        self._take_reply()
        self._hand_on(self._bursts.rest())
        if self._monitor is not None:
            self._book.found(self._monitor.end())
            if self._wire is None or not self._wire.rests or (self._ahead.waits and self._book.result.judged):
                self._book.cut(what, "in the middle of a trace")
        elif self._golden is not None:
            self._book.cut(what, "in the middle of a trace")
        elif self._listeners.in_run:
            self._book.cut(what, "in the middle of a run")
        self._forget()
        self._wire = None

    def _forget(self) -> None:
        self.lost()
        self._listeners.forget()
        self._golden = None
        self._always_cancelling = self._is_late = False

    # --- lines ------------------------------------------------------------------------------------------------

    def _play(self, golden: Golden) -> None:
        """Judge the runtime's side of a golden trace, of which all is known now."""
        self._golden = None
        if golden.damaged:
            return
        self._always_cancelling = golden.cancelling
        now = self._book.at
        for at, line in golden.lines:
            self._book.at = at
            self._try(self._trace, line, b"")
        self._book.at = now

    def _trace(self, line: Object, raw: bytes) -> None:
        """A line of a trace. Raises: UnreadableError: it has not the shape of one."""
        self._tell(checked(line), raw)

    def _hail(self, hello: Object) -> None:
        """A subject says what it is."""
        self.close("the session before")
        self._book.turn_page()
        self._book.named(str(hello.get("profile")))
        features = hello.get("features")
        self._always_cancelling = type(features) is dict and features.get("abort") == "cancelling"
        self._is_late = hello.get("quiescence") == "none"
        if self._is_late:
            self._book.leave_out(WITHOUT_QUIESCENCE)

    def _went(self, message: Object, raw: bytes) -> None:
        """What went over a wire, and perhaps ahead."""
        if message.get("tell") != "hello":
            self._book.result.sides["tester" if "cmd" in message else "subject"] += 1
        now = self._book.at
        for each, at, its in self._ahead.add(message, now, raw):
            self._book.at = at
            self._try(self._message, each, its)
        self._book.at = now
        if self._ahead.full:
            if self._book.result.sides["subject"]:
                self._book.note(now, _MISSING)
            self.lost()

    def _message(self, message: Object, raw: bytes) -> None:
        """What goes over a wire when its turn has come."""
        wire = self._wire
        assert wire is not None
        if self._monitor is not None or message.get("cmd") == "create":
            line = wire.translate(message)
            if self._is_late and "re" in message:
                self._take_reply()
                self._reply = line, self._book.at, raw
                return
            if "cmd" in message:
                self._take_reply()
            self._tell(line, raw)
        elif (heard := wire.overhear(message)) is not None:
            self._listeners.hear(*heard, raw)

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
        for line, (at, raw) in lines:
            self._book.at = at
            self._try(self._judge, line, raw)
        self._book.at = now

    def _try(self, judge: Callable[[Object, bytes], None], line: Object, raw: bytes) -> None:
        """Judge a line that may have been held back: if that cannot be, it is said of this line."""
        try:
            judge(line, raw)
        except UnreadableError as error:
            self._lose(error, raw)
        except RecursionError:
            self._lose(TooDeepError(), raw)

    def _judge(self, line: Object, raw: bytes) -> None:
        for command in commands_of(line):
            self._sent(command)
        event = event_of(line)
        key = "" if event is None else line["ask"]["key"] if is_ask(line) else line["key"]
        if self._monitor is not None:
            self._book.result.asked += self._shows(line)
            if event is not None:
                self._listeners.count(key, event)
            self._book.found(self._monitor.tell(line), raw)
            if self._monitor.open > _OPEN:
                raise UnreadableError(
                    f"more than {_OPEN:,} callbacks are open, and no more are followed at once"
                )
        elif event is not None:
            self._listeners.hear(key, event, raw)
        if "end" in line:
            self._forget()
            self._book.turn_page(behind=True)

    def _shows(self, line: Object) -> bool:
        """Whether the subject says something by a line that there is to judge: a command alone is none."""
        if "send" in line:
            self._does = any(map(does_something, commands_of(line)))
            return False
        return self._does or "ask" in line or "tell" in line

    def _sent(self, command: Object) -> None:
        """Raises: TooManyListenersError: there are too many."""
        kind = command.get("cmd")
        if kind == "create":
            self._subscribed = set(command.get("listeners", ()))
            self._create(command)
        elif kind == "subscribe":
            self._subscribed.add(command["key"])
        elif kind == "unsubscribe":
            self._subscribed.discard(command["key"])
            self._listeners.leave(command["key"])
        if len(self._subscribed) > MOST:
            self._subscribed.clear()  # until the next agent is created nobody is subscribed to
            raise TooManyListenersError

    def _create(self, command: Object) -> None:
        """A new agent. If its aborts are of another kind than those of the one before, it has a monitor of its own."""
        cancelling = self._always_cancelling or cancels(command)
        self._listeners.forget()
        candidates = self._book.basis.profiles
        if self._monitor is not None:
            if self._cancelling is cancelling:
                return
            candidates = self._monitor.candidates
        self._settle()
        self._monitor = TraceMonitor(self._book.basis.force, candidates, cancelling=cancelling)
        self._cancelling = cancelling
