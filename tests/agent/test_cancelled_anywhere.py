"""A prompt is cancelled at every event and at every standstill: the run settles, and the agent works again."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.events import AgentEvent
from pi_trio.tools.tool import ExecutionMode

from .grammar import check
from .scripting import Gates, Recorder, opening_all
from .show import MODES, Show, told


def settled(show: Show, reduced: list[AgentEvent], *, sequential: bool) -> None:
    """The run has ended in the state, and what was heard is how it began."""
    check(reduced, sequential=sequential)
    heard = show.first.events
    assert all(one is other for one, other in zip(heard, reduced, strict=False))
    assert len(heard) <= len(reduced)
    said = [message for message in show.agent.messages if message.role != "system"]
    assert said == list(reduced[-1].messages)  # type: ignore[union-attr]
    show.idle()
    show.unlost()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("deaf", [False, True])
async def test_cancelled_from_any_event(
    mode: ExecutionMode, deaf: bool, reduced: list[AgentEvent], autojump_clock: trio.testing.MockClock
) -> None:
    """Nothing waits for long here, so the run settles in no time, and everybody hears all of it."""
    for index in count():
        show = Show(tool_execution=mode, deaf=deaf)
        scope = trio.CancelScope()
        show.agent.subscribe(canceller(show, index, scope))
        other = Recorder(show.agent)
        reduced.clear()
        with told(index=index):
            tasks, begun = trio.lowlevel.current_statistics().tasks_living, trio.current_time()
            with scope:
                await show.agent.prompt("go")
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            assert trio.current_time() == begun
            settled(show, reduced, sequential=mode == "sequential")
            assert show.first.events == reduced
            assert len(other.events) == len(reduced)
            if not scope.cancel_called:
                break
            assert scope.cancelled_caught
            await show.works_again()
    assert index > 60


def canceller(show: Show, index: int, scope: trio.CancelScope) -> Any:
    """A listener that cancels a scope at the event number `index`."""

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        # Deliveries of updates overlap, so this one may be behind what the recorder has heard.
        if len(show.first.events) > index and not scope.cancel_called:
            scope.cancel()
            assert not signal.aborted  # the abort comes when the cancellation is felt

    return listener


def gated(gates: Gates, **options: Any) -> Show:
    show = Show(pause=gates.pause, **options)

    async def pause(place: str) -> None:
        await show.pause(place)

    show.agent.subscribe(Recorder(pause=pause))
    return show


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gates_open", [True, False])
@pytest.mark.parametrize("deaf", [False, True])
async def test_cancelled_at_any_standstill(
    mode: ExecutionMode,
    gates_open: bool,
    deaf: bool,
    reduced: list[AgentEvent],
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Everything that a run waits for stands at a gate; the cancellation comes when nothing moves.

    If the gates open afterwards the run settles in no time; if they stay shut, when the grace is over.
    """
    late: list[int] = []
    texts: set[str | None] = set()
    for index in count(int(deaf), 2 if gates_open else 5):
        gates = Gates()
        show = gated(gates, tool_execution=mode, deaf=deaf, settle_grace=3)
        reduced.clear()
        cancelled_at: float | None = None
        scope = trio.CancelScope()
        tasks = trio.lowlevel.current_statistics().tasks_living
        outcomes: list[Any] = []

        async def run(
            show: Show = show, scope: trio.CancelScope = scope, outcomes: list[Any] = outcomes
        ) -> None:
            with scope:
                outcomes.append(await show.agent.prompt("go"))

        with told(index=index):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                for _ in range(index):
                    await trio.testing.wait_all_tasks_blocked()
                    if not gates.standing:
                        break
                    gates.open(gates.standing[0])
                await trio.testing.wait_all_tasks_blocked()
                if gates.standing:
                    cancelled_at = trio.current_time()
                    scope.cancel()
                    if gates_open:
                        opener = trio.CancelScope()
                        nursery.start_soon(opening, gates, opener)
                        await show.agent.wait_for_idle()
                        opener.cancel()
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            settled(show, reduced, sequential=mode == "sequential")
            if cancelled_at is None:
                assert outcomes[0].stop_reason == "stop"
                break
            assert outcomes == []
            assert scope.cancelled_caught
            took = trio.current_time() - cancelled_at
            if gates_open:
                assert took == 0
                assert show.first.events == reduced
            else:
                assert took <= 3
                late += [index for time in show.first.times if time >= cancelled_at + 3]
                texts.add(show.agent.state.error_message)
            await show.works_again()
    assert index > 60
    assert late == [], "when the grace is over nobody is told any more"
    # Either the model was told in time to end its answer, or the last word is the runtime's.
    assert texts <= {"Request was aborted", "aborted by request", None}


async def opening(gates: Gates, scope: trio.CancelScope) -> None:
    with scope:
        await opening_all(gates)
