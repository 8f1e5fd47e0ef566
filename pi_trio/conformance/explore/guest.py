"""The runtime in this process, stepped from synchronous code: a subject whose requests wait for nothing.

Hypothesis calls its rules as plain functions, so trio is the guest of the thread (`Stepper`). After a command the
program is stepped until every task waits, which is the quiescence that a subject promises. What drives a subject is
written for `await`; here nothing ever has to be waited for, so `at_once` runs it to its end as a plain call.
"""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import trio

from ...profile import get_profile
from ...testing.stepper import Stepper, StepperError
from ...testing.times import frozen_time
from ..driver.agent_conversation import AgentConversation
from ..driver.loop_conversation import LoopConversation
from ..driver.serve import Driver, hello, open_driver
from ..faults import SubjectDied, SubjectSilent
from ..nursery import single_errors
from ..protocol import Object
from ..scheduling import first_in_first_out

T = TypeVar("T")


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("it would have to wait")


class Guest:
    """The runtime under one profile, until it is closed or has broken off. To be used under `quiet_house`."""

    def __init__(self, profile: str) -> None:
        self._profile = get_profile(profile)
        self.hello: Final = hello(self._profile)
        self._stepper = Stepper()
        self._bell = trio.lowlevel.ParkingLot()
        self.creations = 0
        """How many agents there have been."""
        self.told: list[tuple[Object, list[Object]]] = []
        """What was asked of the agent that is there, and what it said."""
        self._command: Object = {}
        self._outcome: Object | None = None
        self._driver: Driver
        self._life = self._stepper.start(self._live)
        self._stepper.settle()

    async def _live(self) -> None:
        with single_errors():
            async with open_driver(self._profile) as self._driver:
                while True:
                    await self._bell.park()
                    self._outcome = await self._driver.outcome(self._command)

    async def request(self, command: Object) -> list[Object]:
        """Send one command; what it causes, and the reply last.

        Raises:
            SubjectFault: the runtime broke off. It cannot be used any more.
        """
        if command["cmd"] == "create":
            self.told = []
            self.creations += 1
        self._command, self._outcome = command, None
        self._bell.unpark()
        try:
            self._stepper.settle()
        except StepperError as error:
            raise SubjectSilent(f"it does not come to rest: {error}") from error
        if self._life.done:
            raise _death(self._life.error())
        if self._outcome is None:
            raise SubjectSilent(f"{command['cmd']} is never done")
        said = [*self._driver.drain(), {"re": command["id"], **self._outcome}]
        self.told.append((command, said))
        return [*said]

    def replayed(self) -> Object | None:
        """Do all anew that was asked of the agent that is there: the first command that goes otherwise, if one does.

        Raises: as `request`.
        """
        before = self.told
        for command, said in before:
            if at_once(self.request(command)) != said:
                return command
        return None

    @property
    def conversation(self) -> AgentConversation | LoopConversation | None:
        """What the tester talks to now."""
        return self._driver.conversation

    def close(self) -> None:
        """End it. What it raises then has been told before, or concerns nobody any more."""
        try:
            self._stepper.close()
        except Exception:
            self._life.error()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _death(error: BaseException | None) -> SubjectDied:
    lines = traceback.format_exception(error) if error is not None else ()
    return SubjectDied(f"it raised {type(error).__name__}: {error}", stderr="".join(lines))


@contextmanager
def quiet_house() -> Generator[None]:
    """Inside, tasks run first in, first out, time stands still, and what the runtime logs of failed runs is not kept.

    Many small objects are made that live as long as a conversation, so the garbage collector is called less often.
    """
    logger = logging.getLogger("pi_trio")
    before, thresholds = logger.disabled, gc.get_threshold()
    logger.disabled = True
    gc.set_threshold(_ALLOCATIONS, *thresholds[1:])
    try:
        with first_in_first_out(), frozen_time():
            yield
    finally:
        gc.set_threshold(*thresholds)
        logger.disabled = before


_ALLOCATIONS: Final = 100_000
"""After so many the garbage collector looks for what is young."""
