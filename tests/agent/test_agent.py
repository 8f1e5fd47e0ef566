"""An `Agent` without a run: its options, the transcript that it begins with, and what a reset leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from pi_trio.agent.agent import Agent
from pi_trio.messages import Message, Model, SystemMessage, ToolDeclaration
from pi_trio.models.default import NoStreamFunctionError, get_default_stream_fn, set_default_stream_fn

from .grammar import check
from .scripting import ANYTHING, MODEL, Recorder, Script, roles, tool, user


@pytest.fixture
def default_stream_fn() -> Iterator[None]:
    """The default stream function may be changed."""
    before = get_default_stream_fn()
    yield
    set_default_stream_fn(before)


def test_an_agent_without_options() -> None:
    agent = Agent()
    assert agent.state == Agent().state
    assert agent.model == Model.unknown()
    assert (agent.model.id, agent.model.provider, agent.model.base_url) == ("unknown", "unknown", "")
    assert agent.thinking_level == "off"
    assert agent.tools == ()
    assert agent.messages == ()
    assert agent.system_prompt == ""
    assert (agent.steering_mode, agent.follow_up_mode) == ("one-at-a-time", "one-at-a-time")
    assert agent.tool_execution == "parallel"
    assert agent.signal is None
    assert not agent.has_queued_messages()
    state = agent.state
    assert (state.is_streaming, state.streaming_message, state.pending_tool_calls, state.error_message) == (
        False, None, (), None,
    )  # fmt: skip


def test_the_state_is_frozen() -> None:
    state = Agent().state
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        state.is_streaming = True  # type: ignore[misc]


def test_prompt_and_tools_begin_the_transcript() -> None:
    tools = [tool("a", print), tool("b", print)]
    agent = Agent(system_prompt="be brief", tools=tools)
    (first,) = agent.messages
    assert first == SystemMessage(
        content="be brief",
        tools_added=[ToolDeclaration(name=n, description=f"the {n} tool", parameters=ANYTHING) for n in "ab"],
        timestamp=0,
    )
    assert agent.system_prompt == "be brief" == agent.state.system_prompt
    assert Agent(tools=tools).messages[0].content == ""  # type: ignore[union-attr]
    assert Agent(system_prompt="x").messages[0].tools_added is None  # type: ignore[union-attr]
    assert roles(Agent(system_prompt="x", messages=[user("hello")])) == ["system", "user"]


def test_a_transcript_that_begins_with_a_system_message_keeps_its_own_prompt() -> None:
    said: list[Message] = [SystemMessage(content="old", timestamp=5), user("hello")]
    agent = Agent(system_prompt="new", messages=said)
    assert agent.messages == tuple(said)
    assert agent.system_prompt == "old"
    with pytest.raises(AttributeError, match="say a system message instead"):
        agent.system_prompt = "newer"


def test_there_must_be_a_stream_function(default_stream_fn: None) -> None:
    script = Script()
    set_default_stream_fn(script)
    assert Agent().stream_fn is script
    set_default_stream_fn(None)
    with pytest.raises(NoStreamFunctionError) as raised:
        Agent()
    assert str(raised.value) == (
        "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn()."
    )
    assert Agent(stream_fn=script).stream_fn is script


def test_the_json_of_a_message_is_no_transcript() -> None:
    with pytest.raises(TypeError, match="not its JSON"):
        Agent(messages={"role": "user", "content": "hi"})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["Hey", [1], ["Hey", None]])
def test_a_text_is_not_several_messages(given: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        Agent(messages=given)
    agent = Agent()
    with pytest.raises(TypeError, match="expected"):
        agent.messages = given
    agent.messages = ["one", "two"]
    assert [message.role for message in agent.messages] == ["user", "user"]


async def test_reset_forgets_the_conversation_and_keeps_the_rest() -> None:
    tools = [tool("a", print)]
    agent = Agent(
        model=MODEL, thinking_level="low", system_prompt="be brief", tools=tools, stream_fn=Script()
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    await agent.prompt(SystemMessage(content="be briefer", timestamp=7))
    agent.steer(user("queued"))
    agent.follow_up(user("queued too"))
    agent.reset()
    assert agent.messages == (
        SystemMessage(content="be brief\n\nbe briefer", tools_added=[tools[0].declaration()], timestamp=0),
    )
    assert not agent.has_queued_messages()
    assert (agent.model, agent.thinking_level, agent.tools) == (MODEL, "low", tuple(tools))
    assert agent.system_prompt == "be brief\n\nbe briefer"
    heard.events.clear()
    await agent.prompt("go")
    check(heard.events)
    empty = Agent()
    empty.reset()
    assert empty.messages == ()
