"""Asks: callbacks of the agent that wait for the tester's answer.

An `Ask` is written when the callback is called, and is what the callback returns: the agent awaits it. It is
*open* until it is answered (a stream: until the stream is closed), and until then an abort of its run is
told. When the agent stops waiting for it, it is withdrawn: what the tester still says to it has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, cast

import outcome
import trio

from pi_trio.conformance.shown import shown

from ...abort import AbortSignal
from ...errors import PiTrioError
from ...models.stream import ResponseStream
from ..protocol import Object


class DriverError(PiTrioError):
    """A command that the driver cannot carry out; it never reaches the agent."""


class RefusedError(PiTrioError):
    """A command that makes no sense to whom it is for, in its present state or ever."""

    def __init__(self, why: str) -> None:
        super().__init__(f"refused: {why}")


class Thrown(Exception):  # noqa: N818 - what it is depends on who catches it
    """What a callback raises because the tester said so."""


class Ask:
    """One callback that waits. Await it for its answer."""

    def __init__(
        self,
        book: Asks,
        ask_id: str,
        fn: str,
        *,
        key: str | None,
        event: str | None,
        accept: Callable[[Any], Any],
    ) -> None:
        self.id = ask_id
        self.fn = fn
        self.key = key
        self.event = event
        self.accept = accept
        self.stream: ResponseStream | None = None
        self.update: Callable[[Any], object] | None = None
        self.withdrawn = False
        self._book = book
        self._answer: outcome.Outcome[Any] | None = None
        self._waiter = trio.lowlevel.ParkingLot()
        self._unregister: Callable[[], None] | None = None

    @property
    def answered(self) -> bool:
        """Whether the tester has answered."""
        return self._answer is not None

    def watch(self, signal: AbortSignal) -> None:
        """Tell the tester when `signal` is raised, for as long as the ask is open."""
        if not signal.aborted:
            self._unregister = signal.on_abort(lambda: self._book.say({"tell": "signal", "ask": self.id}))

    def close(self) -> None:
        """An abort is no news to this ask any more."""
        if self._unregister is not None:
            self._unregister()
            self._unregister = None

    def answer(self, value: outcome.Outcome[Any]) -> None:
        """The callback goes on with this."""
        self._answer = value
        if self.stream is None:
            self.close()
        self._waiter.unpark_all()

    def withdraw(self) -> None:
        """The agent has stopped waiting."""
        if not self.withdrawn:
            self.withdrawn = True
            self.close()
            self._book.say({"tell": "withdrawn", "ask": self.id})

    def __await__(self) -> Generator[Any, None, Any]:
        return self._wait().__await__()

    async def _wait(self) -> Any:
        try:
            while self._answer is None:
                await self._waiter.park()
        except trio.Cancelled:
            self.withdraw()
            raise
        return self._answer.unwrap()


class Asks:
    """The asks of one agent, numbered from the first."""

    def __init__(self, say: Callable[[Object], None]) -> None:
        self.say = say
        self._asks: list[Ask] = []

    def open(
        self,
        fn: str,
        args: Object,
        *,
        key: str | None = None,
        event: str | None = None,
        signal: AbortSignal | None = None,
        accept: Callable[[Any], Any] = lambda value: value,
    ) -> Ask:
        """Write an ask.

        Args:
            key, event: what an address may name besides `fn`.
            signal: the signal that the callback was given; None if it is given none.
            accept: makes the callback's answer of the tester's value; raises `DriverError` to refuse it.
        """
        ask = Ask(self, f"c{len(self._asks) + 1}", fn, key=key, event=event, accept=accept)
        self._asks.append(ask)
        message: Object = {"ask": ask.id, "fn": fn}
        if key is not None:
            message["key"] = key
        message["args"] = args
        if signal is not None:
            message["aborted"] = signal.aborted
        self.say(message)
        if signal is not None:
            ask.watch(signal)
        return ask

    def find(self, reference: Any) -> Ask:
        """The ask of an id, or of an address `{fn, key?, event?, nth?}`.

        Raises:
            DriverError: there is no such ask (yet).
        """
        nth: Any = 0
        if isinstance(reference, str):
            matching = [ask for ask in self._asks if ask.id == reference]
        elif isinstance(reference, dict):
            address = cast("Object", reference)
            nth = address.get("nth", 0)
            named = {name: address[name] for name in ("fn", "key", "event") if name in address}
            matching = [
                ask for ask in self._asks if all(getattr(ask, name) == value for name, value in named.items())
            ]
        else:
            matching = []
        if not isinstance(nth, int) or not 0 <= nth < len(matching):
            raise DriverError(f"there is no ask {shown(reference)} (yet)")
        return matching[nth]
