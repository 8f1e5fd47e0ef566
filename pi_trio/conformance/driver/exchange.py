"""What every conversation has, whoever it is with: a voice, the asks that are open, operations under way.

The voice can be muted: a conversation that has been replaced says nothing more. Its operations run in a
nursery of its own; ending the conversation cancels that nursery, and waits until nothing of it is left. The
commands on asks (`answer`, `update`, `push`, `end`, `fail`) are here, because they never reach an agent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import outcome
import trio

from ...events import StreamEvent
from ...happening import Happening
from ...messages import AssistantMessage
from ..protocol import Object
from .asks import Ask, Asks, DriverError, Thrown
from .callbacks import Callbacks
from .fields import read, string


class Exchange:
    """One conversation's side of the wire. `live()` must run beside it: it owns the operations."""

    def __init__(self, say: Callable[[Object], None]) -> None:
        self._say_aloud = say
        self._muted = False
        self._asks = Asks(self._say)
        #: Makes the callables that ask the tester.
        self.callbacks = Callbacks(self._asks)

    def _say(self, message: Object) -> None:
        if not self._muted:
            self._say_aloud(message)

    # --- operations --------------------------------------------------------------------------------------

    async def live(self, task_status: trio.TaskStatus[None]) -> None:
        """Own the operations until `dispose`."""
        self._ended = Happening()
        try:
            async with trio.open_nursery() as self.nursery:
                task_status.started()
                await trio.sleep_forever()
        finally:
            self._ended.set()

    async def dispose(self) -> None:
        """Say nothing more, end the operations, and wait until nothing of them is left."""
        self._muted = True
        self.nursery.cancel_scope.cancel()
        await self._ended.wait()

    def follow(self, op: str, finish: Callable[[], Awaitable[object]]) -> None:
        """Run an operation beside everything else, and tell how it settles."""
        self.nursery.start_soon(self._settle, op, finish)

    def refuse(self, op: str, error: Exception) -> None:
        """Tell that an operation has failed before it began; a turn of the scheduler later, as in Pi."""
        self.nursery.start_soon(self._fail, op, error)

    async def _settle(self, op: str, finish: Callable[[], Awaitable[object]]) -> None:
        try:
            await finish()
        except trio.Cancelled:
            raise
        except Exception as error:
            await self._fail(op, error)
        else:
            self._say({"tell": "settled", "op": op, "ok": True})

    async def _fail(self, op: str, error: Exception) -> None:
        self._say({"tell": "settled", "op": op, "ok": False, "error": str(error)})

    # --- commands on asks --------------------------------------------------------------------------------

    def answer(self, command: Object) -> None:
        ask = self._asks.find(command.get("ask"))
        if ask.withdrawn:
            return
        if ask.answered:
            raise DriverError(f"ask {ask.id} is answered already")
        if command.get("throw") is not None:
            ask.answer(outcome.Error(Thrown(string(command, "throw"))))
        else:
            ask.answer(outcome.Value(ask.accept(command.get("value"))))

    def update(self, command: Object) -> None:
        ask = self._asks.find(command.get("ask"))
        if ask.update is None:
            raise DriverError(f"ask {ask.id} is no execute")
        ask.update(command.get("value"))

    def push(self, command: Object) -> None:
        event = read(command.get("event"), StreamEvent, "event")
        ask = self._streaming(command)
        if ask.stream is not None:
            if event.type in ("done", "error"):
                ask.close()
            ask.stream.push(event)

    def end(self, command: Object) -> None:
        given = command.get("result")
        result = None if given is None else read(given, AssistantMessage, "result")
        ask = self._streaming(command)
        if ask.stream is not None:
            ask.close()
            ask.stream.end(result)

    def fail(self, command: Object) -> None:
        error = Thrown(string(command, "error"))
        ask = self._streaming(command)
        if ask.stream is not None:
            ask.close()
            ask.stream.fail(error)

    def _streaming(self, command: Object) -> Ask:
        ask = self._asks.find(command.get("ask"))
        if ask.stream is None and not ask.withdrawn:
            raise DriverError(f"ask {ask.id} has no stream")
        return ask
