"""Runs that are read while they happen: to the end, and left at every event in every way."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.result import RunFailedError
from pi_trio.errors import AgentBusyError, CannotContinueError
from pi_trio.events import AgentEvent
from pi_trio.messages import ToolResult

from .chat import EVENTS, chat, no_task_left, settled
from .scripting import MODEL, Script, assistant, brief, call, result, tool, user, yielding


@pytest.mark.parametrize(
    "error", [trio.EndOfChannel(), StopAsyncIteration(), trio.EndOfChannel("and so on")], ids=repr
)
@pytest.mark.parametrize("read", [True, False])
async def test_an_error_that_would_read_as_the_end_is_told_as_one(error: Exception, read: bool) -> None:
    def late(event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "agent_end":
            raise error

    agent, recorder = chat()
    agent.subscribe(late)
    with pytest.raises((RuntimeError, trio.EndOfChannel)) as raised:
        async with agent.open_prompt("go") as run:
            if read:
                async for _ in run:
                    pass
            else:
                while (await run.receive()).type != "agent_end":
                    pass
    if read:
        assert str(raised.value) == f"the run has failed with {error!r}"
        assert raised.value.__cause__ is error
    settled(agent, recorder)


@pytest.mark.parametrize("opens", ["open_prompt", "events", "open_continue"])
async def test_what_opens_a_block_opens_one(opens: str) -> None:
    agent, _ = chat(messages=["go"])
    opened = getattr(agent, opens)(*["go"][: opens == "open_prompt"])
    async with opened:
        pass
    with pytest.raises(RuntimeError, match=rf"entered before: call {opens}\(\) for each"):
        await opened.__aenter__()
    assert agent.signal is None


every_event = pytest.mark.parametrize("last", range(1, EVENTS + 1))


async def test_a_run_is_read_in_one_task() -> None:
    agent, recorder = chat()
    with no_task_left():
        async with agent.open_prompt("go") as run:
            read = [brief(event) async for event in run]
            assert not agent.state.is_streaming
            assert run.result.text == "all is well"
    assert len(read) == EVENTS
    assert sorted(read) == sorted(recorder.briefs)
    assert (read[:8], read[-6:]) == (
        recorder.briefs[:8],
        recorder.briefs[-6:],
    )  # calls may overtake each other
    assert run.result.messages == agent.messages[1:]  # without the system message
    assert run.result is run.result
    settled(agent, recorder)


async def test_the_reader_holds_the_run_up() -> None:
    agent, recorder = chat()
    async with agent.open_prompt("go") as run:
        for heard in range(1, EVENTS + 1):
            await trio.testing.wait_all_tasks_blocked()
            assert len(recorder.events) <= heard + 1  # two updates may be under way at once
            await run.__anext__()


async def test_one_run_after_the_other_in_one_block() -> None:
    agent, _ = chat()
    async with agent.open_prompt("go") as first:
        async for _event in first:
            pass
        again = await agent.prompt("and again")
    assert first.result.text == "all is well"
    assert again.text == "nothing more"


async def test_who_waited_for_idle_may_begin_the_next_run() -> None:
    """Nothing of it is told to the reader of the run before."""
    agent, _ = chat()
    results: list[Any] = []

    async def next_run() -> None:
        await agent.wait_for_idle()
        results.append(await agent.prompt("again"))

    async with trio.open_nursery() as nursery, agent.open_prompt("go") as run:
        nursery.start_soon(next_run)
        read = [brief(event) async for event in run]
    assert read.count("agent_start") == 1
    assert read[-1] == "agent_end"
    assert results[0].stop_reason == "stop"


async def test_waiting_for_idle_inside_the_block_would_wait_for_oneself() -> None:
    """D-11: the run waits for its reader."""
    agent, _ = chat()
    async with agent.open_prompt("go") as run:
        with pytest.raises(RuntimeError, match="would wait for itself"):
            await agent.wait_for_idle()
        async for _event in run:
            pass
        await agent.wait_for_idle()
    assert run.result.text == "all is well"


async def test_who_has_closed_the_stream_may_wait_for_idle() -> None:
    """Nobody waits for that reader any more."""
    agent, recorder = chat()
    async with agent.open_prompt("go") as run:
        await run.receive()
        await run.aclose()
        await agent.wait_for_idle()
        settled(agent, recorder)
        with pytest.raises(trio.ClosedResourceError):
            await run.receive()
    assert run.result.text == "all is well"


async def test_events_come_in_the_order_in_which_they_were_said() -> None:
    """Also those of calls that run side by side."""
    agent = Agent(
        model=MODEL,
        stream_fn=Script(assistant(*(call(f"t{number}") for number in range(8)))),
        tools=[
            tool("work", lambda _id, _args, _signal, on_update: on_update(result("half")) or result("done"))
        ],
    )
    async with agent.open_prompt("go") as run:
        read = [brief(event) async for event in run]
    updates = [words for words in read if words.startswith("tool_execution_update")]
    assert updates == [f"tool_execution_update t{number}" for number in range(8)]


async def test_several_may_read_one_run() -> None:
    agent, recorder = chat()
    read: list[str] = []

    async def follow(run: Any) -> None:
        async for event in run:
            read.append(brief(event))  # noqa: PERF401 (two of them do it at once)

    async with agent.open_prompt("go") as run, trio.open_nursery() as nursery:
        nursery.start_soon(follow, run)
        nursery.start_soon(follow, run)
    assert sorted(read) == sorted(recorder.briefs)


async def test_behind_the_block_there_is_nothing_to_read() -> None:
    agent, _ = chat()
    async with agent.open_prompt("go") as run:
        await run.receive()
    with pytest.raises(trio.ClosedResourceError):
        await run.receive()


async def test_continuing_can_be_read_too() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(assistant("well")), messages=[user("hello")])
    async with agent.open_continue() as run:
        kinds = [event.type async for event in run]
    assert kinds[0] == "agent_start"
    assert run.result.text == "well"
    with pytest.raises(CannotContinueError):
        async with agent.open_continue():
            pytest.fail("entered")


async def test_a_second_run_is_refused_on_entering() -> None:
    agent, recorder = chat()
    async with agent.open_prompt("go") as run:
        with pytest.raises(AgentBusyError):
            async with agent.open_prompt("no"):
                pytest.fail("entered")
        async for _ in run:
            pass
    settled(agent, recorder)
    await agent.prompt("again")  # whoever was refused listens no more


async def test_the_result_is_not_there_before_the_end() -> None:
    agent, _ = chat()
    async with agent.open_prompt("go") as run:
        with pytest.raises(RuntimeError, match="goes on"):
            _ = run.result
    assert run.result.stop_reason == "aborted"


# Leaving early.


@every_event
async def test_a_reader_may_leave_at_any_event(last: int) -> None:
    agent, recorder = chat()
    with no_task_left():
        async with agent.open_prompt("go") as run:
            for _ in range(last):
                await run.__anext__()
    settled(agent, recorder)
    assert run.result.stop_reason in ("stop", "aborted")
    assert (await agent.prompt("again")).stop_reason == "stop"


async def test_who_read_the_last_event_has_not_left_early() -> None:
    """Also if others are still busy with it."""
    agent, recorder = chat()

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_end":
            await trio.testing.wait_all_tasks_blocked()
            aborted.append(signal.aborted)

    aborted: list[bool] = []
    async with agent.open_prompt("go") as run:
        agent.subscribe(slow)
        async for event in run:
            if event.type == "agent_end":
                break
    assert aborted == [False]
    assert run.result.stop_reason == "stop"
    settled(agent, recorder)


@every_event
async def test_an_error_of_the_reader_comes_out_as_it_is(last: int) -> None:
    agent, recorder = chat()
    with no_task_left(), pytest.raises(KeyError, match="mine"):
        async with agent.open_prompt("go") as run:
            for _ in range(last):
                await run.__anext__()
            raise KeyError("mine")
    settled(agent, recorder)


@every_event
async def test_the_scope_around_may_be_cancelled_at_any_event(last: int) -> None:
    agent, recorder = chat()
    with no_task_left():
        with trio.CancelScope() as scope:
            async with agent.open_prompt("go") as run:
                for _ in range(last):
                    await run.__anext__()
                scope.cancel()
                async for _ in run:
                    pass
                pytest.fail("not cancelled")
        assert scope.cancelled_caught
    settled(agent, recorder)
    assert run.result.stop_reason in ("stop", "aborted")


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("last", [1, EVENTS // 2, EVENTS - 1])
async def test_what_the_block_raises_goes_before_a_cancellation(error: BaseException, last: int) -> None:
    """As in any nursery: `finally` clauses and Ctrl-C are not lost when a deadline strikes meanwhile."""
    agent, recorder = chat()
    with pytest.raises(type(error)) as caught, trio.CancelScope() as scope:
        async with agent.open_prompt("go") as run:
            for _ in range(last):
                await run.receive()
            scope.cancel()
            raise error
    assert caught.value is error
    settled(agent, recorder)


@every_event
async def test_a_tool_that_raises_disturbs_nobody_who_leaves(last: int) -> None:
    async def broken(*_: Any) -> ToolResult:
        await yielding("")
        raise OSError("no such thing")

    agent, recorder = chat(broken)
    with no_task_left():
        async with agent.open_prompt("go") as run:
            read = [brief(event) async for event, _ in zip_async(run, range(last))]
    assert len(read) <= last
    settled(agent, recorder)


async def zip_async(events: Any, numbers: range) -> Any:
    for number in numbers:
        try:
            yield await events.__anext__(), number
        except StopAsyncIteration:
            return


async def test_nothing_begins_in_a_scope_that_is_cancelled_already() -> None:
    agent, recorder = chat()
    with trio.CancelScope() as scope:
        scope.cancel()
        async with agent.open_prompt("go"):
            pytest.fail("entered")
    assert recorder.events == []
    assert (await agent.prompt("go")).text == "all is well"


async def test_a_listener_that_never_comes_back_costs_the_grace(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent, _ = chat(settle_grace=3)

    async def stuck(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "tool_execution_end":
            await trio.sleep_forever()

    agent.subscribe(stuck)
    async with agent.open_prompt("go") as run:
        async for event in run:
            if event.type == "tool_execution_start":
                break
        left = trio.current_time()
    assert trio.current_time() - left == pytest.approx(3)
    assert not agent.state.is_streaming
    assert run.result.stop_reason == "aborted"


# Failures.


async def test_a_failed_run_ends_like_any_other() -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("no model today")

    agent = Agent(model=MODEL, stream_fn=broken)
    async with agent.open_prompt("go") as run:
        kinds = [event.type async for event in run]
    assert kinds[-1] == "agent_end"
    with pytest.raises(RunFailedError, match="no model today"):
        run.result.raise_for_error()


@pytest.mark.parametrize("read", [True, False])
async def test_what_the_transcript_cannot_tell_is_raised_at_the_end(read: bool) -> None:
    agent, recorder = chat()

    def late(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_end":
            raise ValueError("too late")

    agent.subscribe(late)
    seen: list[AgentEvent] = []
    with pytest.raises(ValueError, match="too late"):
        async with agent.open_prompt("go") as run:
            async for event in run:
                seen.append(event)
                if event.type == "agent_end" and not read:
                    break
            assert not read
    assert len(seen) == EVENTS
    assert run.result.text == "all is well"
    settled(agent, recorder)


async def test_the_error_of_the_reader_wins_and_notes_the_other() -> None:
    agent, _ = chat()

    def late(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_end":
            raise ValueError("too late")

    agent.subscribe(late)
    with pytest.raises(KeyError) as caught:
        async with agent.open_prompt("go") as run:
            async for event in run:
                if event.type == "agent_end":
                    raise KeyError("mine")
    assert "too late" in caught.value.__notes__[0]


async def test_an_interrupt_in_the_run_ends_the_block() -> None:
    def struck(*_: Any) -> ToolResult:
        raise KeyboardInterrupt

    agent, recorder = chat(struck)
    with pytest.raises(KeyboardInterrupt):
        async with agent.open_prompt("go") as run:
            async for _ in run:
                pass
            await trio.sleep_forever()
    settled(agent, recorder)


async def test_an_interrupt_goes_before_what_the_block_raises_meanwhile_and_notes_it() -> None:
    def struck(*_: Any) -> ToolResult:
        raise KeyboardInterrupt

    agent, recorder = chat(struck)
    with pytest.raises(KeyboardInterrupt) as caught:
        async with agent.open_prompt("go") as run:
            try:
                async for _ in run:
                    pass
                await trio.sleep_forever()
            finally:
                raise RuntimeError("no way to clean up")
    assert caught.value.__notes__ == ["the block had failed, too: RuntimeError('no way to clean up')"]
    settled(agent, recorder)
