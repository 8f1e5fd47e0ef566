"""A subject that is never told its own ids: what the tester says of an ask is said by its address."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.ledger import Ledger
from pi_trio.conformance.subject import Subject

Message = dict[str, Any]


class ByAddress:
    """A subject between whom and the tester ids become addresses."""

    def __init__(self, inner: Subject) -> None:
        self._inner = inner
        self._ledger = Ledger()
        self.hello = inner.hello

    async def request(self, command: Message) -> list[Message]:
        if command["cmd"] == "create":
            self._ledger = Ledger()
        messages = await self._inner.request(self._addressed(command))
        for message in messages:
            if "ask" in message and "tell" not in message:
                self._ledger.note_ask(message)
        return messages

    def _addressed(self, command: Message) -> Message:
        if command["cmd"] == "burst":
            return {**command, "cmds": [self._addressed(part) for part in command["cmds"]]}
        if "ask" not in command:
            return command
        return {**command, "ask": self._ledger.by_id(command["ask"]).address.to_json()}


def by_address(opener: Opener) -> Opener:
    """Opens that subject so."""

    @asynccontextmanager
    async def open_it() -> AsyncGenerator[ByAddress]:
        async with opener() as inner:
            yield ByAddress(inner)

    return open_it
