"""Answers that are compressed although nobody has asked for it: unpacked piece by piece, so that memory is bounded.

A little of what is compressed may become very much, so `take` gives it in pieces, and who takes them can stop.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Final

from .transport_errors import MalformedAnswerError

_PIECE: Final = 64 * 1024

#: The window and the header of a format of zlib, by the first bytes of what has it.
_FORMATS: Final[Mapping[str, Callable[[bytes], int]]] = {
    "gzip": lambda _: zlib.MAX_WBITS | 32,
    "x-gzip": lambda _: zlib.MAX_WBITS | 32,
    # It has a header of its own by the standard, and with some servers has none.
    "deflate": lambda data: zlib.MAX_WBITS if data[0] & 0xF == 8 else -zlib.MAX_WBITS,
}
#: What servers say of what is not compressed at all.
_PLAIN: Final = frozenset({"", "identity", "none", "utf-8"})


def unpacker(encoding: str) -> Unpacker | None:
    """What unpacks a body that has come with this header; None if there is nothing to unpack."""
    encoding = encoding.strip().lower()
    return None if encoding in _PLAIN else Unpacker(encoding)


class Unpacker:
    """Unpacks one body.

    Args:
        encoding: its name, in lower case.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._is_gzip = "gzip" in encoding
        self._packed = b""
        self._full = False  # the last piece was as long as it may be, so there may be more of it
        self._begun: zlib._Decompress | None = None

    def give(self, data: bytes) -> None:
        """Bytes have come. All that is there is to be taken first.

        Raises:
            MalformedAnswerError: nobody knows this encoding.
        """
        if self._encoding not in _FORMATS:
            raise MalformedAnswerError(f"it is encoded as {self._encoding}")
        self._packed = data

    def take(self) -> bytes:
        """The next piece, which is not long; none if more bytes have to come first.

        Raises:
            zlib.error: they are not what they should be.
        """
        while self._packed or self._full:
            if self._begun is None and not self._begin():
                return b""
            assert self._begun is not None
            piece = self._begun.decompress(self._packed, _PIECE)
            self._full = len(piece) == _PIECE
            self._packed = self._begun.unconsumed_tail
            if self._begun.eof:
                self._end()
            if piece:
                return piece
        return b""

    def _begin(self) -> bool:
        """Begin with the first bytes of a format, if they are here: zeros before a member of gzip mean nothing."""
        if self._is_gzip:
            self._packed = self._packed.lstrip(b"\0")
        if self._packed:
            self._begun = zlib.decompressobj(_FORMATS[self._encoding](self._packed))
        return self._begun is not None

    def _end(self) -> None:
        """The format is at its end: of gzip another member may follow."""
        assert self._begun is not None
        self._full = False
        if self._is_gzip:
            self._packed, self._begun = self._begun.unused_data, None
        else:
            self._packed = b""
