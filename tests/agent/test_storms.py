"""Everything at once, at random.

In runs whose every wait is let go in a random order, listeners, hooks, tools and the provider fail, the run is
aborted, its scope is cancelled. Whatever happens, it is a run that obeys the grammar, and the agent is whole.
"""

from __future__ import annotations

from random import Random
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.events import AgentEvent

from .grammar import check
from .scripting import Gates, Recorder
from .show import Saboteur, Show, told

STORMS = 60


@attrs.define
class Storm:
    """One storm: what it does follows from its seed."""

    seed: int
    random: Random = attrs.field(init=False)
    #: How likely a wait ends well.
    mildness: float = attrs.field(init=False)
    gates: Gates = attrs.field(factory=Gates)
    thrown: list[BaseException] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.random = Random(self.seed)
        self.mildness = self.random.choice([1.0, 0.99, 0.95])

    async def pause(self, place: str) -> None:
        await self.gates.pause(place)
        if self.random.random() > self.mildness:
            error = OSError(f"at {place}")
            self.thrown.append(error)
            raise error

    def slow_listener(self) -> Any:
        async def listener(event: AgentEvent, signal: AbortSignal) -> None:
            if self.random.random() < 0.5:
                await self.gates.pause("listener")

        return listener

    async def blow(self, show: Show, scope: trio.CancelScope) -> None:
        """Let everything go, one at a time, in a random order; now and then abort or cancel."""
        abort_at = self.random.choice([None, self.random.randrange(80)])
        cancel_at = self.random.choice([None, None, self.random.randrange(80)])
        step = 0
        while show.agent.state.is_streaming:
            await trio.testing.wait_all_tasks_blocked()
            if step == abort_at:
                show.agent.abort()
            if step == cancel_at:
                scope.cancel()
            if self.gates.standing:
                self.gates.open(self.random.choice(self.gates.standing))
            step += 1


@pytest.mark.parametrize("abort_mode", ["signal", "cancel"])
async def test_a_storm(
    abort_mode: str, reduced: list[AgentEvent], autojump_clock: trio.testing.MockClock
) -> None:
    seen = {"good": 0, "failed": 0, "raised": 0, "cancelled": 0}
    for seed in range(STORMS):
        storm = Storm(seed)
        mode: Any = storm.random.choice(["parallel", "sequential"])
        deaf = storm.random.random() < 0.3
        show = Show(pause=storm.pause, tool_execution=mode, deaf=deaf, abort_mode=abort_mode)
        saboteurs = [
            Saboteur(
                storm.random.randrange(120),
                always=storm.random.random() < 0.2,
                pause=storm.random.choice([None, storm.gates.pause]),
            )
            for _ in range(storm.random.choice([0, 0, 1, 2]))
        ]
        for listener in (*saboteurs, storm.slow_listener(), Recorder(), storm.slow_listener()):
            show.agent.subscribe(listener)
        other = Recorder(show.agent)
        reduced.clear()
        outcome: Any = None
        raised: BaseException | None = None
        tasks = trio.lowlevel.current_statistics().tasks_living
        with told(seed=seed):
            async with trio.open_nursery() as nursery:
                scope = trio.CancelScope()
                with scope:
                    run = show.agent.start_prompt("go")
                    nursery.start_soon(storm.blow, show, scope)
                    try:
                        outcome = await run.finish()
                    except RuntimeError as error:
                        raised = error
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            assert trio.current_time() == 0, "there was always somebody who let it go"
            check(reduced, sequential=mode == "sequential")
            assert show.first.events == reduced
            assert sorted(map(id, other.events)) == sorted(map(id, reduced))
            show.whole(sequential=mode == "sequential")
            if scope.cancelled_caught:
                seen["cancelled"] += 1
                assert outcome is None
            elif raised is not None:
                seen["raised"] += 1
                assert any(raised in saboteur.raised for saboteur in saboteurs)
            elif outcome.errors:
                seen["failed"] += 1
                assert outcome.errors[0] in [
                    *storm.thrown,
                    *(one for saboteur in saboteurs for one in saboteur.raised),
                ]
                assert outcome.error_message == str(outcome.errors[0])
            else:
                seen["good"] += 1
                assert outcome.stop_reason in {"stop", "aborted"}
    assert all(number >= 2 for number in seen.values()), seen
