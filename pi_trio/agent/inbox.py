"""What waits to be said: the two queues of an agent, and who may put something in.

Anybody may at any time, a run or not. A run takes from them by its polls (`polls`), and looks at their modes then.
"""

from __future__ import annotations

from typing import Final

from ..messages import Message
from .given import message_of
from .queues import MessageQueue, QueueMode
from .settings import OneOf

QUEUE_MODES: Final = OneOf[QueueMode]("one-at-a-time", "all")


class Inbox:
    """The queues of an `Agent`, which says what their modes mean.

    A class of its own, so that `Agent` reads as what an agent does.
    """

    def __init__(self, steering_mode: QueueMode, follow_up_mode: QueueMode) -> None:
        self._steering, self._follow_up = MessageQueue(), MessageQueue()
        self.steering_mode, self.follow_up_mode = steering_mode, follow_up_mode

    @property
    def steering_mode(self) -> QueueMode:
        """How much a steering poll takes."""
        return self._steering.mode

    @steering_mode.setter
    def steering_mode(self, mode: QueueMode) -> None:
        QUEUE_MODES.check(mode, "steering_mode")
        self._steering.mode = mode

    @property
    def follow_up_mode(self) -> QueueMode:
        """How much a follow-up poll takes."""
        return self._follow_up.mode

    @follow_up_mode.setter
    def follow_up_mode(self, mode: QueueMode) -> None:
        QUEUE_MODES.check(mode, "follow_up_mode")
        self._follow_up.mode = mode

    def steer(self, message: str | Message) -> None:
        """Queue a message, or a text of the user, for the next turn; at any time, and in any thread.

        Raises:
            TypeError: it is neither.
        """
        self._steering.append(message_of(message))

    def follow_up(self, message: str | Message) -> None:
        """Queue a message, or a text of the user, for when the run would end; at any time, and in any thread.

        Raises:
            TypeError: it is neither.
        """
        self._follow_up.append(message_of(message))

    def clear_steering_queue(self) -> None:
        """Forget the queued steering messages."""
        self._steering.clear()

    def clear_follow_up_queue(self) -> None:
        """Forget the queued follow-up messages."""
        self._follow_up.clear()

    def clear_all_queues(self) -> None:
        """Forget everything that is queued."""
        self._steering.clear()
        self._follow_up.clear()

    def has_queued_messages(self) -> bool:
        """Whether anything is queued."""
        return bool(len(self._steering) or len(self._follow_up))

    def peek_queued_messages(self) -> tuple[Message, ...]:
        """What the next poll of steering would take, or if that is nothing, of follow-up (1.0.3)."""
        return self._steering.peek() or self._follow_up.peek()
