"""A chat with two tools that report, which is read, left and cancelled at each of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.messages import ToolResult

from .grammar import check
from .scripting import MODEL, Recorder, Script, assistant, call, result, tool, yielding


def chat(work: Callable[..., Any] | None = None, **options: Any) -> tuple[Agent, Recorder]:
    """An agent that calls two tools side by side, with progress, and then answers; and who hears it all."""

    async def report(call_id: str, arguments: Any, signal: AbortSignal, on_update: Any) -> ToolResult:
        await yielding("")
        on_update(result("half"))
        await yielding("")
        return result("done")

    script = Script(assistant("let me see", call("t1"), call("t2")), assistant("all is well"))
    agent = Agent(model=MODEL, stream_fn=script, tools=[tool("work", work or report)], **options)
    return agent, Recorder(agent, pause=yielding)


def settled(agent: Agent, recorder: Recorder) -> None:
    """Nothing is left of the run, all of it was told, and there can be another."""
    assert not agent.state.is_streaming
    assert agent.state.pending_tool_calls == ()
    assert agent.signal is None
    assert recorder.briefs.count("agent_start") == recorder.briefs.count("agent_end") == 1
    assert recorder.briefs[-1] == "agent_end"
    check(recorder.events)


@contextmanager
def no_task_left() -> Iterator[None]:
    tasks = trio.lowlevel.current_statistics().tasks_living
    yield
    assert trio.lowlevel.current_statistics().tasks_living == tasks


async def all_events() -> int:
    agent, recorder = chat()
    await agent.prompt("go")
    return len(recorder.events)


EVENTS = trio.run(all_events)
