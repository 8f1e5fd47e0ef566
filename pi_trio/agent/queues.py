"""A queue of messages that wait for their turn: steering, or follow-ups.

The mode is looked at at every drain, so changing it in the middle of a run takes effect at the next poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ..messages import Message

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]


class MessageQueue:
    """Messages in the order in which they were queued."""

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode: QueueMode = mode
        self._messages: list[Message] = []

    def append(self, message: Message) -> None:
        """Queue a message behind the others."""
        self._messages.append(message)

    def peek(self) -> tuple[Message, ...]:
        """What `drain` would take now: everything in mode "all", else the oldest message."""
        return tuple(self._messages if self.mode == "all" else self._messages[:1])

    def drain(self) -> tuple[Message, ...]:
        """Take what the mode allows."""
        taken = self.peek()
        del self._messages[: len(taken)]
        return taken

    def put_back(self, messages: Sequence[Message]) -> None:
        """Put drained messages that nobody has seen back at the head (D-09)."""
        self._messages[:0] = messages

    def clear(self) -> None:
        """Forget everything that is queued."""
        self._messages.clear()

    def __len__(self) -> int:
        return len(self._messages)
