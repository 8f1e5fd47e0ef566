"""The `Recorder`: a subscriber that keeps what it hears."""

from __future__ import annotations

from typing import Final, TypeVar

import trio

from ..abort import AbortSignal
from ..agent.agent import Agent
from ..agent.state import AgentState
from ..events import AgentEvent
from .describing import describe

E = TypeVar("E", bound=AgentEvent)


class Recorder:
    """Hears every event of an agent, and never makes it wait.

    Args:
        agent: what it subscribes to.
        states: whether to keep, beside each event, the agent's state as listeners see it then.

    Attributes:
        events: what was said, in order.
        states: the states, one for each event, if they are kept.
    """

    def __init__(self, agent: Agent, *, states: bool = False) -> None:
        self.events: Final[list[AgentEvent]] = []
        self.states: Final[list[AgentState]] = []
        self._agent = agent
        self._keep_states = states
        self._heard = trio.lowlevel.ParkingLot()
        #: Stop hearing; says whether it was subscribed.
        self.unsubscribe: Final = agent.subscribe(self)

    @trio.lowlevel.enable_ki_protection
    def __call__(self, event: AgentEvent, signal: AbortSignal) -> None:  # noqa: ARG002
        self.events.append(event)
        if self._keep_states:
            self.states.append(self._agent.state)
        self._heard.unpark_all()

    @property
    def lines(self) -> list[str]:
        """The events, a line for each; see `describe`."""
        return [describe(event) for event in self.events]

    def of(self, kind: type[E]) -> list[E]:
        """The events of a type."""
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[E], nth: int = 1) -> E:
        """The `nth` event of a type, as soon as it was said; 1 is the first. A checkpoint.

        It may have been said long ago. If it never is, this waits for ever.

        Raises:
            ValueError: `nth` is less than 1.
        """
        if nth < 1:
            raise ValueError(f"events are counted from 1, so there is none with the number {nth}")
        await trio.lowlevel.checkpoint()
        while len(found := self.of(kind)) < nth:
            await self._heard.park()
        return found[nth - 1]
