"""What a tool or a listener leaves behind in the task that ran it: it goes with that task, or fails the run aloud."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from weakref import WeakKeyDictionary

import pytest
import trio

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, ToolExecutionEnd, ToolExecutionUpdate
from pi_trio.tools.tool import UpdateFn

from .scripting import MODEL, Recorder, Script, assistant, call, result, text_of, tool


def agent_with(work: Any, *turns: Any) -> tuple[Agent, Recorder]:
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(*turns, assistant("well")))
    return agent, Recorder(agent)


def texts(agent: Agent) -> list[str]:
    return [text_of(message) for message in agent.messages if message.role == "toolResult"]


async def ticks() -> AsyncGenerator[int]:
    with trio.move_on_after(0.05):
        yield 1


async def test_a_lock_that_a_tool_holds_is_broken_with_its_task(autojump_clock: trio.abc.Clock) -> None:
    lock = trio.Lock()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            await lock.acquire()
            await trio.sleep(1)
            raise ValueError("it forgot to release")
        await trio.sleep(0.5)
        async with lock:
            return result()

    agent, _ = agent_with(work, assistant(call("t1"), call("t2")))
    with trio.fail_after(5):
        assert (await agent.prompt("go")).text == "well"
    assert texts(agent)[1].startswith("Owner of this lock exited without releasing")


async def test_no_call_finds_what_another_has_kept_by_its_task() -> None:
    kept: WeakKeyDictionary[trio.lowlevel.Task, str] = WeakKeyDictionary()
    found: list[str | None] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        task = trio.lowlevel.current_task()
        found.append(kept.get(task))
        kept[task] = call_id
        return result()

    agent, _ = agent_with(work, assistant(call("t1"), call("t2")), assistant(call("t3"), call("t4")))
    await agent.prompt("go")
    assert found == [None] * 4


@pytest.mark.parametrize("kind", [ToolExecutionUpdate, ToolExecutionEnd])
async def test_a_timeout_that_a_listener_leaves_open_ends_nobody(
    kind: type[AgentEvent], autojump_clock: trio.abc.Clock
) -> None:
    left: list[Any] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        on_update(result("half"))
        await trio.sleep(1)
        return result("done")

    agent, recorder = agent_with(work, assistant(call("t1")), assistant(call("t2")))

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, kind):
            left.append(ticks())
            async for _ in left[-1]:
                break

    agent.subscribe(listener)
    assert (await agent.prompt("go")).text == "well"
    assert recorder.briefs[-1] == "agent_end"
    assert texts(agent) == ["done", "done"]


async def test_a_scope_that_a_listener_leaves_open_under_others_fails_the_run_aloud() -> None:
    """Whoever cancels it cancels the deliveries that come after in the same task, and that is not kept quiet."""
    left: list[trio.CancelScope] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        on_update(result("one"))
        await trio.testing.wait_all_tasks_blocked()
        on_update(result("two"))
        await trio.testing.wait_all_tasks_blocked()
        return result()

    agent, recorder = agent_with(work, assistant(call("t1")))

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            if left:
                left[0].cancel()
            else:
                left.append(trio.CancelScope())
                left[0].__enter__()
            await trio.lowlevel.checkpoint()

    agent.subscribe(listener)
    ended = await agent.prompt("go")
    assert (ended.stop_reason, recorder.briefs[-1]) == ("error", "agent_end")
    assert "had left open" in str(ended.error_message)


async def test_a_nursery_that_a_tool_leaves_open_fails_the_run_that_is_then_told() -> None:
    left: list[Any] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        left.append(trio.open_nursery())
        await left[0].__aenter__()
        return result()

    agent, recorder = agent_with(work, assistant(call("t1"), call("t2")))
    ended = await agent.prompt("go")
    assert (ended.stop_reason, recorder.briefs[-1]) == ("error", "agent_end")
    assert agent.signal is None
