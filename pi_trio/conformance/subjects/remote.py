"""A subject at the other end of a line, whatever the line is: a pipe or a WebSocket.

Everything that the tester asks of such a subject has a bound: the wait for its `hello`, the wait for each
reply, and how much it may say. What differs between the lines is how one message is sent and how the next one
is received; that is left to the classes that have one.
"""

from __future__ import annotations

import abc
from typing import Final

import trio

from pi_trio.conformance.faults import ProtocolFault, SubjectFault, SubjectSilent, SubjectUnstartable
from pi_trio.conformance.protocol import Limits, Object, check_hello
from pi_trio.jsontext import print_json

HELLO_WITHIN: Final = 60.0
"""Seconds that a subject has for its `hello`."""

PATIENCE: Final = 30.0
"""Seconds that a subject has for one reply, if nobody says otherwise."""


class RemoteSubject(abc.ABC):
    """A subject that is reached by messages.

    Args:
        patience: seconds for each reply.
        limits: how much the subject may say.
    """

    def __init__(self, patience: float, limits: Limits) -> None:
        self._patience = patience
        self._limits = limits
        self._bytes = self._reply_bytes = self._messages = self._values = 0
        self.at_rest = False
        """It owes nothing: its last request was answered, and none has begun."""
        self.hello: Object = {}

    async def request(self, command: Object) -> list[Object]:
        """Send one command and read up to its reply; see `Subject`.

        When cancelled in between, the subject cannot be used any more.
        """
        if command["cmd"] == "create":
            self._bytes = self._messages = self._values = 0
        self._reply_bytes = 0
        received: list[Object] = []
        self.at_rest = False
        try:
            with trio.move_on_after(self._patience) as scope:
                await self._send(print_json(command))
                while "re" not in (message := await self._next()):
                    received.append(message)
                    self._count_message()
                    if len(received) > self._limits.messages:
                        raise ProtocolFault(
                            f"more than {self._limits.messages} messages in answer to {command['cmd']}"
                        )
                self.at_rest = True
                return [*received, message]
        except SubjectFault as fault:
            await self._last_words()
            raise type(fault)(fault.message, stderr=self._stderr_text(), received=tuple(received)) from None
        assert scope.cancelled_caught
        raise SubjectSilent(
            f"no reply to {command['cmd']} within {self._patience:g} seconds",
            stderr=self._stderr_text(),
            received=tuple(received),
        )

    @property
    def patience(self) -> float:
        return self._patience

    async def more(self, until: float) -> Object | None:
        """The next message of a subject that speaks unasked; see `Unhurried`.

        When cancelled, a message may be lost.
        """
        try:
            with trio.move_on_at(until):
                message = await self._next()
                if "re" in message:
                    raise ProtocolFault("it replied twice to one command")
                self._count_message()
                return message
        except SubjectFault as fault:
            await self._last_words()
            raise type(fault)(fault.message, stderr=self._stderr_text()) from None
        return None

    def unasked(self) -> list[Object]:
        """What has arrived behind the last reply; see `Overheard`."""
        messages: list[Object] = []
        while (message := self._arrived()) is not None:
            if "re" in message:
                raise ProtocolFault("it replied twice to one command")
            self._count_message()
            messages.append(message)
        return messages

    async def introduce(self, within: float) -> None:
        """Wait for `hello`. Raises: SubjectUnstartable."""
        try:
            with trio.fail_after(within):
                self.hello = await self._next()
            check_hello(self.hello)
            self.at_rest = True
        except trio.TooSlowError:
            raise SubjectUnstartable(
                f"no hello within {within:g} seconds", stderr=self._stderr_text()
            ) from None
        except SubjectFault as fault:
            await self._last_words()
            raise SubjectUnstartable(f"no valid hello: {fault.message}", stderr=self._stderr_text()) from None

    def _count(self, came: bytes) -> None:
        """Enter what came in. Raises: ProtocolFault: it is too much."""
        self._bytes += len(came)
        self._reply_bytes += len(came)
        self._values += sum(map(came.count, (b"{", b"[", b",")))
        if self._reply_bytes > self._limits.reply:
            raise ProtocolFault(f"more than {self._limits.reply} bytes in answer to one command")
        if self._bytes > self._limits.total:
            raise ProtocolFault(f"more than {self._limits.total} bytes for one agent")
        if self._values > self._limits.values:
            raise ProtocolFault(f"more than {self._limits.values} values for one agent")

    def _count_message(self) -> None:
        """Enter a message that is no reply. Raises: ProtocolFault: there are too many."""
        self._messages += 1
        if self._messages > self._limits.total_messages:
            raise ProtocolFault(f"more than {self._limits.total_messages} messages for one agent")

    @abc.abstractmethod
    async def _send(self, text: str) -> None:
        """Send one message. Raises: SubjectDied."""

    @abc.abstractmethod
    async def _next(self) -> Object:
        """The next message, its shape checked. Raises: SubjectDied, ProtocolFault."""

    def _arrived(self) -> Object | None:
        """The next message, if it has arrived whole. Raises: ProtocolFault."""
        return None

    async def _last_words(self) -> None:
        """If the subject is gone, let what it still had to say arrive; for a bounded time."""
        await trio.lowlevel.checkpoint()

    def _stderr_text(self) -> str:
        """The end of what the subject wrote beside the protocol."""
        return ""
