"""The end of what a subject writes beside the protocol: its last words are what tells why it died."""

from __future__ import annotations

from typing import Final

KEPT: Final = 32 * 1024
"""Bytes that are kept, if nobody says otherwise."""


class Tail:
    """The last `size` bytes of a stream."""

    def __init__(self, size: int = KEPT) -> None:
        self._size = size
        self._bytes = bytearray()
        self._cut = False

    def add(self, chunk: bytes | bytearray) -> None:
        self._bytes += chunk
        if len(self._bytes) > self._size:
            self._cut = True
            del self._bytes[: -self._size]

    def text(self) -> str:
        """What is kept, as text; it begins with an ellipsis if something was lost."""
        text = self._bytes.decode("utf-8", "replace").strip()
        return f"… {text}" if self._cut else text
