"""A run of an `Agent`: it begins synchronously, and is finished by whoever awaits it.

`begin` claims the agent's state and says `agent_start` to the first listener; `finish` plays the loop to
settlement. The order at the end is a promise: the state is cleared, those who wait for idle go on, and only
then the caller of `prompt`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import trio

from ..events import AgentStart
from ..messages import Message
from ..profile import Profile
from .config import LoopConfig, LoopState
from .delivery import Delivery, Listeners
from .failure import closing_events
from .loop import Pairs, declared, run_loop
from .result import RunResult, result_of
from .run import AbortMode, Run
from .settlement import settle
from .state import LiveState


class ActiveRun:
    """A run that has begun; `await finish()` exactly once."""

    def __init__(
        self,
        *,
        profile: Profile,
        live: LiveState,
        listeners: Listeners,
        grace: float,
        abort_mode: AbortMode,
        on_settled: Callable[[], None],
    ) -> None:
        self.run = Run(profile=profile, reduce=live.reduce, listeners=listeners, abort_mode=abort_mode)
        self._thread = threading.get_ident()
        self._live = live
        self._grace = grace
        #: Called at settlement, before those who wait for idle go on, and perhaps begin another run.
        self.on_settled: Final[list[Callable[[], object]]] = [on_settled]
        #: Whom the run waits for when it is read in a block; None without one.
        self.reader: trio.lowlevel.Task | None = None
        self._idle = trio.lowlevel.ParkingLot()
        self._state: LoopState | None = None
        self._pairs: Pairs = ()
        self._opening: Delivery | None = None
        self._settled = False
        self._result: RunResult | None = None

    def begin(self, config: LoopConfig, prompts: tuple[Message, ...] | None) -> None:
        """Start the run: its context is a copy of the state, with the prompts in it before any event."""
        live = self._live
        self._state = state = LoopState(
            run=self.run,
            config=config,
            messages=list(live.messages),
            tools=live.tools,
            system_prompt=None if self.run.profile.system_messages else live.system_prompt,
            model=live.model,
            thinking_level=live.thinking_level,
        )
        if prompts is not None:
            self._pairs = declared(state, prompts)
            state.messages += [message for message, _ in self._pairs]
        live.begin()
        self._opening = self.run.begin(AgentStart())

    @trio.lowlevel.enable_ki_protection
    async def finish(self) -> RunResult:
        """Play the run to its settlement; see `Agent.prompt` for what this returns and raises."""
        state, opening = self._state, self._opening
        assert state is not None
        assert opening is not None
        try:
            await settle(
                self.run,
                lambda: run_loop(state, opening, self._pairs),
                lambda text: closing_events(state, text, self._live.model),
                grace=self._grace,
            )
        finally:
            self._live.settle()
            self._settled = True
            for function in self.on_settled:
                function()
            self._idle.unpark_all()
        # Those who wait for idle go first: one pass of the scheduler may still take them behind this task.
        await trio.lowlevel.cancel_shielded_checkpoint()
        await trio.lowlevel.cancel_shielded_checkpoint()
        if self.run.late_errors:  # what the transcript cannot tell (D-03, D-04)
            raise self.run.late_errors[0]
        result = self.result
        assert result is not None
        return result

    def abort(self) -> None:
        """See `Agent.abort`."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("another thread cannot abort a run: trio.from_thread.run_sync(agent.abort)")
        self.run.controller.abort()

    @property
    def result(self) -> RunResult | None:
        """What it came to, from its settlement on; also if the caller was cancelled."""
        if self._settled and self._result is None:
            self._result = result_of(self.run.ledger.said, self.run.errors)
        return self._result

    async def wait(self) -> None:
        """Return at settlement.

        Raises:
            RuntimeError: the run waits for the current task: it would wait for itself (D-11).
        """
        if self.run.encloses_current_task() or trio.lowlevel.current_task() is self.reader:
            raise RuntimeError("wait_for_idle() inside the run would wait for itself")
        await self._idle.park()
