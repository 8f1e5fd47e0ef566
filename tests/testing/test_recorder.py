"""The recorder keeps what it hears, and the state beside it, and wakes who waits for an event."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from pi_trio import Agent, AgentState, MessageEnd, ToolExecutionStart, TurnEnd, TurnStart
from pi_trio.testing import HELD, Recorder, ScriptedModel, ScriptedTool, tool_call


def agent_with(*answers, **options) -> Agent:
    return Agent(stream_fn=ScriptedModel(answers), tools=[ScriptedTool("work")], **options)


async def test_everything_is_kept():
    agent = agent_with(tool_call("work"), "Done.")
    recorder = Recorder(agent)
    await agent.prompt("Go!")
    assert recorder.lines[:4] == [
        "agent_start",
        "turn_start",
        "message_start user: Go!",
        "message_end user: Go!",
    ]
    assert recorder.lines[-1] == "agent_end"
    assert len(recorder.lines) == len(recorder.events)
    assert [event.message.role for event in recorder.of(MessageEnd)] == [
        "user", "assistant", "toolResult", "assistant"
    ]  # fmt: skip
    assert recorder.states == []


async def test_states_are_kept_beside_the_events():
    agent = agent_with(tool_call("work", id="t"), "Done.")
    recorder = Recorder(agent, states=True)
    await agent.prompt("Go!")
    assert len(recorder.states) == len(recorder.events)
    during = recorder.states[recorder.lines.index("tool_execution_start work: {}")]
    assert during.pending_tool_calls == ("t",)
    assert recorder.states[0].is_streaming


async def test_it_can_be_unsubscribed():
    agent = agent_with("one", "two")
    recorder = Recorder(agent)
    await agent.prompt("Go!")
    heard = len(recorder.events)
    assert recorder.unsubscribe()
    assert not recorder.unsubscribe()
    await agent.prompt("Go!")
    assert len(recorder.events) == heard


async def test_waiting_ends_with_the_event(nursery):
    agent = agent_with(HELD)
    recorder = Recorder(agent)
    found: list[object] = []

    async def wait(kind, nth) -> None:
        found.append(await recorder.wait_for(kind, nth))

    nursery.start_soon(wait, TurnStart, 1)
    nursery.start_soon(wait, MessageEnd, 2)
    await trio.testing.wait_all_tasks_blocked()
    assert found == []
    nursery.start_soon(agent.prompt, "Go!")
    await trio.testing.wait_all_tasks_blocked()
    assert found == recorder.of(TurnStart)
    model = agent.stream_fn
    assert isinstance(model, ScriptedModel)
    model.pending[0].answer("Done.")
    await trio.testing.wait_all_tasks_blocked()
    assert found[1] is recorder.of(MessageEnd)[1]


async def test_what_was_said_is_there_at_once():
    agent = agent_with("one")
    recorder = Recorder(agent)
    await agent.prompt("Go!")
    with trio.testing.assert_checkpoints():
        assert await recorder.wait_for(TurnEnd) is recorder.of(TurnEnd)[0]


async def test_waiting_can_be_cancelled(autojump_clock):
    recorder = Recorder(agent_with())
    with trio.move_on_after(1) as scope:
        await recorder.wait_for(ToolExecutionStart)
    assert scope.cancelled_caught


async def test_events_are_counted_from_one():
    with pytest.raises(ValueError, match="counted from 1"):
        await Recorder(agent_with()).wait_for(TurnStart, 0)


async def test_ctrl_c_strikes_no_recorder_which_would_lose_an_event():
    protected: list[bool] = []

    class Watching(Agent):
        @property
        def state(self) -> AgentState:
            protected.append(trio.lowlevel.currently_ki_protected())
            return super().state

    Recorder(agent := Watching(stream_fn=ScriptedModel("well")), states=True)
    await agent.prompt("hi")
    assert protected
    assert all(protected)
