"""The agent's state and its events as a listener sees them: when each changes, and what never does."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import MessageStart, MessageUpdate

from .calling import work
from .grammar import check
from .scripting import MODEL, Recorder, Script, assistant, call, result, text_of, tool, user


async def test_the_state_follows_the_events() -> None:
    script = Script(assistant("hm", call("t1"), call("t2")), assistant("done"))
    agent = Agent(model=MODEL, stream_fn=script, tools=[tool("work", work)])
    heard = Recorder(agent)
    await agent.prompt("go")
    assert all(state.is_streaming for state in heard.states)
    for event, state in zip(heard.events, heard.states, strict=True):
        if isinstance(event, MessageStart | MessageUpdate):
            assert state.streaming_message is event.message
        else:
            assert state.streaming_message is None
    assert heard.state_at("tool_execution_start t1").pending_tool_calls == ("t1",)
    assert heard.state_at("tool_execution_start t2").pending_tool_calls == ("t1", "t2")
    assert heard.state_at("message_start toolResult").pending_tool_calls == ()
    assert len(heard.state_at("message_start user").messages) == 1  # the tools' declaration
    assert len(heard.state_at("message_end user").messages) == 2
    assert not agent.state.is_streaming


async def test_one_message_is_one_object_everywhere() -> None:
    agent = Agent(
        model=MODEL, stream_fn=Script(assistant(call("t1")), assistant("done")), tools=[tool("work", work)]
    )
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    said = check(heard.events)
    assert (
        [id(message) for message in agent.messages[1:]]
        == list(map(id, said))
        == list(map(id, outcome.messages))
    )


async def test_the_error_message_is_of_the_latest_failed_run() -> None:
    failed = assistant("half", stop_reason="error", error_message="overloaded")
    agent = Agent(model=MODEL, stream_fn=Script(failed, assistant("better"), failed))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert (outcome.stop_reason, outcome.error_message) == ("error", "overloaded")
    assert outcome.errors == ()
    assert agent.state.error_message == "overloaded"
    assert heard.state_at("message_end assistant").error_message is None
    assert heard.state_at("turn_end").error_message == "overloaded"
    await agent.prompt("again")
    assert agent.state.error_message is None
    await agent.prompt("and again")
    agent.reset()
    assert agent.state.error_message is None


async def test_events_do_not_change() -> None:
    agent = Agent(
        model=MODEL,
        stream_fn=Script(assistant("hm", call("t1", deep={"list": [1]}))),
        tools=[tool("work", work)],
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    for event in heard.events:
        for field in attrs.fields(type(event)):
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(event, field.name, None)
    args = next(event.args for event in heard.events if event.type == "tool_execution_start")
    with pytest.raises(TypeError):
        args["deep"]["list"].append(2)


async def test_partials_that_were_heard_stay_as_they_were() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(assistant("abcd")))
    heard = Recorder(agent)
    await agent.prompt("go")
    texts = [text_of(event.message) for event in heard.of(MessageUpdate)]
    assert texts == ["", "ab", "abcd", "abcd"]


async def test_assigned_messages_reach_the_next_run_only() -> None:
    """S-27: the loop has its own copy, and what it says is appended to what was assigned."""
    agent = Agent(model=MODEL, messages=[user("old")])

    async def assigning(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        agent.messages = [user("new")]
        return result()

    script = Script(assistant(call("t1")), assistant("done"))
    agent.stream_fn = script
    agent.tools = [tool("work", assigning)]
    await agent.prompt("go")
    assert "user: old" in script.requests[1].said
    assert [f"{m.role} {text_of(m)}" for m in agent.messages] == [
        "user new",
        "toolResult ok",
        "assistant done",
    ]
