"""Agents side by side, one as the tool of another, and one that a thread prompts."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from pi_trio.agent.agent import Agent

from .chat import EVENTS, chat, settled
from .scripting import MODEL, Script, assistant, call, tool


async def test_two_agents_side_by_side() -> None:
    one, other = chat(), chat()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one[0].prompt, "go")
        nursery.start_soon(other[0].prompt, "go")
    for agent, recorder in (one, other):
        settled(agent, recorder)
        assert len(recorder.events) == EVENTS


async def test_an_agent_as_a_tool_of_another() -> None:
    inner, heard = chat()

    async def ask(*_: Any) -> str:
        return (await inner.prompt("go")).text

    outer = Agent(
        model=MODEL,
        stream_fn=Script(assistant(call("t1", "ask")), assistant("well")),
        tools=[tool("ask", ask)],
    )
    assert (await outer.prompt("go")).text == "well"
    settled(inner, heard)


async def test_from_another_thread() -> None:
    agent, recorder = chat()

    def in_thread() -> str:
        return trio.from_thread.run(agent.prompt, "go").text

    assert await trio.to_thread.run_sync(in_thread) == "all is well"
    settled(agent, recorder)
