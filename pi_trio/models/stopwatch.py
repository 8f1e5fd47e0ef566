"""How long a response took: what the last message of a stream says since 1.6.0."""

from __future__ import annotations

import attrs
import trio

from ..events import StreamDone, StreamError
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

    @property
    def duration_ms(self) -> int:
        """How long it has run, in milliseconds."""
        return round((trio.current_time() - self._began) * 1000)

    def time(self, last: StreamDone | StreamError) -> StreamDone | StreamError:
        """The last event of a response that is made while the watch runs, with its duration in its message."""
        if isinstance(last, StreamDone):
            return attrs.evolve(last, message=attrs.evolve(last.message, duration_ms=self.duration_ms))
        return attrs.evolve(last, error=attrs.evolve(last.error, duration_ms=self.duration_ms))

    def stamp(self, message: AssistantMessage) -> AssistantMessage:
        """The message with its duration, unless it has one, or is older than the watch: then it was made before."""
        if message.duration_ms is not None or message.timestamp < self.began_at:
            return message
        return attrs.evolve(message, duration_ms=self.duration_ms)
