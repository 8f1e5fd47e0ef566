"""One log on its way through the monitors, line by line.

A line says by itself what it is, and most say an event of an agent: those go the short way, and everything else is
looked at twice. Nothing is kept of what was read but what the monitors keep, so a log may be of any length.

Where a line cannot be read, what it said is not known, so from there on the log is judged like one that begins midway.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pi_trio.conformance.envelope import EVENT_TYPES
from pi_trio.conformance.monitors import EventMonitor, Force
from pi_trio.conformance.monitors.response import STREAM_EVENTS
from pi_trio.conformance.protocol import Object

from .basis import Basis
from .book import Book
from .left_out import BARE, IN_A_SESSION
from .lines import (
    LONGEST,
    MEGABYTE,
    NothingKnownError,
    TooDeepError,
    UnreadableError,
    decoder,
    is_cut,
    read_object,
)
from .outcome import Checked, Remark
from .responses import Responses
from .session import HEADER, SESSION_TYPES, SETTLED, bare_update, is_custom
from .traces import Traces
from .wire import is_any

_ENDS: Final = frozenset({"\n", "\r\n", ""})
_TYPES: Final = EVENT_TYPES | STREAM_EVENTS
"""What a line may be that is judged by its type."""
_EVERY: Final = 0x3FFF
"""After so many lines it is told how far the log was read."""
_NAMES: Final = 100
"""So many different types that nobody knows are told apart."""
_LENGTH: Final = 60
"""So many characters of each are kept."""
_UNENDED: Final = (
    "the run before may have ended unheard: a listener behind one that fails misses what that was told, and a loop "
    "whose run throws says no end; both sides of a wire, from the creation on, tell for sure"
)


class LogCheck:
    """Judges a log.

    Args:
        say: hears each remark as it is made.
        complete: the log holds whole runs, so one that ends in the middle of a run has a fault.
        midway: it may begin in the middle of a run.
        longest: so many bytes a line may have.
    """

    def __init__(
        self,
        basis: Basis,
        say: Callable[[Remark], None],
        *,
        complete: bool = False,
        midway: bool = False,
        longest: int = LONGEST,
    ) -> None:
        self._longest = longest
        self._book = Book(basis, say, complete=complete, midway=midway)
        self._traces = Traces(self._book, self._lost)
        self._responses = Responses(self._book)
        self._monitor: EventMonitor | None = None
        self._session = False
        self._open_runs = 0
        self._second_run = 0
        self._unended = 0
        """The first line at which a run begins, and should not, since the one before has not ended."""

    def read(self, file: Iterable[bytes], tick: Callable[[], object] = lambda: None) -> None:
        """Judge the lines of a file. `tick` is called now and then."""
        for raw in self._lines(file):
            self._line(raw)
            del raw  # it may be large, and the next one too
            if not self._book.at & _EVERY:
                tick()

    def _lines(self, file: Iterable[bytes]) -> Iterator[bytes]:
        """The lines, as far as they can be read. What fails where they are judged, or told of, fails there."""
        try:
            for raw in file:
                yield raw
                del raw
        except EOFError:
            self._book.cut("the log", "in the middle of what gzip has packed")
        except (OSError, zlib.error) as error:
            self._book.at += 1
            self._book.remark("unreadable", f"the log cannot be read on: {error}")

    def end(self, *, interrupted: bool = False) -> Checked:
        """The log ends here, or was read no further."""
        result = self._book.result
        result.interrupted = interrupted
        self._close("the log")
        result.lines = self._book.at
        return result

    # --- lines ------------------------------------------------------------------------------------------------

    def _line(self, raw: bytes) -> None:
        self._book.at += 1
        if len(raw) - raw.endswith(b"\n") > self._longest:
            self._lost(UnreadableError(_too_long(self._longest)), raw[:_LENGTH] + b"\n")
            return
        event: Object = {}
        kind = text = ""
        try:
            text = str(raw, "utf-8")
            event, end = decoder.raw_decode(text)
            kind = event["type"]
            plain = kind in _TYPES and text[end:] in _ENDS
        except (ValueError, LookupError, TypeError, RecursionError, UnreadableError):
            plain = False
        del text  # it may be large
        try:
            if plain:
                self._typed(kind, event, raw)
            elif not raw.isspace():
                self._other(raw)
        except UnreadableError as error:
            self._lost(error, raw)
        except RecursionError:
            self._lost(TooDeepError(), raw)

    def _other(self, raw: bytes) -> None:
        """A line that is not simply an event."""
        line = read_object(raw)
        kind = line.get("type")
        if type(kind) is not str:
            if self._monitor is not None:
                if not is_any(line):
                    raise NothingKnownError
                self._close_events("the log")
            self._responses.close("the log of a provider")
            self._traces.line(line, raw)
        elif kind in _TYPES:
            self._typed(kind, line, raw)
        else:
            self._aside(kind)

    def _typed(self, kind: str, event: Object, raw: bytes) -> None:
        if kind in EVENT_TYPES:
            self._responses.close("the log of a provider")
            self._event(kind, event, raw)
        elif self._monitor is None and not self._traces.open and not self._session and self._responses.judges:
            self._responses.event(event, raw)
        else:
            self._aside(kind)

    def _lost(self, why: UnreadableError, raw: bytes) -> None:
        """A line that nobody can read."""
        if not raw.endswith(b"\n") and is_cut(raw):
            self._book.cut("the log", "in the middle of a line")
            return
        self._book.remark("unreadable", str(why), raw, reason=why.reason)
        self._book.midway = True
        self._traces.lost()
        self._responses.lost()
        if self._monitor is not None:
            self._book.settle(self._monitor)
            self._monitor = EventMonitor(self._force(), self._monitor.candidates, midway=True)
            self._forget_runs()

    def _aside(self, kind: str) -> None:
        """What is no event of an agent."""
        result = self._book.result
        if kind == HEADER:
            self._close("the session before")
            self._of_session()
        elif kind in SESSION_TYPES:
            if kind == SETTLED and not self._session and self._monitor is not None:
                self._of_session()
            result.session[kind] += 1
        else:
            name = kind if len(kind) <= _LENGTH else f"{kind[:_LENGTH]}…"
            known = name in result.skipped or len(result.skipped) < _NAMES
            result.skipped[name if known else "and others"] += 1

    def _of_session(self) -> None:
        """From here on a session's extensions may have done what they do."""
        self._session = True
        self._book.result.left_out |= IN_A_SESSION
        if self._monitor is not None:
            self._book.settle(self._monitor)
            self._monitor = EventMonitor(self._force(), self._monitor.candidates)

    # --- events -----------------------------------------------------------------------------------------------

    def _event(self, kind: str, event: Object, raw: bytes) -> None:
        monitor = self._monitor or self._begin(kind, event)
        result = self._book.result
        if kind == "message_update":
            if self._session:
                event = bare_update(event)
            elif "message" not in event:
                event = bare_update(event)
                result.left_out |= BARE
        elif self._session and is_custom(event) and kind not in monitor.allowed().events:
            # An extension has added it to the transcript, at a moment when no agent says any.
            result.session["custom messages of extensions"] += kind == "message_start"
            return
        elif kind == "agent_start":
            self._run_begins()
        found = monitor.tell(event)
        result.events += 1
        if found:
            self._book.found(found, raw)
            if kind == "agent_start" and any(each.kind == "broken" for each in found):
                self._unended = self._unended or self._book.at
        if kind == "agent_end":
            self._run_ends()

    def _begin(self, kind: str, event: Object) -> EventMonitor:
        if self._traces.open:
            self._close("the log")
        if not (self._session and is_custom(event)):
            self._book.begins(kind)
        self._monitor = EventMonitor(self._force(), self._book.basis.profiles, midway=self._book.midway)
        return self._monitor

    def _force(self) -> Force:
        basis = self._book.basis
        return (basis.without(IN_A_SESSION) if self._session else basis).force

    def _run_begins(self) -> None:
        self._book.result.runs += 1
        self._open_runs += 1
        if self._open_runs > 1 and not self._second_run:
            self._second_run = self._book.at

    def _run_ends(self) -> None:
        """If two runs were open and both end, then two agents have written."""
        self._open_runs = max(0, self._open_runs - 1)
        if not self._open_runs and self._second_run:
            self._book.note(
                self._second_run,
                "here a second run begins while one is open, and both go on: this is what two agents have said, and a "
                "log is of one",
            )
            self._second_run = self._unended = 0

    def _forget_runs(self) -> None:
        """What comes next is of another run. Of one agent's runs one may still have begun inside another."""
        if self._unended:
            self._book.note(self._unended, _UNENDED)
        self._open_runs = self._second_run = self._unended = 0

    # --- ends -------------------------------------------------------------------------------------------------

    def _close(self, what: str) -> None:
        """What came so far ends here, and what comes next is another agent's."""
        if self._monitor is not None:
            self._close_events(what)
        self._traces.close(what)
        self._responses.close(what)
        self._book.turn_page()

    def _close_events(self, what: str) -> None:
        monitor, self._monitor = self._monitor, None
        assert monitor is not None
        self._forget_runs()
        if self._book.closes:
            self._book.found(monitor.end(closed=True))
        elif "agent_start" not in monitor.allowed().events:
            self._book.cut(what, f"in the middle of a run ({monitor.place})")
        self._book.settle(monitor)


def _too_long(longest: int) -> str:
    most = f"{longest / MEGABYTE:g} MB" if longest >= MEGABYTE else f"{longest:,} bytes"
    return f"a line that is longer than {most}, so it was passed over; --longest-line may allow more"
