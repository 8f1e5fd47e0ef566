"""`wait_for_idle()`: returns at settlement, before `prompt()` does; and refuses who would wait for itself (D-11)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, ToolExecutionUpdate
from pi_trio.tools.tool import ExecutionMode, UpdateFn

from .scripting import MODEL, Gates, Recorder, Script, assistant, at, brief, call, result, tool


async def test_an_idle_agent_is_not_waited_for() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with trio.testing.assert_checkpoints():
        await agent.wait_for_idle()
    await agent.prompt("go")
    with trio.testing.assert_checkpoints():
        await agent.wait_for_idle()


async def test_it_returns_at_settlement() -> None:
    """Not when agent_end is said, but when everybody has heard it."""
    gates = Gates()
    agent = Agent(model=MODEL, stream_fn=Script(assistant("x")))
    idle: list[bool] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_end":
            await gates.pause("agent_end")

    async def wait() -> None:
        await agent.wait_for_idle()
        assert not agent.state.is_streaming
        assert agent.signal is None
        idle.append(True)

    agent.subscribe(slow)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(3):
            nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert agent.state.is_streaming
        assert idle == []
        gates.open("agent_end")
    assert idle == [True] * 3


async def test_who_waits_for_idle_goes_on_before_who_has_prompted() -> None:
    for _ in range(40):
        agent = Agent(model=MODEL, stream_fn=Script())
        log: list[str] = []

        async def wait(agent: Agent = agent, log: list[str] = log) -> None:
            await agent.wait_for_idle()
            log.append("idle")

        async with trio.open_nursery() as nursery:

            def start(nursery: trio.Nursery = nursery, wait: Any = wait) -> None:
                nursery.start_soon(wait)
                nursery.start_soon(wait)

            at(agent, "turn_start", start)
            await agent.prompt("go")
            log.append("prompt")
        assert log == ["idle", "idle", "prompt"]


@pytest.mark.parametrize("how", ["failure", "late failure", "cancellation"])
async def test_it_returns_from_a_run_that_does_not_end_well(
    how: str, autojump_clock: trio.testing.MockClock
) -> None:
    agent = Agent(model=MODEL, stream_fn=Script(pause=lambda place: trio.sleep(1)), settle_grace=0)
    scope = trio.CancelScope()

    def act() -> None:
        if how == "cancellation":
            scope.cancel()
        else:
            raise ValueError(how)

    at(agent, "agent_end" if how == "late failure" else "message_update", act)

    async def prompt() -> None:
        with scope:
            if how == "late failure":
                with pytest.raises(ValueError, match="late failure"):
                    await agent.prompt("go")
            else:
                await agent.prompt("go")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(60):
            await agent.wait_for_idle()
    assert scope.cancelled_caught == (how == "cancellation")


async def test_a_cancelled_wait_disturbs_nothing() -> None:
    gates = Gates()
    agent = Agent(model=MODEL, stream_fn=Script(assistant("x"), pause=gates.pause))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as inner:
            inner.start_soon(agent.wait_for_idle)
            await trio.testing.wait_all_tasks_blocked()
            inner.cancel_scope.cancel()
        assert agent.state.is_streaming
        while gates.standing:
            await gates.let_go(gates.standing[0])
    assert agent.messages[-1].role == "assistant"


# --- D-11: no self-wait -----------------------------------------------------------------------------------


class Inside:
    """Awaits `wait_for_idle` wherever it is put into a run, and counts the refusals."""

    def __init__(self) -> None:
        self.agent: Agent
        self.refused: list[str] = []

    async def wait(self, place: str) -> None:
        with pytest.raises(RuntimeError, match="would wait for itself"), trio.fail_after(1):
            await self.agent.wait_for_idle()
        self.refused.append(place)

    async def wait_in_a_task(self, place: str) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.wait, place)


@pytest.mark.parametrize("in_a_task", [False, True])
@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_everything_inside_the_run_is_refused(
    mode: ExecutionMode, in_a_task: bool, autojump_clock: trio.testing.MockClock
) -> None:
    inside = Inside()
    wait = inside.wait_in_a_task if in_a_task else inside.wait

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        on_update(result())
        await wait("tool")
        return result()

    async def hook(*args: Any) -> None:
        await wait("hook")

    async def before(*args: Any) -> None:
        await wait("before")

    async def after(*args: Any) -> None:
        await wait("after")

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        await wait("update" if isinstance(event, ToolExecutionUpdate) else "listener")

    async def pause(place: str) -> None:
        await wait("provider")

    agent = inside.agent = Agent(
        model=MODEL,
        tools=[tool("work", work)],
        stream_fn=Script(assistant(call("t1"), call("t2")), pause=pause),
        tool_execution=mode,
        finish_turn=hook,
        before_tool_call=before,
        after_tool_call=after,
    )
    agent.subscribe(listener)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop", outcome.error_message
    assert outcome.errors == ()
    assert set(inside.refused) == {"tool", "hook", "before", "after", "listener", "update", "provider"}
    assert not any(message.is_error for message in outcome.messages if message.role == "toolResult")


async def test_it_is_refused_at_agent_end_too(autojump_clock: trio.testing.MockClock) -> None:
    inside = Inside()
    agent = inside.agent = Agent(model=MODEL, stream_fn=Script())

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_end":
            await inside.wait("agent_end")

    agent.subscribe(listener)
    await agent.prompt("go")
    assert inside.refused == ["agent_end"]


async def test_siblings_and_bystanders_are_not_refused(autojump_clock: trio.testing.MockClock) -> None:
    """Tasks that share a nursery or an ancestor with the run, also with the very task that prompts."""
    gates = Gates()
    waited: list[str] = []

    async def wait(name: str) -> None:
        await agent.wait_for_idle()
        waited.append(name)

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        outer.start_soon(wait, "started by a tool, outside")
        await gates.pause("tool")
        return result()

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))

    async def prompting() -> None:
        async with trio.open_nursery() as own:
            own.start_soon(wait, "child of the prompting task")
            async with trio.open_nursery() as inner:
                inner.start_soon(wait, "inner child of the prompting task")
                at(
                    agent,
                    "message_start user",
                    lambda: inner.start_soon(wait, "started by a listener, outside"),
                )
                await agent.prompt("go")
                waited.append("prompt")

    async with trio.open_nursery() as outer:
        outer.start_soon(prompting)
        await trio.testing.wait_all_tasks_blocked()
        outer.start_soon(wait, "sibling")
        await trio.testing.wait_all_tasks_blocked()
        gates.open("tool")
    assert len(waited) == 6


async def test_one_agent_may_wait_for_another_inside_its_run() -> None:
    gates = Gates()
    first = Agent(model=MODEL, stream_fn=Script(assistant("x")))
    second = Agent(model=MODEL, stream_fn=Script(assistant("y"), pause=gates.pause))
    waited: list[str] = []

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_start":
            await second.wait_for_idle()
            waited.append(second.messages[-1].role)

    first.subscribe(listener)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(second.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(first.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        while gates.standing:
            await gates.let_go(gates.standing[0])
    assert waited == ["assistant"]


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_an_agent_inside_an_agent(mode: ExecutionMode, autojump_clock: trio.testing.MockClock) -> None:
    """A tool prompts an inner agent: inside of that, waiting for either is refused; beside it, for the outer only."""
    inner_inside, outer_inside = Inside(), Inside()
    gates = Gates()
    waited: list[str] = []

    async def inner_listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_start":
            await inner_inside.wait("inner")
            await outer_inside.wait("outer from the inner")
            await gates.pause("inner")

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            on_update(result("before"))
            return result((await inner.prompt("go")).text)
        if mode == "parallel":
            await inner.wait_for_idle()
            waited.append("sibling tool")
        return result()

    async def outer_listener(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "tool_execution_update t1":
            # A delivery runs beside the tool, in a task of the outer run: for the inner one that is a bystander.
            await trio.testing.wait_all_tasks_blocked()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(inner.wait_for_idle)
                await trio.testing.wait_all_tasks_blocked()
                gates.open("inner")
            waited.append("delivery")

    inner = inner_inside.agent = Agent(model=MODEL, stream_fn=Script(assistant("inner says")))
    outer = outer_inside.agent = Agent(
        model=MODEL,
        tools=[tool("work", work)],
        stream_fn=Script(assistant(call("t1"), call("t2"))),
        tool_execution=mode,
    )
    inner.subscribe(inner_listener)
    outer.subscribe(outer_listener)
    heard = Recorder(outer)
    outcome = await outer.prompt("go")
    assert outcome.errors == ()
    assert outer_inside.refused == ["outer from the inner"]
    assert inner_inside.refused == ["inner"]
    assert sorted(waited) == (["delivery", "sibling tool"] if mode == "parallel" else ["delivery"])
    assert "tool_execution_end t1" in heard.briefs
