"""The channel of an agent's events: it spans runs, holds them up while it is read, and may be left at any event."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent
from pi_trio.messages import ToolResult

from .chat import EVENTS, chat, settled
from .scripting import MODEL, Script, assistant, brief, call, result, tool


async def test_a_channel_spans_runs() -> None:
    agent, recorder = chat()
    read: list[str] = []

    async def follow(channel: trio.abc.ReceiveChannel[AgentEvent]) -> None:
        async for event in channel:
            read.append(brief(event))  # noqa: PERF401 (it never ends by itself)

    async with trio.open_nursery() as nursery, agent.events() as channel:
        nursery.start_soon(follow, channel)
        await agent.prompt("go")
        await agent.prompt("again")
        assert sorted(read) == sorted(recorder.briefs)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("way", ["close", "cancel", "leave"])
@pytest.mark.parametrize("last", [1, 5, EVENTS - 1])
async def test_who_stops_reading_delays_and_fails_nothing(way: str, last: int) -> None:
    agent, recorder = chat()

    async def read(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            async with agent.events() as channel:
                task_status.started(scope)
                for _ in range(last):
                    await channel.receive()
                if way == "close":
                    await channel.aclose()
                if way != "leave":
                    await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        scope = await nursery.start(read)

        async def cancel_when_held() -> None:
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()

        if way == "cancel":
            nursery.start_soon(cancel_when_held)
        assert (await agent.prompt("go")).text == "all is well"
        nursery.cancel_scope.cancel()
    settled(agent, recorder)


async def test_who_still_waits_for_an_event_is_told_that_the_block_was_left() -> None:
    agent, _ = chat()
    told: list[type[BaseException]] = []

    async def read(channel: trio.abc.ReceiveChannel[AgentEvent]) -> None:
        try:
            await channel.receive()
        except BaseException as error:
            told.append(type(error))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery, agent.events() as channel:
            nursery.start_soon(read, channel)
            await trio.testing.wait_all_tasks_blocked()
    assert told == [trio.ClosedResourceError]


async def test_a_closed_channel_is_no_subscriber_any_more() -> None:
    agent, _ = chat()
    before = list(agent._listeners.walk())
    async with agent.events() as channel:
        assert len(list(agent._listeners.walk())) == len(before) + 1
        await channel.aclose()
        assert list(agent._listeners.walk()) == before
        assert (await agent.prompt("go")).stop_reason == "stop"


async def test_a_channel_that_is_left_before_a_delivery_goes_on_fails_no_run() -> None:
    """It was called as the first listener, and nobody waits for it yet."""

    def leaving(_id: str, _arguments: Any, _signal: AbortSignal, on_update: Any) -> ToolResult:
        on_update(result("half"))
        nursery.cancel_scope.cancel()
        channels[0].close()
        return result("done")

    agent = Agent(
        model=MODEL, stream_fn=Script(assistant(call("t1")), assistant("well")), tools=[tool("work", leaving)]
    )
    channels: list[Any] = []

    async def read(task_status: trio.TaskStatus[None]) -> None:
        async with agent.events() as channel:
            channels.append(channel)
            task_status.started()
            with suppress(trio.ClosedResourceError):
                async for _ in channel:
                    pass

    async with trio.open_nursery() as nursery:
        await nursery.start(read)
        with trio.CancelScope(shield=True):
            assert (await agent.prompt("go")).text == "well"
