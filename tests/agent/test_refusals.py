"""What an `Agent` refuses, and that nothing has changed then."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.errors import AgentBusyError, CannotContinueError
from pi_trio.events import AgentEvent
from pi_trio.messages import SystemMessage

from .scripting import MODEL, Gates, Recorder, Script, assistant, roles, text_of, tool, user

BUSY_PROMPT = (
    "Agent is already processing a prompt. Use steer() or followUp() to queue messages, "
    "or wait for completion."
)


async def test_what_is_refused_while_a_run_is_going_on() -> None:
    gates = Gates()
    agent = Agent(model=MODEL, stream_fn=Script(assistant("hello"), pause=gates.pause))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        before = agent.state
        with pytest.raises(AgentBusyError) as prompt:
            await agent.prompt("another")
        with pytest.raises(AgentBusyError) as continued:
            await agent.continue_()
        with pytest.raises(AgentBusyError) as reset:
            agent.reset()
        assert agent.state == before
        while gates.standing:
            await gates.let_go(gates.standing[0])
    assert str(prompt.value) == BUSY_PROMPT
    assert str(continued.value) == "Agent is already processing. Wait for completion before continuing."
    assert str(reset.value) == "Agent is already processing. Wait for completion before resetting."
    assert isinstance(prompt.value, RuntimeError)
    assert roles(agent) == ["user", "assistant"]


async def test_of_two_prompts_in_one_step_the_second_is_refused() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    refused: list[str] = []

    async def prompt(text: str) -> None:
        try:
            await agent.prompt(text)
        except AgentBusyError:
            refused.append(text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt, "one")
        nursery.start_soon(prompt, "two")
    assert len(refused) == 1
    assert [text_of(message) for message in agent.messages] == [
        {"one": "two", "two": "one"}[refused[0]], "nothing more",
    ]  # fmt: skip


async def test_a_prompt_from_inside_is_refused_until_settlement() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    refusals: list[str] = []

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        with pytest.raises(AgentBusyError):
            await agent.prompt("inside")
        refusals.append(event.type)

    agent.subscribe(listener)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    assert refusals[-1] == "agent_end"
    agent.subscribe(listener)()
    await agent.prompt("and now")


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "No messages to continue from"),
        ([SystemMessage(content="s", timestamp=0)], "No messages to continue from"),
        ([user("hello"), assistant("hi")], "Cannot continue from message role: assistant"),
    ],
)
async def test_continue_without_anything_to_continue_from(messages: list[Any], text: str) -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=messages)
    heard = Recorder(agent)
    for _ in range(2):
        with pytest.raises(CannotContinueError) as raised:
            await agent.continue_()
        assert str(raised.value) == text
    assert heard.events == []
    assert agent.messages == tuple(messages)
    await agent.prompt("this works")


@pytest.mark.parametrize("messages", [[], [SystemMessage(content="s", timestamp=0)]])
async def test_a_refused_continue_takes_nothing_from_the_queues(messages: list[Any]) -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=messages)
    agent.steer(user("steer"))
    agent.follow_up(user("follow up"))
    with pytest.raises(CannotContinueError):
        await agent.continue_()
    assert [text_of(message) for message in agent.peek_queued_messages()] == ["steer"]
    agent.clear_steering_queue()
    assert [text_of(message) for message in agent.peek_queued_messages()] == ["follow up"]


async def test_a_run_that_cannot_be_prepared_leaves_the_agent_free() -> None:
    """A declaration that is no JSON comes out when the tools are announced: before the run, so there is none."""
    agent = Agent(model=MODEL, stream_fn=Script(), messages=[user("hello"), assistant("hi")])
    queued = user("queued")
    agent.steer(queued)
    for start in (lambda: agent.prompt("go"), agent.continue_):
        agent.tools = [tool("work", print, constrained_sampling=float("nan"))]
        with pytest.raises(ValueError, match="number"):
            await start()
        assert not agent.state.is_streaming
        assert agent.signal is None
        agent.tools = []
        assert agent.peek_queued_messages() == (queued,)
    await agent.prompt("go")
