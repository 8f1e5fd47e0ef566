"""D-01: a failure ends what the run waits for outside, at once, and nothing else; and nothing survives the run."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, ToolExecutionEnd
from pi_trio.tools.tool import UpdateFn

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
    results_of,
    text_of,
    tool,
)
from .show import Failing


async def test_a_failure_cuts_the_tools_that_run_and_the_signal_stays_down() -> None:
    cut: list[str] = []
    signals: list[AbortSignal] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        signals.append(signal)
        if call_id == "t1":
            return result("quick")
        try:
            await trio.sleep_forever()
        finally:
            cut.append(call_id)
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
            on_update(result("too late"))

    agent = Agent(
        model=MODEL,
        tools=[tool("work", work)],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert sorted(cut) == ["t2", "t3"]
    assert (outcome.stop_reason, outcome.error_message) == ("error", "no")
    assert not signals[0].aborted
    check(heard.events)
    assert [text_of(message) for message in results_of(outcome.messages)] == [
        "quick", "Operation aborted", "Operation aborted",
    ]  # fmt: skip
    assert [message.is_error for message in results_of(outcome.messages)] == [False, True, True]
    assert not any(event.type == "tool_execution_update" for event in heard.events)
    await agent.prompt("again")


async def test_a_tool_that_shields_itself_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    ended: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            return result("quick")
        with trio.CancelScope(shield=True):
            await trio.sleep(30)
        ended.append(call_id)
        return result("after all")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert trio.current_time() == 30
    assert ended == ["t2"]
    check(heard.events)
    # It was cut all the same: its answer came when the run was over for it.
    assert text_of(results_of(outcome.messages)[1]) == "Operation aborted"


async def test_a_failure_cuts_a_hook_and_what_it_would_have_decided() -> None:
    """t2 is in after_tool_call when the end of t1 fails the run: it has no finalised result."""
    cut: list[str] = []
    gates = Gates()

    async def after(context: Any, signal: AbortSignal) -> None:
        try:
            await gates.pause(context.tool_call.id)
        except trio.Cancelled:
            cut.append(context.tool_call.id)
            raise

    agent = Agent(
        model=MODEL,
        tools=[tool("work", lambda *args: result("worked"))],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
        after_tool_call=after,
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t3")
        await gates.let_go("t1")
    assert cut == ["t2"]
    check(heard.events)
    assert [text_of(message) for message in results_of(agent.messages)] == [
        "worked",
        "Operation aborted",
        "worked",
    ]


async def test_a_failure_while_calls_are_prepared_executes_none() -> None:
    executed: list[str] = []
    agent = Agent(
        model=MODEL,
        tools=[tool("work", lambda call_id, *args: executed.append(call_id))],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
    )
    agent.subscribe(Failing("tool_execution_start t2", ValueError("no")))
    heard = Recorder(agent)
    await agent.prompt("go")
    assert executed == []
    check(heard.events)
    assert [text_of(message) for message in results_of(agent.messages)] == ["Operation aborted"] * 3


def reporting_agent(gates: Gates) -> Agent:
    """An agent with two calls: the first reports and never ends, the second ends when its gate is opened."""

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            on_update(result("held"))
            await trio.sleep_forever()
        await gates.pause("t2")
        return result("quick")

    return Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2"))))


async def test_a_failure_does_not_cut_a_listener() -> None:
    """What is being delivered goes on to everybody; then the run is closed."""
    gates = Gates()

    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "tool_execution_update t1":
            await gates.pause("slow")
            log.append("slow is done")

    agent = reporting_agent(gates)
    heard = Recorder(agent)
    agent.subscribe(slow)
    behind = Recorder(agent)
    agent.subscribe(Failing("tool_execution_end t2", ValueError("no")))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t2")
        assert "tool_execution_end t2" in heard.briefs
        assert agent.state.is_streaming
        assert heard.briefs[-1] == "tool_execution_end t2", "nothing is closed while something is delivered"
        gates.open("slow")
    assert log == ["slow is done"]
    check(heard.events)
    assert behind.briefs.index("tool_execution_update t1") < behind.briefs.index("turn_end")
    assert sorted(map(id, behind.events)) == sorted(map(id, heard.events))


async def test_a_listener_that_fails_on_a_delivery_under_way_is_a_later_error() -> None:
    gates = Gates()

    async def slow_and_failing(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "tool_execution_update t1":
            await gates.pause("slow")
            raise OSError("second")

    agent = reporting_agent(gates)
    agent.subscribe(slow_and_failing)
    heard = Recorder(agent)
    first = ValueError("first")
    agent.subscribe(Failing("tool_execution_end t2", first))
    outcomes: list[Any] = []

    async def prompt() -> None:
        outcomes.append(await agent.prompt("go"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt)
        await gates.let_go("t2")
        gates.open("slow")
    check(heard.events)
    (outcome,) = outcomes
    assert outcome.error_message == "first"
    assert outcome.errors[0] is first
    assert "second" in first.__notes__[0]


@pytest.mark.parametrize("suspends", [False, True])
async def test_a_failed_delivery_of_progress_fails_the_run_at_once(suspends: bool) -> None:
    """Not when the tool ends, which it never would here. And the tool is not told: `on_update` never raises."""
    went_on: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if suspends:
            await trio.lowlevel.checkpoint()
        on_update(result("progress"))
        went_on.append(call_id)
        on_update(result("more"))
        await trio.sleep_forever()

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    agent.subscribe(Failing("tool_execution_update t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert outcome.error_message == "no"
    assert went_on == ["t1"]
    check(heard.events)
    assert heard.briefs.count("tool_execution_update t1") == 1


async def test_a_tool_that_fails_with_its_progress_is_not_started_with_the_others() -> None:
    """The failure comes in the first stretch of t1; t2 is prepared, and never executed."""
    executed: list[str] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        executed.append(call_id)
        on_update(result("progress"))
        return result("done")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(Failing("tool_execution_update t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert executed == ["t1"]
    check(heard.events)
    ends = heard.of(ToolExecutionEnd)
    assert [event.is_error for event in ends] == [True, True]
    assert ends[0].duration_ms is not None
    assert ends[1].duration_ms is None
    assert outcome.error_message == "no"


async def test_progress_after_the_run_reaches_nobody() -> None:
    """S-02, S-05: not even when the next run is going on."""
    reporters: list[UpdateFn] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        reporters.append(on_update)
        return result("done")

    gates = Gates()
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    await agent.prompt("go")
    heard.events.clear()
    reporters[0](result("late"))
    assert heard.events == []
    agent.stream_fn = Script(assistant("next"), pause=gates.pause)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "next")
        await trio.testing.wait_all_tasks_blocked()
        reporters[0](result("late"))
        while gates.standing:
            await gates.let_go(gates.standing[0])
    check(heard.events)
