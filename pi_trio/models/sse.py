"""Server-sent events, out of bytes as they come.

Bytes in, events out, and no network: the boundaries of what was read mean nothing here, neither inside of a character
nor between a carriage return and its line feed. A byte that is no UTF-8 becomes U+FFFD, as in a browser.

The providers' clients read streams less strictly than a browser does, and so does this: an event with a name and no
data is one, identifiers and pauses mean nothing, and (`flush_at_end`) an event that the end of the stream has cut off
may count; and an error text shows the lines as they came. So it is a decoder of its own: that of `httpx_sse` follows
the standard in these points, and takes twice the time.

Whatever comes, memory and time are bounded: a line is looked at once, an event has a limit, and of what means nothing
(a server may say that it is still there for hours) only the beginning is kept for an error text.
"""

from __future__ import annotations

import codecs
from typing import Final, NamedTuple

from .transport_errors import MalformedAnswerError

#: What an event may take, in characters; of that, what lines without a meaning may.
_LIMIT: Final = 32 * 1024 * 1024
_IDLE_LIMIT: Final = 64 * 1024
#: What a piece of text takes beyond its characters.
_PIECE: Final = 64


class ServerSentEvent(NamedTuple):
    """One event.

    Attributes:
        event: its name; None if it has none.
        data: its data; several lines of it are joined by line feeds.
        lines: its lines as they came, comments and what meant nothing before it included, for error texts. Where
            there is very much of what meant nothing, it is only the beginning of that.
    """

    event: str | None
    data: str
    lines: list[str]


class SseDecoder:
    """Reads one stream of events.

    Args:
        flush_at_end: whether an event that no blank line has ended counts when the stream is over.
    """

    def __init__(self, *, flush_at_end: bool = True) -> None:
        self._flush_at_end = flush_at_end
        # It takes a byte order mark at the very beginning away.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._after_return = False
        self._line: list[str] = []  # the pieces of the line that is being read
        self._line_room = _LIMIT
        self._begin()

    def _begin(self) -> None:
        """Another event may come."""
        self._name: str | None = None
        self._data: list[str] = []
        self._lines: list[str] = []
        self._room = _LIMIT
        self._idle_room = _IDLE_LIMIT

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Read the next bytes; gives the events that are complete with them.

        Raises:
            MalformedAnswerError: an event has no end.
        """
        return self._read(self._decoder.decode(data))

    def end(self) -> list[ServerSentEvent]:
        """The stream is over; gives the event that it has cut off, where such a one counts."""
        events = self._read(self._decoder.decode(b"", True))
        if not self._flush_at_end:
            return events
        if line := "".join(self._line):
            self._take(line)
        self._line.clear()
        if self._name or self._data:
            events.append(self._ended())
        return events

    def _read(self, text: str) -> list[ServerSentEvent]:
        if self._after_return and text:
            self._after_return = False
            text = text.removeprefix("\n")  # the return has ended the line already
        if "\r" in text:
            self._after_return = text.endswith("\r")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        first, *lines = text.split("\n")
        self._line.append(first)
        self._line_room -= len(first) + _PIECE
        if self._line_room < 0:
            raise _too_long()
        if not lines:
            return []
        lines.insert(0, "".join(self._line))
        self._line = [last] if (last := lines.pop()) else []
        self._line_room = _LIMIT - len(last)
        events: list[ServerSentEvent] = []
        for line in lines:
            if line:
                self._take(line)
            elif self._name or self._data:  # what has neither goes on
                events.append(self._ended())
        return events

    def _take(self, line: str) -> None:
        """Read a line that is not blank."""
        field, _, value = line.partition(":")
        size = len(line) + _PIECE
        if field == "data":
            self._data.append(value.removeprefix(" "))
        elif field == "event":
            self._name = value.removeprefix(" ")
        else:
            self._idle_room -= size
            if self._idle_room < 0:
                return
        self._lines.append(line)
        self._room -= size
        if self._room < 0:
            raise _too_long()

    def _ended(self) -> ServerSentEvent:
        """The event that the lines make."""
        event = ServerSentEvent(self._name, "\n".join(self._data), self._lines)
        self._begin()
        return event


def _too_long() -> MalformedAnswerError:
    return MalformedAnswerError(f"an event of it is longer than {_LIMIT // 1024**2} MiB")
