"""One batch of calls: the order of starts, ends and results; preparation, hooks, and what the model is told."""

from __future__ import annotations

import random
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import BeforeToolCallResult
from pi_trio.events import AgentEvent, ToolExecutionEnd, TurnEnd
from pi_trio.jsonvalue import ABSENT
from pi_trio.tools.tool import UpdateFn

from .calling import agent_with
from .grammar import check
from .scripting import (
    MODEL,
    Gates,
    Recorder,
    Script,
    assistant,
    brief,
    call,
    result,
    result_texts,
    results_of,
    text_of,
    tool,
)

# --- order ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suspensions", [0, 1, 3])
async def test_parallel_calls_start_in_source_order_before_any_goes_on(suspensions: int) -> None:
    """Under trio's random scheduling, in every one of many batches."""
    for _ in range(170):
        log: list[str] = []

        async def work(
            call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn, log: list[str] = log
        ) -> Any:
            log.append(f"start {call_id}")
            for _ in range(suspensions):
                await trio.lowlevel.checkpoint()
            if suspensions:
                log.append(f"on {call_id}")
            return result()

        agent = agent_with(*(call(f"t{number}") for number in range(5)), execute=work)
        heard = Recorder(agent)
        await agent.prompt("go")
        starts = [f"start t{number}" for number in range(5)]
        assert log[:5] == starts
        assert len(log) == (10 if suspensions else 5)
        ends = [brief(event) for event in heard.of(ToolExecutionEnd)]
        assert sorted(ends) == [f"tool_execution_end t{number}" for number in range(5)]


async def test_a_tool_that_never_suspends_does_not_end_before_the_others_have_started() -> None:
    for _ in range(50):
        log: list[str] = []

        async def work(
            call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn, log: list[str] = log
        ) -> Any:
            log.append(f"start {call_id}")
            return result()

        def listener(event: AgentEvent, signal: AbortSignal, log: list[str] = log) -> None:
            if isinstance(event, ToolExecutionEnd):
                log.append("end")

        agent = agent_with(*(call(f"t{number}") for number in range(4)), execute=work)
        agent.subscribe(listener)
        await agent.prompt("go")
        assert log == ["start t0", "start t1", "start t2", "start t3", *["end"] * 4]


async def test_ends_come_in_the_order_of_completion_and_results_in_source_order() -> None:
    shuffled = random.Random(3)
    for _ in range(20):
        gates = Gates()
        order = shuffled.sample(["t0", "t1", "t2", "t3"], 4)

        async def work(
            call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn, gates: Gates = gates
        ) -> Any:
            await gates.pause(call_id)
            return result(call_id)

        agent = agent_with(*(call(f"t{number}") for number in range(4)), execute=work)
        heard = Recorder(agent)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.prompt, "go")
            for number, call_id in enumerate(order):
                await gates.let_go(call_id)
                assert len(heard.of(ToolExecutionEnd)) == number + 1
        assert [event.tool_call_id for event in heard.of(ToolExecutionEnd)] == order
        assert result_texts(agent) == ["t0", "t1", "t2", "t3"]
        assert [text_of(one) for one in heard.of(TurnEnd)[0].tool_results] == ["t0", "t1", "t2", "t3"]
        check(heard.events)


@pytest.mark.parametrize("how", ["agent", "tool"])
async def test_a_sequential_batch_runs_call_by_call(how: str) -> None:
    running: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        running.append(call_id)
        assert len(running) == 1
        await trio.lowlevel.checkpoint()
        running.remove(call_id)
        return result(call_id)

    script = Script(assistant(call("t1"), call("t2", "careful"), call("t3"), call("t4", "unknown")))
    careful = tool("careful", work, execution_mode="sequential" if how == "tool" else None)
    agent = Agent(
        model=MODEL,
        tools=[tool("work", work), careful],
        stream_fn=script,
        tool_execution="sequential" if how == "agent" else "parallel",
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    check(heard.events, sequential=True)
    assert result_texts(agent) == ["t1", "t2", "t3", "Tool unknown not found"]


async def test_a_tool_that_is_not_called_does_not_make_a_batch_sequential() -> None:
    agent = agent_with(call("t1"), call("t2"), execute=lambda *args: result())
    agent.tools = [*agent.tools, tool("careful", print, execution_mode="sequential")]
    heard = Recorder(agent)
    await agent.prompt("go")
    check(heard.events, sequential=False)


async def test_a_call_that_is_refused_ends_before_the_next_starts() -> None:
    agent = agent_with(call("t1"), call("t2", "nowhere"), call("t3"), execute=lambda *args: result())
    heard = Recorder(agent)
    await agent.prompt("go")
    begin = heard.briefs.index("tool_execution_start t1")
    assert heard.briefs[begin : begin + 4] == [
        "tool_execution_start t1", "tool_execution_start t2", "tool_execution_end t2 !", "tool_execution_start t3",
    ]  # fmt: skip
    check(heard.events)


async def test_listeners_may_be_busy_with_several_calls_at_once() -> None:
    gates = Gates()
    agent = agent_with(call("t1"), call("t2"), execute=lambda *args: result())

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionEnd):
            await gates.pause(event.tool_call_id)

    agent.subscribe(slow)
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(gates.standing) == ["t1", "t2"]
        await gates.let_go("t2")
        await gates.let_go("t1")
    assert [event.tool_call_id for event in heard.of(ToolExecutionEnd)] == ["t2", "t1"]


