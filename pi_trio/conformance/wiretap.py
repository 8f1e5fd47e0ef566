"""What went over the wire in one scenario, kept for who wants to read it: text, and only the end of it.

A verdict may outlive its scenario by hundreds of others, and a subject may say millions of things in each. So what is
kept has a bound, and is kept as text: what was parsed takes many times the room.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Final

from .protocol import Object

KEPT: Final = 64 * 1024
"""Characters that are kept of one scenario."""

_LINE: Final = 8 * 1024
"""Characters that are kept of one message."""


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Wiretap:
    """The end of a conversation: `kept` characters of it, or nothing at all."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lines: deque[str] = deque()
        self._size = 0
        self._lost = 0

    def add(self, direction: str, *messages: Object) -> None:
        """Enter messages that were sent (`>`) or received (`<`)."""
        for message in messages if self._kept else ():
            text = _encode(message)
            if len(text) > _LINE:
                text = f"{text[:_LINE]} … ({len(text) - _LINE} more characters)"
            self._lines.append(f"{direction} {text}")
            self._size += len(text)
            while self._size > self._kept:
                self._size -= len(self._lines.popleft()) - 2
                self._lost += 1

    def lines(self) -> tuple[str, ...]:
        """A line for each message, the direction first; and before them how many messages are not kept."""
        lost = (f"… {self._lost} messages before",) if self._lost else ()
        return (*lost, *self._lines)
