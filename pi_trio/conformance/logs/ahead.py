"""Commands that a tester sends ahead, before it has the reply to the one before.

A subject finishes one line before it begins the next, and replies behind all that a command has caused. So until that
reply, whatever it says is due to the command that is being done, and those behind it were not seen yet. Each is held
here until its turn comes; then a wire reads as if nobody had sent ahead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

from pi_trio.conformance.protocol import Object

from .lines import MEGABYTE

_MOST: Final = 1000
"""So many commands are held."""
_ROOM: Final = 16 * MEGABYTE
"""So many bytes they may have together."""

Placed: TypeAlias = tuple[Object, int, bytes]
"""A message with the number of its line, and the line itself."""


class Ahead:
    """Brings each command behind the reply to the one before it."""

    def __init__(self) -> None:
        self._doing: Placed | None = None
        """The command that was not replied to yet."""
        self._held: deque[Placed] = deque()
        self._bytes = 0

    @property
    def waits(self) -> bool:
        """Whether there are commands of which nobody knows whether they were begun."""
        return bool(self._held)

    @property
    def full(self) -> bool:
        """Whether more wait than any tester sends ahead: replies are missing."""
        return len(self._held) > _MOST or self._bytes > _ROOM

    def add(self, message: Object, at: int, raw: bytes) -> Sequence[Placed]:
        """Go on by one message: those whose turn it is now."""
        placed = message, at, raw
        if "cmd" not in message:
            return self._reply(placed) if "re" in message else (placed,)
        if self._doing is None:
            return self._begin(placed)
        self._held.append(placed)
        self._bytes += len(raw)
        return ()

    def _reply(self, placed: Placed) -> Sequence[Placed]:
        """A reply, behind what it shows to be done, and before the command that is begun then."""
        number = placed[0]["re"]
        turns: list[Placed] = []
        if self._held and number in [command.get("id") for command, _, _ in self._held]:
            while not self._is_to(number):  # the replies before this one are missing
                turns += self._end()
                turns += self._begin(self._next())
        if not self._is_to(number):
            return (placed,)
        turns += [*self._end(), placed]
        return [*turns, *self._begin(self._next())] if self._held else turns

    def _is_to(self, number: object) -> bool:
        """Whether the reply of a number is to the command that is being done. One without a number takes any."""
        return self._doing is not None and self._doing[0].get("id", number) == number

    def _begin(self, placed: Placed) -> Sequence[Placed]:
        """Until an agent is created, the former one may go on."""
        self._doing = placed
        return () if _creates(placed) else (placed,)

    def _end(self) -> Sequence[Placed]:
        done, self._doing = self._doing, None
        return (done,) if done is not None and _creates(done) else ()

    def _next(self) -> Placed:
        placed = self._held.popleft()
        self._bytes -= len(placed[2])
        return placed


def _creates(placed: Placed) -> bool:
    return placed[0].get("cmd") == "create"
