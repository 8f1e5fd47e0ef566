"""Subscribers: called in order, each awaited before the next; a live set, of functions of every kind."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent

from .grammar import check
from .scripting import (
    MODEL,
    Recorder,
    Script,
    yielding,
)


async def test_listeners_are_called_in_order_of_subscription_each_awaited_before_the_next() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        log.append(f"slow {event.type}")
        await trio.lowlevel.checkpoint()
        log.append(f"slow {event.type} done")

    agent.subscribe(slow)
    agent.subscribe(lambda event, signal: log.append(f"quick {event.type}"))
    await agent.prompt("go")
    for index in range(0, len(log), 3):
        kind = log[index].split()[1]
        assert log[index : index + 3] == [f"slow {kind}", f"slow {kind} done", f"quick {kind}"]


async def test_a_listener_counts_once_and_unsubscribing_tells() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    heard: list[str] = []

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        heard.append(event.type)

    first = agent.subscribe(listener)
    second = agent.subscribe(listener)
    await agent.prompt("go")
    assert heard.count("agent_start") == 1
    assert second() is True
    assert first() is False
    heard.clear()
    await agent.prompt("go")
    assert heard == []


@pytest.mark.parametrize("what", [None, 5, "agent_start"])
async def test_what_cannot_be_called_is_no_listener(what: Any) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with pytest.raises(TypeError, match=f"a listener is a function .* not {what!r}"):
        agent.subscribe(what)
    agent.subscribe(recorder := Recorder())
    await agent.prompt("go")
    check(recorder.events)


@pytest.mark.parametrize("pause", [None, yielding])
async def test_the_set_of_listeners_is_live(pause: Any) -> None:
    """S-28: one added during a delivery gets that very event, one removed before its turn does not."""
    agent = Agent(model=MODEL, stream_fn=Script())
    removed, added = Recorder(), Recorder()

    async def changing(event: AgentEvent, signal: AbortSignal) -> None:
        if pause is not None:
            await pause("")
        if event.type == "message_start":
            unsubscribe()
            agent.subscribe(added)

    agent.subscribe(changing)
    unsubscribe = agent.subscribe(removed)
    await agent.prompt("go")
    assert removed.briefs == ["agent_start", "turn_start"]
    assert added.briefs[0] == "message_start user"
    assert added.briefs[-1] == "agent_end"


async def test_a_listener_that_unsubscribes_itself_hides_nothing_from_the_next() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    once: list[str] = []

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        once.append(event.type)
        unsubscribe()

    unsubscribe = agent.subscribe(listener)
    other = Recorder(agent)
    await agent.prompt("go")
    assert once == ["agent_start"]
    check(other.events)


async def test_listeners_of_every_kind() -> None:
    """Plain functions, coroutine functions, callables, functions that return something to await."""
    agent = Agent(model=MODEL, stream_fn=Script())
    heard: dict[str, int] = {}

    def note(name: str) -> None:
        heard[name] = heard.get(name, 0) + 1

    async def coroutine(event: AgentEvent, signal: AbortSignal) -> str:
        await trio.lowlevel.checkpoint()
        note("coroutine")
        return "ignored"

    class Awaitable:
        def __await__(self) -> Any:
            note("awaitable")
            return trio.lowlevel.checkpoint().__await__()

    class Listening:
        def method(self, event: AgentEvent, signal: AbortSignal) -> object:
            note("method")
            return object()

    agent.subscribe(coroutine)
    agent.subscribe(lambda event, signal: Awaitable())
    agent.subscribe(Listening().method)
    agent.subscribe(lambda event, signal: note("plain"))
    await agent.prompt("go")
    assert len(set(heard.values())) == 1
    assert set(heard) == {"coroutine", "awaitable", "method", "plain"}
