"""What is known of an agent by more than its events: to one who sees the trace."""

from __future__ import annotations

from typing import Protocol

from .content import Object


class Known(Protocol):
    """What is known of an agent by more than its events, where it is driven."""

    aborted: bool
    """The open run was aborted."""
    ever_failed: bool
    """Something has failed, in this run or in one before."""
    failing: bool
    """Something has failed in the open run."""

    @property
    def starts(self) -> int:
        """How many starts the stream of the open turn has given to its answer."""
        ...

    @property
    def cuts(self) -> bool:
        """Whether an abort may have made an answer, which no stream has given."""
        ...

    def injects(self, event: Object, /) -> bool:
        """Whether an event says a message that was given to the run, whatever it looks like."""
        ...

    def doubts(self, answer: Object, /) -> bool:
        """Whether what was said as the answer was found to be wrong already."""
        ...

    def answers(self, message: Object, /) -> bool:
        """Whether the stream of the open turn has given what begins an answer like this."""
        ...
