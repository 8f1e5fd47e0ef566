"""Turns: what makes another one due, what the turn hooks see and change, and how the queues feed it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import AgentContext, NextTurn, RequestUpdate, TurnDecision
from pi_trio.events import MessageEnd
from pi_trio.messages import Message, SystemMessage

from .grammar import check
from .scripting import MODEL, Gates, Recorder, Script, assistant, at, call, result, text_of, tool, user

OTHER = attrs.evolve(MODEL, id="m-2")


def said(heard: Recorder) -> list[str]:
    """What was said, in turns."""
    words: list[str] = []
    for event in heard.events:
        if event.type == "turn_start":
            words.append("|")
        elif isinstance(event, MessageEnd):
            words.append(text_of(event.message) or event.message.role)
    return words


def working(*answers: Any, **options: Any) -> tuple[Agent, Recorder, Script]:
    script = Script(*answers)
    agent = Agent(
        model=MODEL, tools=[tool("work", lambda *args: result("worked"))], stream_fn=script, **options
    )
    return agent, Recorder(agent), script


def texts(messages: Any) -> list[str]:
    return [text_of(message) for message in messages]


# --- the queues -------------------------------------------------------------------------------------------


def test_queues_are_first_in_first_out_and_known_by_their_modes() -> None:
    agent = Agent(stream_fn=Script())
    assert not agent.has_queued_messages()
    assert agent.peek_queued_messages() == ()
    for text in ("f1", "f2"):
        agent.follow_up(user(text))
    assert agent.has_queued_messages()
    assert texts(agent.peek_queued_messages()) == ["f1"]
    for text in ("s1", "s2"):
        agent.steer(user(text))
    assert texts(agent.peek_queued_messages()) == ["s1"]
    agent.steering_mode = "all"
    assert texts(agent.peek_queued_messages()) == ["s1", "s2"]
    assert agent.follow_up_mode == "one-at-a-time"
    agent.clear_steering_queue()
    assert texts(agent.peek_queued_messages()) == ["f1"]
    agent.follow_up_mode = "all"
    assert texts(agent.peek_queued_messages()) == ["f1", "f2"]
    agent.clear_follow_up_queue()
    assert not agent.has_queued_messages()
    agent.steer(user("s"))
    agent.follow_up(user("f"))
    agent.clear_all_queues()
    assert not agent.has_queued_messages()


async def test_steering_comes_one_at_a_time() -> None:
    agent, heard, script = working(*(assistant(f"a{n}") for n in range(4)))
    for text in ("s1", "s2", "s3"):
        agent.steer(user(text))
    await agent.prompt("go")
    check(heard.events)
    assert said(heard) == ["|", "go", "s1", "a0", "|", "s2", "a1", "|", "s3", "a2"]
    assert script.requests[0].said == ["system: ", "user: go", "user: s1"]


async def test_steering_comes_all_at_once() -> None:
    agent, heard, _ = working(assistant("a0"), steering_mode="all")
    for text in ("s1", "s2", "s3"):
        agent.steer(user(text))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "s1", "s2", "s3", "a0"]


async def test_follow_ups_come_when_the_run_would_end() -> None:
    agent, heard, _ = working(assistant(call("t1")), *(assistant(f"a{n}") for n in range(4)))
    for text in ("f1", "f2"):
        agent.follow_up(user(text))
    await agent.prompt("go")
    check(heard.events)
    assert said(heard) == ["|", "go", "assistant", "worked", "|", "a0", "|", "f1", "a1", "|", "f2", "a2"]


async def test_steering_goes_before_follow_ups() -> None:
    agent, heard, _ = working(*(assistant(f"a{n}") for n in range(4)), follow_up_mode="all")
    for text in ("f1", "f2"):
        agent.follow_up(user(text))
    agent.steer(user("s1"))
    agent.steer(user("s2"))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "s1", "a0", "|", "s2", "a1", "|", "f1", "f2", "a2"]


async def test_steering_never_skips_calls_that_are_made() -> None:
    agent, heard, _ = working(assistant(call("t1"), call("t2")), assistant("a"))
    at(agent, "tool_execution_start t1", lambda: agent.steer(user("hurry")))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "assistant", "worked", "worked", "|", "hurry", "a"]


async def test_what_is_steered_while_the_last_turn_ends_is_still_said() -> None:
    agent, heard, _ = working(assistant("a0"), assistant("a1"))
    at(agent, "turn_end", lambda: agent.steer(user("late")))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "a0", "|", "late", "a1"]


async def test_what_is_queued_while_the_run_ends_waits_for_the_next() -> None:
    agent, heard, _ = working(assistant("a0"), assistant("a1"), assistant("a2"))
    at(agent, "agent_end", lambda: agent.steer(user("later")))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "a0"]
    heard.events.clear()
    await agent.continue_()
    assert said(heard) == ["|", "later", "a1"]


async def test_modes_are_read_at_each_poll() -> None:
    agent, heard, _ = working(*(assistant(f"a{n}") for n in range(4)))
    for text in ("s1", "s2", "s3"):
        agent.steer(user(text))
    at(agent, "turn_end", lambda: setattr(agent, "steering_mode", "all"))
    await agent.prompt("go")
    assert said(heard) == ["|", "go", "s1", "a0", "|", "s2", "s3", "a1"]


async def test_continue_takes_steering_as_its_prompt_and_skips_the_first_poll() -> None:
    agent, heard, _ = continuing()
    for text in ("s1", "s2"):
        agent.steer(user(text))
    agent.follow_up(user("f1"))
    outcome = await agent.continue_()
    check(heard.events)
    assert said(heard) == ["|", "s1", "a0", "|", "s2", "a1", "|", "f1", "a2"]
    assert texts(outcome.messages) == ["s1", "a0", "s2", "a1", "f1", "a2"]


def continuing() -> tuple[Agent, Recorder, Script]:
    """An agent whose transcript ends with an answer."""
    agent, heard, script = working(*(assistant(f"a{n}") for n in range(4)))
    agent.messages = [*agent.messages, user("hello"), assistant("hi")]
    return agent, heard, script


async def test_continue_takes_follow_ups_if_nothing_is_steered() -> None:
    agent, heard, _ = continuing()
    for text in ("f1", "f2"):
        agent.follow_up(user(text))
    await agent.continue_()
    assert said(heard) == ["|", "f1", "a0", "|", "f2", "a1"]


async def test_a_second_poll_after_preparing_takes_what_came_meanwhile() -> None:
    """Only if the first poll was empty, so that one-at-a-time stays one."""
    gates = Gates()
    agent, heard, _ = working(assistant(call("t1")), assistant("a1"), assistant("a2"))

    async def prepare(signal: AbortSignal) -> None:
        await gates.pause("prepare")

    agent.prepare_next_turn = prepare
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        agent.steer(user("s1"))
        agent.steer(user("s2"))
        await gates.let_go("prepare")
        await gates.let_go("prepare")
    assert said(heard) == ["|", "go", "assistant", "worked", "|", "s1", "a1", "|", "s2", "a2"]


# --- finish_turn ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["end", "continue", "other", None])
async def test_finish_turn_decides(action: Any) -> None:
    decisions = [TurnDecision(action=action)]
    agent, heard, _ = working(
        assistant("a0"),
        assistant("a1"),
        finish_turn=lambda turn, signal: decisions.pop() if decisions else None,
    )
    await agent.prompt("go")
    check(heard.events)
    more = ["|", "a1"] if action == "continue" else []
    assert said(heard) == ["|", "go", "a0", *more]


async def test_finish_turn_ends_with_the_queues_untouched() -> None:
    agent, heard, _ = working(
        assistant(call("t1")), finish_turn=lambda turn, signal: TurnDecision(action="end")
    )
    agent.follow_up(user("f"))
    at(agent, "message_end assistant", lambda: agent.steer(user("s")))
    outcome = await agent.prompt("go")
    assert said(heard) == ["|", "go", "assistant", "worked"]
    assert texts(agent.peek_queued_messages()) == ["s"]
    assert outcome.stop_reason == "toolUse"
    check(heard.events)


@pytest.mark.parametrize("queue", ["tools", "steering", "follow-up"])
async def test_a_wish_to_continue_is_fulfilled_by_any_other_reason(queue: str) -> None:
    decisions = [TurnDecision(action="continue")]
    first = assistant(call("t1")) if queue == "tools" else assistant("a0")
    agent, heard, script = working(
        first, assistant("a1"), finish_turn=lambda turn, signal: decisions.pop() if decisions else None
    )
    if queue == "follow-up":
        agent.follow_up(user("queued"))
    if queue == "steering":
        at(agent, "message_start assistant", lambda: agent.steer(user("queued")))
    await agent.prompt("go")
    assert len(script.requests) == 2
    check(heard.events)


async def test_what_finish_turn_sees() -> None:
    turns: list[Any] = []
    agent, heard, _ = working(assistant(call("t1")), assistant("done"))
    agent.finish_turn = lambda turn, signal: turns.append((turn, heard.briefs[-1]))
    await agent.prompt("go")
    (first, before), (second, _) = turns
    assert before == "message_end toolResult", "it comes before turn_end"
    assert first.message is agent.messages[2]
    assert first.tool_results == (agent.messages[3],)
    assert first.context.messages == agent.messages[:4]
    assert first.new_messages == agent.messages[1:4]
    assert second.new_messages == agent.messages[1:5]


# --- prepare_next_turn, prepare_request -------------------------------------------------------------------


async def test_prepare_next_turn_comes_only_before_a_turn_that_follows() -> None:
    seen: list[str] = []
    agent, heard, _ = working(assistant(call("t1")), assistant("done"))
    agent.prepare_next_turn = lambda signal: seen.append(heard.briefs[-1])
    at(agent, "turn_start", lambda: seen.append("turn_start"))
    at(agent, "turn_start", lambda: seen.append("turn_start"), nth=2)
    await agent.prompt("go")
    assert seen == ["turn_start", "turn_end", "turn_start"]


async def test_prepare_next_turn_replaces_for_the_rest_of_the_run() -> None:
    context = AgentContext(
        messages=(user("compacted"),), tools=[tool("other", lambda *args: result("other worked"))]
    )
    change = NextTurn(context=context, model=OTHER, thinking_level="high", messages=[user("said first")])
    changes = [change]
    agent, heard, script = working(
        assistant(call("t1")), assistant(call("t2", "other")), assistant("done"), thinking_level="low"
    )
    agent.prepare_next_turn = lambda signal: changes.pop() if changes else None
    at(agent, "tool_execution_start t1", lambda: agent.steer(user("steered")))
    await agent.prompt("go")
    check(heard.events)
    assert [request.model.id for request in script.requests] == ["m-1", "m-2", "m-2"]
    assert [request.options.reasoning for request in script.requests] == ["low", "high", "high"]
    assert script.requests[1].said == ["user: compacted", "system: ", "user: said first", "user: steered"]
    assert [message.thinking_level for message in agent.messages if message.role == "assistant"] == [
        "low",
        "high",
        "high",
    ]
    assert "other worked" in texts(agent.messages)
    assert "compacted" not in texts(agent.messages)
    assert (agent.model.id, agent.thinking_level) == ("m-1", "low")


async def test_with_context_wins_and_sees_the_turn() -> None:
    turns: list[Any] = []
    agent, _, _ = working(assistant(call("t1")), assistant("done"))
    agent.prepare_next_turn = lambda signal: turns.append("the other")
    agent.prepare_next_turn_with_context = lambda turn, signal: turns.append(turn)
    await agent.prompt("go")
    (turn,) = turns
    assert turn.message is agent.messages[2]
    assert turn.tool_results == (agent.messages[3],)


async def test_prepare_request_changes_this_and_all_later_requests_of_the_run() -> None:
    updates = [
        RequestUpdate(model=OTHER, thinking_level="high", context=AgentContext(messages=(user("short"),)))
    ]
    agent, heard, script = working(assistant(call("t1")), assistant("done"))
    agent.prepare_request = lambda request, signal: updates.pop() if updates else None
    await agent.prompt("go")
    check(heard.events)
    assert [request.model.id for request in script.requests] == ["m-2", "m-2"]
    assert script.requests[0].said == ["user: short"]
    assert script.requests[0].options.reasoning == "high"
    assert texts(agent.messages)[:2] == ["", "go"]
    await agent.prompt("again")
    assert script.requests[-1].model.id == "m-1"


async def test_level_off_asks_for_no_reasoning() -> None:
    agent, _, script = working(assistant("x"), thinking_level="high")
    agent.prepare_request = lambda request, signal: RequestUpdate(thinking_level="off")
    await agent.prompt("go")
    assert script.requests[0].options.reasoning is None


# --- the tools in the transcript --------------------------------------------------------------------------


async def test_changed_tools_are_announced_before_the_prompt() -> None:
    a, b, c = (tool(name, lambda *args: result()) for name in "abc")
    script = Script()
    agent = Agent(model=MODEL, tools=[a, b], stream_fn=script)
    heard = Recorder(agent)
    await agent.prompt("one")
    agent.tools = [b, c]
    heard.events.clear()
    await agent.prompt("two")
    said_before = check(heard.events)
    assert [message.role for message in said_before] == ["system", "user", "assistant"]
    announcement: Message = said_before[0]
    assert announcement.content == ""  # type: ignore[union-attr]
    assert [one.name for one in announcement.tools_added] == ["c"]  # type: ignore[union-attr]
    assert [one.name for one in announcement.tools_removed] == ["a"]  # type: ignore[union-attr]
    heard.events.clear()
    await agent.prompt("three")
    assert [message.role for message in check(heard.events)] == ["user", "assistant"]


async def test_continue_announces_in_its_first_turn() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=[user("hello")])
    agent.tools = [tool("a", print)]
    heard = Recorder(agent)
    await agent.continue_()
    assert heard.briefs[:4] == ["agent_start", "turn_start", "message_start system", "message_end system"]


async def test_a_queued_system_message_carries_the_difference_and_returns_as_it_was() -> None:
    """D-09: the original goes back to its queue, not its copy with the tool changes."""
    agent, heard, _ = continuing()
    original = SystemMessage(content="be quick", timestamp=9)
    agent.tools = []

    def fail() -> None:
        raise ValueError("no")

    for words in ("agent_start", "turn_start"):
        agent.messages = [*agent.messages, assistant("hi")]
        agent.steer(original)
        unsubscribe = at(agent, words, fail)
        await agent.continue_()
        unsubscribe()
        assert agent.peek_queued_messages()[0] is original
        agent.clear_all_queues()
    heard.events.clear()
    agent.steer(original)
    await agent.continue_()
    first = check(heard.events)[0]
    assert isinstance(first, SystemMessage)
    assert (first.content, first.timestamp) == ("be quick", 9)
    assert [one.name for one in first.tools_removed or ()] == ["work"]
    assert original.tools_removed is None
