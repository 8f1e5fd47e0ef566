"""What comes out of a cancelled prompt: Cancelled as it is, after an abort, whatever fails on the way."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent

from .cancelling import cancelled_prompt, stuck, stuck_agent, told_to_stop
from .grammar import check
from .scripting import Recorder, Script, brief
from .show import Saboteur, told


@pytest.mark.parametrize("calls", [0, 1, 2])
async def test_cancelled_comes_out_as_it_is(calls: int, autojump_clock: trio.testing.MockClock) -> None:
    """Not in a group, which no `except trio.Cancelled` would see."""
    agent = stuck_agent(calls=calls)
    if calls == 0:
        agent.stream_fn = Script(pause=lambda place: trio.sleep_forever())
    (error,) = await cancelled_prompt(agent)
    assert isinstance(error, trio.Cancelled)


async def test_a_failure_and_a_cancellation_together(autojump_clock: trio.testing.MockClock) -> None:
    """Cancelled wins, the failure is in the transcript."""
    agent = stuck_agent()
    scope = trio.CancelScope()

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "tool_execution_start":
            scope.cancel()
            raise ValueError("and it failed")

    agent.subscribe(listener)
    heard = Recorder(agent)
    with scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    check(heard.events)
    assert agent.state.error_message == "and it failed"


async def test_cancelled_in_the_failure_sequence(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    """The sequence goes on where the cut has left it; nothing is said twice."""
    for stop_at in count(1):
        agent = stuck_agent()
        reduced.clear()
        heard_since_failure: list[str] = []

        async def failing_and_standing(
            event: AgentEvent,
            signal: AbortSignal,
            heard: list[str] = heard_since_failure,
            stop_at: int = stop_at,
        ) -> None:
            if heard or event.type == "tool_execution_start":
                heard.append(brief(event))
                if len(heard) == 1:
                    raise ValueError("failed")
                if len(heard) == stop_at + 1:
                    await trio.sleep_forever()

        agent.subscribe(failing_and_standing)
        with told(stop_at=stop_at):
            begun = trio.current_time()
            if not await cancelled_prompt(agent):
                assert heard_since_failure[-1] == "agent_end"
                break
            assert trio.current_time() - begun == 2
            check(reduced)
            assert agent.state.error_message == "failed"
            assert not agent.state.is_streaming
            assert len(heard_since_failure) == stop_at + 1
    assert stop_at > 10


@pytest.mark.parametrize("where", ["tool", "listener", "hook"])
async def test_a_nursery_inside_is_cut_like_anything_else(
    where: str, autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    """Cancelled comes out of a nursery in a group; that is no failure either."""

    async def busy(*args: Any) -> Any:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(trio.sleep_forever)

    agent = stuck_agent(execute=busy if where == "tool" else stuck)
    if where == "hook":
        agent.before_tool_call = busy
    heard = Recorder(agent)
    if where == "listener":
        agent.subscribe(lambda event, signal: busy() if event.type == "tool_execution_start" else None)
    (error,) = await cancelled_prompt(agent)
    check(reduced)
    assert agent.state.error_message == "Request was aborted"
    assert heard.briefs[-1].startswith("tool_execution_start")
    assert isinstance(error, trio.Cancelled)


async def test_the_abort_is_raised_before_anything_is_cut(autojump_clock: trio.testing.MockClock) -> None:
    order: list[str] = []

    async def watching(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(lambda: order.append("abort"))
        try:
            await trio.sleep_forever()
        finally:
            order.append("cut")

    await cancelled_prompt(stuck_agent(calls=1, execute=watching))
    assert order == ["abort", "cut"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("stop"), SystemExit(3)])
async def test_an_interrupt_in_a_function_of_the_signal_comes_out_after_settlement(
    interrupt: BaseException, reduced: list[AgentEvent]
) -> None:
    def strike() -> None:
        raise interrupt

    async def struck(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(strike)
        scope.cancel()
        await trio.sleep_forever()

    agent = stuck_agent(calls=1, execute=struck)
    with pytest.raises(type(interrupt)) as raised, trio.CancelScope() as scope:
        await agent.prompt("go")
    assert raised.value is interrupt
    assert not agent.state.is_streaming
    check(reduced)


async def test_two_agents_in_one_nursery(autojump_clock: trio.testing.MockClock) -> None:
    """What happens to one is nothing to the other."""
    lost, fine = stuck_agent(), stuck_agent(execute=told_to_stop, grace=7)
    failing = stuck_agent(execute=told_to_stop)
    failing.subscribe(Saboteur(9))
    scope = trio.CancelScope()
    outcomes: dict[str, Any] = {}

    async def prompt(name: str, agent: Agent) -> None:
        outcomes[name] = await agent.prompt("go")

    async def prompt_in_scope() -> None:
        with scope:
            await prompt("lost", lost)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt_in_scope)
        nursery.start_soon(prompt, "fine", fine)
        nursery.start_soon(prompt, "failing", failing)
        await trio.testing.wait_all_tasks_blocked()
        assert "failing" in outcomes
        scope.cancel()
        await lost.wait_for_idle()
        await trio.testing.wait_all_tasks_blocked()
        assert fine.state.pending_tool_calls == ("t0", "t1")
        fine.abort()
    assert outcomes["failing"].stop_reason == "error"
    assert outcomes["fine"].stop_reason == "aborted"
    assert "lost" not in outcomes
