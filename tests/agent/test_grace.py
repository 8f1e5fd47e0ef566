"""The grace of a cancelled run: how long it may take to settle, what it is cut in, and who still hears."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent
from pi_trio.tools.tool import ExecutionMode

from .cancelling import cancelled_prompt, stuck_agent, told_to_stop
from .grammar import check
from .scripting import (
    MODEL,
    Recorder,
    Script,
    answers_of,
    assistant,
    brief,
    call,
    result,
    results_of,
    text_of,
)
from .show import MODES


@pytest.mark.parametrize("grace", [0, 2, 5])
async def test_the_grace_is_in_seconds(grace: float, autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=grace)
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == grace
    assert agent.state.error_message == "Request was aborted"
    assert [text_of(message) for message in results_of(agent.messages)] == ["Operation aborted"] * 2
    assert answers_of(agent.messages)[-1].stop_reason == "aborted"


async def test_a_run_has_the_grace_of_its_start(autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=1)
    agent.subscribe(lambda event, signal: setattr(agent, "settle_grace", 100))
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == 1


async def test_without_a_limit_the_run_takes_the_time_that_it_takes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def slow(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        await trio.sleep(1000)
        return result("slow but sure")

    agent = stuck_agent(grace=float("inf"), execute=slow)
    await cancelled_prompt(agent)
    assert [text_of(message) for message in results_of(agent.messages)] == ["slow but sure"] * 2


async def test_the_default_grace() -> None:
    assert Agent().settle_grace == 5


@pytest.mark.parametrize("execution", MODES)
async def test_nobody_is_told_when_the_grace_is_over(
    execution: ExecutionMode, autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    agent = stuck_agent(tool_execution=execution)
    heard = Recorder(agent)
    await cancelled_prompt(agent)
    assert heard.briefs[-1].startswith("tool_execution_start")
    assert heard.events == reduced[: len(heard.events)]
    check(reduced, sequential=execution == "sequential")


async def test_a_deadline_is_a_cancellation(autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=2)
    with trio.move_on_after(3) as scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    assert trio.current_time() == 5
    with pytest.raises(trio.TooSlowError):
        with trio.fail_after(1):
            agent.stream_fn = Script(assistant(call("t")))
            await agent.prompt("go")


async def test_a_slow_listener_gets_all_of_the_ending_within_the_grace(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = stuck_agent(grace=10, execute=told_to_stop)
    heard: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if signal.aborted:
            await trio.sleep(0.5)
        heard.append(brief(event))

    agent.subscribe(slow)
    await cancelled_prompt(agent)
    assert heard[-1] == "agent_end"
    assert heard.count("tool_execution_end t0") == 1


async def test_a_listener_that_never_returns_is_cut_with_the_grace(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    agent = stuck_agent()
    cut: list[str] = []

    async def stuck_listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "message_end":
            try:
                await trio.sleep_forever()
            finally:
                cut.append(event.type)

    agent.subscribe(stuck_listener)
    other = Recorder(agent)
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == 2
    assert cut == ["message_end"]
    assert other.briefs[-1] == "message_start user"
    check(reduced)
    assert not agent.state.is_streaming


async def test_a_fault_in_a_function_of_the_signal_does_not_stop_the_settlement(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    async def faulty(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(lambda: [][0])
        await trio.sleep(1000)

    agent = stuck_agent(calls=1, execute=faulty)
    begun = trio.current_time()
    errors: list[BaseException] = []
    try:
        errors = await cancelled_prompt(agent)
    except Exception as error:
        errors = [error]
    assert trio.current_time() - begun == 2
    assert [type(error) for error in errors] == [trio.Cancelled]
    check(reduced)


async def test_a_second_cancellation_does_not_lengthen_the_grace(autojump_clock: Any) -> None:
    """Ctrl-C begins it, and the scope that is cancelled for its sake begins it no second time."""
    agent = Agent(model=MODEL, stream_fn=Script(), settle_grace=1)

    async def stuck(event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "message_end":
            await trio.sleep_forever()

    agent.subscribe(stuck)
    started = trio.current_time()
    with trio.CancelScope() as outer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.prompt, "go")
            await trio.testing.wait_all_tasks_blocked()
            assert agent._active is not None
            agent._active.run.begin_grace(1)
            await trio.sleep(0.9)
            outer.cancel()
    assert trio.current_time() - started == pytest.approx(1)
