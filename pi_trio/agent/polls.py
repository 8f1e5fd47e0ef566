"""What one run takes from its agent's queues: the two polls of the loop.

What is taken is noted in the run's ledger in the same breath, so that a failure can put back what nobody has seen
(D-09). Protected, because Ctrl-C between the two would lose a message.
"""

from __future__ import annotations

import trio

from ..messages import Message
from .ledger import Ledger
from .queues import MessageQueue


class Polls:
    """The polls of one run.

    Args:
        skip_first: the first poll of steering gives nothing: what it would have given is the run's prompt already,
            and one-at-a-time stays one.
    """

    def __init__(
        self, ledger: Ledger, steering: MessageQueue, follow_up: MessageQueue, *, skip_first: bool
    ) -> None:
        self._ledger = ledger
        self._steering = steering
        self._follow_up = follow_up
        self._skip = skip_first

    @trio.lowlevel.enable_ki_protection
    def steering(self) -> tuple[Message, ...]:
        """What steering has for the next turn."""
        if self._skip:
            self._skip = False
            return ()
        return self._ledger.drained(self._steering, self._steering.drain())

    @trio.lowlevel.enable_ki_protection
    def follow_up(self) -> tuple[Message, ...]:
        """What is queued for when the run would end."""
        return self._ledger.drained(self._follow_up, self._follow_up.drain())