async def test_two_calls_with_one_id() -> None:
    """D-07: the id is pending until the last of its calls has ended; it is listed once."""
    gates = Gates()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        await gates.pause(f"{args['n']}")
        return result(f"{args['n']}")

    agent = agent_with(call("t", n=1), call("t", n=2), execute=work)
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        assert agent.state.pending_tool_calls == ("t",)
        await gates.let_go("2")
        assert len(heard.of(ToolExecutionEnd)) == 1
        assert agent.state.pending_tool_calls == ("t",)
        await gates.let_go("1")
        assert agent.state.pending_tool_calls == ()
    assert result_texts(agent) == ["1", "2"]
    check(heard.events)


async def test_calls_of_a_truncated_message_are_not_executed() -> None:
    executed: list[Any] = []
    script = Script(assistant(call("t1"), call("t2", "nowhere"), stop_reason="length"), assistant("again"))
    agent = Agent(model=MODEL, tools=[tool("work", executed.append)], stream_fn=script)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert executed == []
    check(heard.events)
    assert result_texts(agent) == [
        f'Tool call "{name}" was not executed: the response hit the output token limit, so its arguments may be '
        "truncated. Re-issue the tool call with complete arguments."
        for name in ("work", "nowhere")
    ]
    assert len(script.requests) == 2
    assert outcome.text == "again"


@pytest.mark.parametrize("reason", ["stop", "toolUse", "deferred", "pause_turn"])
async def test_calls_run_whatever_else_the_stop_reason_says(reason: str) -> None:
    script = Script(assistant(call("t1"), stop_reason=reason), assistant("done"))
    agent = Agent(model=MODEL, tools=[tool("work", lambda *args: result("ran"))], stream_fn=script)
    await agent.prompt("go")
    assert result_texts(agent) == ["ran"]


async def test_the_context_of_hooks_has_results_only_after_the_batch() -> None:
    """Also in a sequential batch, where the state has them already."""
    seen: list[tuple[int, int]] = []
    agent = agent_with(call("t1"), call("t2"), execute=lambda *args: result(), tool_execution="sequential")

    def before(context: Any, signal: AbortSignal) -> None:
        seen.append((len(results_of(context.context.messages)), len(results_of(agent.messages))))

    agent.before_tool_call = before
    await agent.prompt("go")
    assert seen == [(0, 0), (0, 1)]


# --- terminate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "requests"),
    [
        ([True, True], 1),
        ([True, False], 2),
        ([True, ABSENT], 2),
        ([1, True], 2),
        (["true", True], 2),
        ([True], 1),
    ],
)
async def test_a_batch_terminates_if_every_result_says_exactly_true(values: list[Any], requests: int) -> None:
    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        return result(terminate=values[int(call_id)])

    script = Script(assistant(*(call(str(number)) for number in range(len(values)))), assistant("more"))
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=script)
    await agent.prompt("go")
    assert len(script.requests) == requests


@pytest.mark.parametrize(("terminate", "requests"), [(True, 1), (1, 2), (None, 2)])
async def test_a_block_may_terminate(terminate: Any, requests: int) -> None:
    script = Script(assistant(call("t1"), call("t2")), assistant("more"))
    agent = Agent(
        model=MODEL,
        tools=[tool("work", print)],
        stream_fn=script,
        before_tool_call=lambda context, signal: BeforeToolCallResult(block=True, terminate=terminate),
    )
    await agent.prompt("go")
    assert len(script.requests) == requests
