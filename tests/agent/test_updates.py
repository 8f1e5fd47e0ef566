"""Progress: reports are synchronous, deliveries begin in order, may overlap, and converge before the call ends."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, ToolExecutionUpdate
from pi_trio.tools.tool import UpdateFn

from .grammar import check
from .scripting import MODEL, Gates, Recorder, Script, assistant, at, brief, call, result, text_of, tool


def agent_with(*calls: Any, execute: Any, **options: Any) -> Agent:
    return Agent(model=MODEL, tools=[tool("work", execute)], stream_fn=Script(assistant(*calls)), **options)


def partials(heard: Recorder) -> list[str]:
    return [text_of(event.partial_result) for event in heard.of(ToolExecutionUpdate)]


async def test_the_first_listener_is_called_inside_the_report() -> None:
    log: list[str] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        log.append("reporting")
        on_update(result("half"))
        log.append("reported")
        return result()

    agent = agent_with(call("t1", n=1), execute=work)
    at(agent, "tool_execution_update t1", lambda: log.append("first listener"))
    at(agent, "tool_execution_update t1", lambda: log.append("second listener"))
    heard = Recorder(agent)
    await agent.prompt("go")
    assert log == ["reporting", "first listener", "reported", "second listener"]
    (update,) = heard.of(ToolExecutionUpdate)
    assert (update.tool_call_id, update.tool_name, update.args) == ("t1", "work", {"n": 1})


@pytest.mark.parametrize("suspends", [False, True])
async def test_all_reports_arrive_in_order_before_the_end(suspends: bool) -> None:
    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        for number in range(20):
            on_update(result(str(number)))
            if suspends:
                await trio.lowlevel.checkpoint()
        return result()

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    begun: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            begun.append(text_of(event.partial_result))
            for _ in range(int(begun[-1]) % 3):
                await trio.lowlevel.checkpoint()

    agent.subscribe(slow)
    behind = Recorder(agent)
    await agent.prompt("go")
    assert partials(heard) == [str(number) for number in range(20)] == begun
    updates = [index for index, words in enumerate(behind.briefs) if words == "tool_execution_update t1"]
    assert len(updates) == 20
    assert behind.briefs.index("tool_execution_end t1") > max(updates)
    check(heard.events)


async def test_deliveries_overlap_and_converge_before_the_result_is_finalised() -> None:
    """S-18: whoever holds two reports may finish the second first; the next listener then hears it first."""
    gates = Gates()
    finalised: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        on_update(result("one"))
        on_update(result("two"))
        return result()

    async def holding(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            await gates.pause(text_of(event.partial_result))

    agent = agent_with(
        call("t1"),
        execute=work,
        after_tool_call=lambda context, signal: finalised.append(context.tool_call.id),
    )
    agent.subscribe(holding)
    behind = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(gates.standing) == ["one", "two"]
        await gates.let_go("two")
        assert partials(behind) == ["two"]
        assert finalised == []
        await gates.let_go("one")
    assert partials(behind) == ["two", "one"]
    assert finalised == ["t1"]


async def test_one_calls_reports_do_not_hold_up_another_call() -> None:
    gates = Gates()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        on_update(result(call_id))
        return result()

    async def holding(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            await gates.pause(event.tool_call_id)

    agent = agent_with(call("t1"), call("t2"), execute=work)
    heard = Recorder(agent)
    agent.subscribe(holding)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t2")
        assert "tool_execution_end t2" in heard.briefs
        assert "tool_execution_end t1" not in heard.briefs
        await gates.let_go("t1")
    check(heard.events)


async def test_reports_after_the_answer_are_dropped() -> None:
    """Kept for later by somebody: nothing happens, and nothing is raised."""
    late: list[UpdateFn] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        late.append(on_update)
        on_update(result("in time"))
        return result()

    agent = agent_with(call("t1"), call("t2"), execute=work)
    heard = Recorder(agent)

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) in {"tool_execution_end t1", "turn_end", "agent_end"}:
            late[0](result("late"))

    agent.subscribe(listener)
    await agent.prompt("go")
    for report in late:
        report(result("very late"))
    assert partials(heard) == ["in time", "in time"]
    check(heard.events)


async def test_reports_after_a_throw_are_dropped() -> None:
    late: list[UpdateFn] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        late.append(on_update)
        raise ValueError("broken")

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    at(agent, "tool_execution_end t1 !", lambda: late[0](result("late")))
    await agent.prompt("go")
    assert len(late) == 1
    assert partials(heard) == []


async def test_a_report_while_updates_converge_is_late() -> None:
    """The tool has answered; that a listener still holds its report opens no door."""
    gates = Gates()
    reporters: list[UpdateFn] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        reporters.append(on_update)
        on_update(result("held"))
        return result()

    async def holding(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            await gates.pause("held")

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    agent.subscribe(holding)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        reporters[0](result("late"))
        await gates.let_go("held")
    assert partials(heard) == ["held"]


async def test_reports_of_a_task_inside_the_tool() -> None:
    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        async def helper(name: str) -> None:
            on_update(result(name))
            await trio.lowlevel.checkpoint()
            on_update(result(f"{name} again"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(helper, "a")
            nursery.start_soon(helper, "b")
        return result()

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    await agent.prompt("go")
    assert sorted(partials(heard)) == ["a", "a again", "b", "b again"]
    check(heard.events)


async def test_a_tool_may_report_from_a_thread() -> None:
    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        def blocking() -> None:
            trio.from_thread.run_sync(on_update, result("from a thread"))

        await trio.to_thread.run_sync(blocking)
        return result()

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    await agent.prompt("go")
    assert partials(heard) == ["from a thread"]
    check(heard.events)


async def test_a_listener_sees_the_context_of_the_report_that_it_hears() -> None:
    """Also where the task that delivers it has delivered another call's before."""
    where: ContextVar[str] = ContextVar("where")

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        for number in range(3):
            where.set(f"{call_id} {number}")
            on_update(result(where.get()))
            await trio.testing.wait_all_tasks_blocked()
        return result()

    agent = agent_with(call("t1"), call("t2"), execute=work)
    tasks: set[trio.lowlevel.Task] = set()

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate):
            tasks.add(trio.lowlevel.current_task())
            assert where.get() == text_of(event.partial_result)

    agent.subscribe(listener)
    heard = Recorder(agent)
    (await agent.prompt("go")).raise_for_error()
    assert len(partials(heard)) == 6
    assert len(tasks) == 2


async def test_a_report_straight_from_a_thread_is_refused_before_anybody_hears_it() -> None:
    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        with pytest.raises(RuntimeError):
            await trio.to_thread.run_sync(on_update, result("from a thread"))
        return result()

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent)
    assert (await agent.prompt("go")).stop_reason == "stop"
    assert partials(heard) == []
    check(heard.events)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_listener_may_report_for_the_tool(first: bool, number: int) -> None:
    """Also from inside the delivery of a report, when nobody else is on the way."""
    reports: list[UpdateFn] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        reports.append(on_update)
        on_update(result("0"))
        await trio.testing.wait_all_tasks_blocked()
        return result()

    agent = agent_with(call("t1"), execute=work)
    heard = Recorder(agent) if not first else None

    def again(event: AgentEvent, signal: AbortSignal) -> None:
        if isinstance(event, ToolExecutionUpdate) and int(text_of(event.partial_result)) < number:
            reports[0](result(str(int(text_of(event.partial_result)) + 1)))

    agent.subscribe(again)
    behind = Recorder(agent)
    await agent.prompt("go")
    wanted = [str(each) for each in range(number + 1)]
    assert sorted(partials(behind)) == wanted
    if heard is not None:
        assert partials(heard) == wanted
