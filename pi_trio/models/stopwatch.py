"""How long a response took: what the last message of a stream says since 1.6.0."""

from __future__ import annotations

import attrs
import trio

from ..messages import AssistantMessage
from ..timestamps import now


class Stopwatch:
    """Runs from when it is made, inside of trio.

    Attributes:
        began_at: when that was, in Unix milliseconds.
    """

    def __init__(self) -> None:
        self.began_at = now()
        self._began = trio.current_time()

    def stamp(self, message: AssistantMessage) -> AssistantMessage:
        """The message with its duration, unless it has one, or is older than the watch: then it was made before."""
        if message.duration_ms is not None or message.timestamp < self.began_at:
            return message
        return attrs.evolve(message, duration_ms=round((trio.current_time() - self._began) * 1000))
