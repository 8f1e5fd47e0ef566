"""What the tester asks of a subject, whatever it is and wherever it runs."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .protocol import Object


class Subject(Protocol):
    """Any implementation of the Pi agent protocol, ready to be driven."""

    @property
    def hello(self) -> Object:
        """How it introduced itself."""
        ...

    async def request(self, command: Object) -> list[Object]:
        """Send one command (with an `id`); the messages up to its reply, the reply last.

        Raises:
            SubjectFault: the subject broke off. It cannot be used any more.
        """
        ...


@runtime_checkable
class Overheard(Subject, Protocol):
    """A subject of which more may have arrived than was asked for."""

    def unasked(self) -> list[Object]:
        """The messages behind the last reply that have arrived already; nothing is waited for.

        Raises:
            ProtocolFault: one of them is none, or is a reply.
        """
        ...


@runtime_checkable
class Unhurried(Subject, Protocol):
    """A subject that may speak after its reply."""

    @property
    def patience(self) -> float:
        """How long the tester waits for it, in seconds."""
        ...

    async def more(self, until: float) -> Object | None:
        """The next message; None if there is none until then, by trio's clock.

        Raises:
            SubjectFault: the subject broke off.
        """
        ...
