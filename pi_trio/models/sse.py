"""Server-sent events, out of bytes as they come.

Bytes in, events out, and no network: the boundaries of what was read mean nothing here, neither inside of a character
nor between a carriage return and its line feed. A byte that is no UTF-8 becomes U+FFFD, as in a browser.

The providers' clients read streams less strictly than a browser does, and so does this: an event with a name and no
data is one, identifiers and pauses mean nothing, and (`flush_at_end`) an event that the end of the stream has cut off
may count; and an error text shows the lines as they came. So it is a decoder of its own: that of `httpx_sse` follows
the standard in these points, and takes twice the time.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    """One event.

    Attributes:
        event: its name; None if it has none.
        data: its data; several lines of it are joined by line feeds.
        lines: all its lines as they came, comments and what meant nothing before it included, for error texts.
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
        self._lines: list[str] = []  # the lines of the event that is being read

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Read the next bytes; gives the events that are complete with them."""
        return self._read(self._decoder.decode(data))

    def end(self) -> list[ServerSentEvent]:
        """The stream is over; gives the event that it has cut off, where such a one counts."""
        events = self._read(self._decoder.decode(b"", True))
        if not self._flush_at_end:
            return events
        if line := "".join(self._line):
            self._lines.append(line)
        self._line.clear()
        return [*events, *self._ended()]

    def _read(self, text: str) -> list[ServerSentEvent]:
        if self._after_return and text:
            self._after_return = False
            text = text.removeprefix("\n")  # the return has ended the line already
        if "\r" in text:
            self._after_return = text.endswith("\r")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        first, *lines = text.split("\n")
        self._line.append(first)
        if not lines:
            return []
        lines.insert(0, "".join(self._line))
        self._line = [last] if (last := lines.pop()) else []
        events: list[ServerSentEvent] = []
        for line in lines:
            if line:
                self._lines.append(line)
            else:
                events += self._ended()
        return events

    def _ended(self) -> Iterable[ServerSentEvent]:
        """The event that the lines make; none if they have neither a name nor data, and then they stay."""
        name: str | None = None
        data: list[str] = []
        for line in self._lines:
            field, _, value = line.partition(":")
            if field == "data":
                data.append(value.removeprefix(" "))
            elif field == "event":
                name = value.removeprefix(" ")
        if not name and not data:
            return ()
        event = ServerSentEvent(name, "\n".join(data), self._lines)
        self._lines = []
        return (event,)
