"""The endpoint's server-sent events, as Pi's own reader for it takes them.

It is simpler than the format allows: two line feeds end an event, whatever stands before them, and only `data:` counts.
What is cut off by the end of the stream counts too.
"""

from __future__ import annotations

import codecs
from typing import Final

from ...tools.js_number import WHITESPACE

_END: Final = "\n\n"
_FIELD: Final = "data:"
_DONE: Final = "[DONE]"


class DataLines:
    """Reads one stream: bytes in, the data of events out."""

    def __init__(self) -> None:
        # It takes a byte order mark at the very beginning away.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._pieces: list[str] = []  # of what has no end yet
        self._ended_with_feed = False

    def feed(self, data: bytes) -> list[str]:
        """Read the next bytes; gives the data of the events that are complete with them."""
        return self._read(self._decoder.decode(data))

    def end(self) -> list[str]:
        """The stream is over; gives the data of what it has cut off."""
        events = self._read(self._decoder.decode(b"", True))
        rest = "".join(self._pieces)
        return [*events, *_data(rest)] if rest.strip(WHITESPACE) else events

    def _read(self, text: str) -> list[str]:
        if not text:
            return []
        over = self._ended_with_feed and text[0] == "\n"  # the two feeds have come one by one
        self._ended_with_feed = text[-1] == "\n"
        self._pieces.append(text)
        if not over and _END not in text:
            return []
        *events, rest = "".join(self._pieces).split(_END)
        self._pieces = [rest]
        self._ended_with_feed = rest.endswith("\n")
        return [data for event in events for data in _data(event)]


def _data(event: str) -> list[str]:
    """The data of one event, if it has any."""
    lines = [line[len(_FIELD) :].strip(WHITESPACE) for line in event.split("\n") if line.startswith(_FIELD)]
    data = "\n".join(lines).strip(WHITESPACE)
    return [data] if data and data != _DONE else []
