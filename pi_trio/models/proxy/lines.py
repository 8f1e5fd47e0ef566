"""The bytes of a proxy's answer, read as lines of data.

It looks like server-sent events, and is less: a line that begins with `data: ` is an event, and every other one is
nothing. Lines end with LF alone; a CR before it is white space. So the last line counts without its LF, too, which the
rules of server-sent events forbid.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Final

from ...tools.js_number import WHITESPACE

_DATA: Final = "data: "


class DataLines:
    """Gives what stands in the lines of data, as soon as their ends have come, however the bytes are cut.

    Bytes that are no UTF-8 become U+FFFD, as in a browser; a byte order mark at the beginning is dropped.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._begun: list[str] = []  # the pieces of the line whose end has not come

    def feed(self, data: bytes) -> Iterator[str]:
        """Read the next bytes. All of what is given is to be taken before the next ones."""
        *lines, rest = self._decoder.decode(data).split("\n")
        for line in lines:
            yield from _data("".join((*self._begun, line)))
            self._begun.clear()
        if rest:
            self._begun.append(rest)

    def end(self) -> Iterator[str]:
        """All bytes have come: what the last line holds."""
        yield from _data("".join((*self._begun, self._decoder.decode(b"", final=True))))
        self._begun.clear()


def _data(line: str) -> Iterator[str]:
    if line.startswith(_DATA) and (data := line[len(_DATA) :].strip(WHITESPACE)):
        yield data
