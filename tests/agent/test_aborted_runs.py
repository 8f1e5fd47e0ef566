"""`abort()` in the mode "signal": advice that everybody can see; it ends no wait, tools and providers decide.

And what holds in both modes: an abort never reaches a listener.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import BeforeToolCallResult
from pi_trio.events import AgentEvent, ToolExecutionEnd
from pi_trio.tools.tool import UpdateFn

from .grammar import check
from .scripting import (
    MODEL,
    Gates,
    Recorder,
    Script,
    assistant,
    at,
    brief,
    call,
    result,
    result_texts,
    tool,
    user,
)
from .show import Show, told


def agent_with(*calls: Any, execute: Any, **options: Any) -> tuple[Agent, Recorder, Script]:
    script = Script(assistant(*calls), assistant("done"))
    agent = Agent(
        model=MODEL, tools=[tool("work", execute)], stream_fn=script, abort_mode="signal", **options
    )
    return agent, Recorder(agent), script


async def test_an_abort_while_idle_leaves_no_mark() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    agent.abort()
    outcome = await agent.prompt("go")
    agent.abort()
    assert outcome.stop_reason == "stop"
    assert agent.signal is None


async def test_each_run_has_a_signal_of_its_own() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    signals: list[AbortSignal] = []

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        assert agent.signal is signal
        signals.append(signal)

    agent.subscribe(listener)
    await agent.prompt("go")
    await agent.prompt("go")
    assert len(set(signals)) == 2


async def test_an_abort_in_a_stream_is_the_providers_to_answer() -> None:
    gates = Gates()
    script = Script(assistant("abcd"), pause=gates.pause)
    agent = Agent(model=MODEL, stream_fn=script, abort_mode="signal")
    agent.follow_up(user("stays"))
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        while "message_update" not in heard.briefs:
            await gates.let_go(gates.standing[0])
        agent.abort()
        agent.abort()
        await trio.testing.wait_all_tasks_blocked()
        assert gates.standing == ["stream 1 result"]
        await gates.let_go("stream 1 result")
    check(heard.events)
    answer = agent.messages[-1]
    assert (answer.stop_reason, answer.error_message) == ("aborted", "aborted by request")  # type: ignore[union-attr]
    assert agent.state.error_message == "aborted by request"
    assert agent.has_queued_messages()


async def test_a_provider_that_ignores_it_ends_the_run_normally() -> None:
    """S-12, as Pi."""
    agent = Agent(
        model=MODEL, stream_fn=Script(assistant("a"), assistant("b"), deaf=True), abort_mode="signal"
    )
    agent.follow_up(user("polled"))
    at(agent, "message_start assistant", agent.abort)
    outcome = await agent.prompt("go")
    assert (outcome.stop_reason, outcome.text) == ("stop", "b")


@pytest.mark.parametrize("abort_mode", ["signal", "cancel"])
@pytest.mark.parametrize("deaf", [False, True])
async def test_an_abort_at_the_moment_of_an_event_reaches_no_listener(deaf: bool, abort_mode: Any) -> None:
    """The event has left the provider: it is delivered to all, in peace, or to nobody."""
    gates = Gates()
    agent = Agent(
        model=MODEL, stream_fn=Script(assistant("abcd"), pause=gates.pause, deaf=deaf), abort_mode=abort_mode
    )
    heard = Recorder(agent)
    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            log.append(f"cancelled at {brief(event)}")
            raise

    agent.subscribe(slow)
    behind = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        while "message_update" not in heard.briefs:
            await gates.let_go(gates.standing[0])
        gates.open("stream 1 event")
        agent.abort()
        await trio.testing.wait_all_tasks_blocked()
        while gates.standing:
            await gates.let_go(gates.standing[0])
    assert log == []
    assert behind.briefs == heard.briefs
    check(heard.events)


async def test_it_ends_no_wait_for_a_tool() -> None:
    gates = Gates()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        await gates.pause(call_id)
        return result(f"{call_id} {'saw it' if signal.aborted else 'saw nothing'}")

    after: list[bool] = []
    agent, heard, script = agent_with(
        call("t1"),
        call("t2"),
        execute=work,
        after_tool_call=lambda context, signal: after.append(signal.aborted),
    )
    agent.steer(user("one"))
    agent.steer(user("two"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t1")
        agent.abort()
        await trio.testing.wait_all_tasks_blocked()
        assert gates.standing == ["t2"]
        await gates.let_go("t2")
    check(heard.events)
    assert result_texts(agent) == ["t1 saw nothing", "t2 saw it"]
    assert after == [False, True]
    # S-11, as Pi: the loop goes on to a request that is aborted, with the next steering message in it.
    assert script.requests[1].said[-1] == "user: two"
    assert script.requests[1].options.signal.aborted
    assert agent.messages[-1].stop_reason == "aborted"  # type: ignore[union-attr]


async def test_it_stops_calls_that_are_not_launched_yet() -> None:
    """One that aborts in its own first stretch stops the later ones, and not itself."""
    executed: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        executed.append(call_id)
        if call_id == "t2":
            agent.abort()
        await trio.lowlevel.checkpoint()
        return result(f"{call_id} worked")

    agent, heard, _ = agent_with(*(call(f"t{number}") for number in (1, 2, 3, 4)), execute=work)
    await agent.prompt("go")
    check(heard.events)
    assert executed == ["t1", "t2"]
    assert result_texts(agent) == ["t1 worked", "t2 worked", "Operation aborted", "Operation aborted"]


async def test_an_abort_while_calls_are_prepared() -> None:
    """An abort while before_tool_call of t2 is open."""
    gates = Gates()
    asked: list[str] = []

    async def before(context: Any, signal: AbortSignal) -> None:
        asked.append(context.tool_call.id)
        if context.tool_call.id == "t2":
            await gates.pause("hook")

    agent, heard, _ = agent_with(
        call("t1"), call("t2"), call("t3", "unknown"), execute=lambda *args: result(), before_tool_call=before
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        agent.abort()
        await gates.let_go("hook")
    begin = heard.briefs.index("tool_execution_start t1")
    assert heard.briefs[begin : begin + 6] == [
        "tool_execution_start t1", "tool_execution_start t2", "tool_execution_end t2 !",
        "tool_execution_start t3", "tool_execution_end t3 !", "tool_execution_end t1 !",
    ]  # fmt: skip
    assert result_texts(agent) == ["Operation aborted"] * 3
    assert asked == ["t1", "t2"]
    check(heard.events)


async def test_an_abort_wins_over_a_block() -> None:
    def before(context: Any, signal: AbortSignal) -> BeforeToolCallResult:
        agent.abort()
        return BeforeToolCallResult(block=True, reason="blocked")

    agent, _, _ = agent_with(call("t1"), execute=print, before_tool_call=before)
    await agent.prompt("go")
    assert result_texts(agent) == ["Operation aborted"]


async def test_an_abort_in_a_sequential_batch_answers_every_call() -> None:
    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        agent.abort()
        return result("worked")

    agent, heard, _ = agent_with(
        call("t1"), call("t2"), call("t3"), execute=work, tool_execution="sequential"
    )
    await agent.prompt("go")
    check(heard.events, sequential=True)
    assert result_texts(agent) == ["worked", "Operation aborted", "Operation aborted"]
    assert [event.duration_ms is None for event in heard.of(ToolExecutionEnd)] == [False, True, True]


async def test_at_the_first_event_nothing_is_executed_and_the_model_is_asked() -> None:
    executed: list[str] = []
    agent, heard, script = agent_with(call("t1"), execute=lambda call_id, *args: executed.append(call_id))
    at(agent, "tool_execution_start t1", agent.abort)
    outcome = await agent.prompt("go")
    check(heard.events)
    assert executed == []
    assert len(script.requests) == 2
    assert outcome.stop_reason == "aborted"


@pytest.mark.parametrize("where", ["scope", "wait", "on_abort"])
async def test_a_tool_may_listen_to_it_in_three_ways(where: str) -> None:
    log: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if where == "scope":
            with signal.scope() as scope:
                await trio.sleep_forever()
            assert scope.cancelled_caught
        elif where == "wait":
            await signal.wait()
        else:
            event = trio.Event()
            signal.on_abort(event.set)
            await event.wait()
        log.append(call_id)
        return result("told")

    agent, heard, _ = agent_with(call("t1"), call("t2"), execute=work)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        agent.abort()
    assert sorted(log) == ["t1", "t2"]
    check(heard.events)


async def test_an_abort_from_any_event_obeys_the_grammar() -> None:
    for mode in ("parallel", "sequential"):
        for deaf in (False, True):
            index = 0
            while True:
                show = Show(tool_execution=mode, deaf=deaf)  # type: ignore[arg-type]
                aborted: list[str] = []

                def listener(
                    event: AgentEvent,
                    signal: AbortSignal,
                    show: Any = show,
                    index: int = index,
                    aborted: list[str] = aborted,
                ) -> None:
                    if len(show.first.events) > index and not aborted:
                        aborted.append(brief(event))
                        show.agent.abort()

                show.agent.subscribe(listener)
                with told(mode=mode, deaf=deaf, index=index):
                    outcome = await show.agent.prompt("go")
                    show.whole(sequential=mode == "sequential")
                    assert outcome.errors == ()
                if not aborted:
                    break
                index += 3
            assert index > 50


async def test_another_thread_cannot_abort_but_may_queue() -> None:
    """It would not wake trio. Through trio it can."""
    refused: list[BaseException] = []
    token = trio.lowlevel.current_trio_token()

    def foreign() -> None:
        agent.steer("and this")
        agent.follow_up("then that")
        try:
            agent.abort()
        except RuntimeError as error:
            refused.append(error)
        trio.from_thread.run_sync(agent.abort, trio_token=token)

    async def work(*args: Any) -> Any:
        await trio.to_thread.run_sync(foreign)
        await trio.sleep_forever()

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    with trio.fail_after(60):
        outcome = await agent.prompt("go")
    assert outcome.stop_reason == "aborted"
    assert [str(error) for error in refused] == [
        "another thread cannot abort a run: trio.from_thread.run_sync(agent.abort)"
    ]
    assert agent.has_queued_messages()
