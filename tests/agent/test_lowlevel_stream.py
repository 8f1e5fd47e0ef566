"""The loop without an agent, read as a stream: whoever leaves it aborts the run, and hears of every error once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.config import LoopConfig
from pi_trio.agent.hooks import AgentContext, Hooks
from pi_trio.agent.lowlevel import open_agent_loop, open_agent_loop_continue
from pi_trio.events import AgentEvent
from pi_trio.tools.tool import UpdateFn

from .grammar import check
from .looping import CONTEXT, config, texts
from .scripting import MODEL, Gates, Script, assistant, briefs, call, tool, user
from .show import told


async def test_a_stream_gives_all_events_and_then_the_messages() -> None:
    async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
        assert stream.messages is None
        heard = [event async for event in stream]
        assert stream.messages is not None
        assert check(heard) == list(stream.messages)
        assert [event async for event in stream] == []


async def test_a_continued_stream() -> None:
    async with open_agent_loop_continue(
        AgentContext(messages=(user("earlier"),)), config(assistant("hi"))
    ) as stream:
        heard = [event async for event in stream]
    check(heard)
    assert texts(stream.messages) == ["hi"]


async def test_prompts_may_be_any_iterable() -> None:
    async with open_agent_loop(
        iter([user("a"), user("b")]), AgentContext(messages=()), config(assistant("hi"))
    ) as stream:
        async for _ in stream:
            pass
    assert texts(stream.messages) == ["a", "b", "hi"]


async def test_reading_is_a_checkpoint() -> None:
    async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
        with trio.testing.assert_checkpoints():
            await anext(stream)
        async for _ in stream:
            pass


async def test_a_slow_reader_slows_the_run() -> None:
    """An event is said when the reader has taken the one before: the run is never more than one ahead."""
    script = Script(assistant("abcdef"))
    settings = LoopConfig(stream_fn=script, model=MODEL)
    async with open_agent_loop([user("go")], AgentContext(messages=()), settings) as stream:
        for _ in range(4):
            await anext(stream)
        await trio.testing.wait_all_tasks_blocked()
        assert len(script.requests) == 1
        left = len(script.playbacks[0].events)
        await trio.testing.wait_all_tasks_blocked()
        assert len(script.playbacks[0].events) == left
        await anext(stream)
        await trio.testing.wait_all_tasks_blocked()
        assert len(script.playbacks[0].events) == left - 1
        async for _ in stream:
            pass


async def test_leaving_early_aborts_and_comes_to_rest(autojump_clock: trio.testing.MockClock) -> None:
    """At every event; nothing is raised, no task is left, and no time passes."""
    for index in count():
        tasks = trio.lowlevel.current_statistics().tasks_living
        script = Script(assistant("hm", call("t1"), call("t2")), assistant("done"))
        heard: list[AgentEvent] = []
        with told(index=index):
            async with open_agent_loop(
                [user("go")], CONTEXT, LoopConfig(stream_fn=script, model=MODEL)
            ) as stream:
                for _ in range(index):
                    heard += [event] if (event := await anext(stream, None)) is not None else []
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            assert trio.current_time() == 0
            assert all(playback.left for playback in script.playbacks if playback.entered)
            check(heard, complete=False)
            if len(heard) < index:
                assert stream.messages is not None
                break
    assert index > 20


async def test_leaving_without_reading_anything() -> None:
    async with open_agent_loop([user("go")], CONTEXT, config()):
        pass
    async with open_agent_loop_continue(CONTEXT, config()):
        await trio.testing.wait_all_tasks_blocked()


async def test_leaving_early_is_no_failure_and_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        try:
            async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
                await anext(stream)
                await trio.testing.wait_all_tasks_blocked()
        except BaseException as error:
            pytest.fail(f"nothing is to be raised here: {error!r}")
    assert caplog.records == []


async def test_leaving_while_a_tool_runs_tells_it(autojump_clock: trio.testing.MockClock) -> None:
    log: list[str] = []

    async def listening(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        await signal.wait()
        log.append("told")

    context = AgentContext(messages=(), tools=(tool("work", listening),))
    script = config(assistant(call("t1")))
    async with open_agent_loop([user("go")], context, script, abort_mode="signal") as stream:
        async for event in stream:
            if event.type == "tool_execution_start":
                break
        await trio.testing.wait_all_tasks_blocked()
    assert log == ["told"]
    assert trio.current_time() == 0


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
async def test_an_error_of_the_reader_comes_out_bare(kind: Callable[[str], BaseException]) -> None:
    error = kind("mine")
    with pytest.raises(type(error)) as raised:
        async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
            async for event in stream:
                if event.type == "message_update":
                    raise error
    assert raised.value is error


async def failing_transform(messages: Any, signal: AbortSignal) -> Any:
    await trio.lowlevel.checkpoint()
    raise LookupError("transform")


async def test_an_error_of_the_run_is_raised_by_the_iteration_once() -> None:
    heard: list[AgentEvent] = []
    reached_the_end = False
    with pytest.raises(LookupError, match="transform"):
        async with open_agent_loop(
            [user("go")], CONTEXT, config(hooks=Hooks(transform_context=failing_transform))
        ) as stream:
            async for event in stream:
                heard.append(event)  # noqa: PERF401 - one by one, up to the error
    check(heard, complete=False)
    assert briefs(heard)[-1] == "message_end user"
    async with open_agent_loop(
        [user("go")], CONTEXT, config(hooks=Hooks(transform_context=failing_transform))
    ) as stream:
        with pytest.raises(LookupError):
            async for _ in stream:
                pass
        assert [event async for event in stream] == []
        reached_the_end = True
    assert reached_the_end
    assert stream.messages is None


async def test_an_error_that_nobody_has_read_is_raised_on_leaving() -> None:
    async def failing(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        raise KeyboardInterrupt("from a tool")

    context = AgentContext(messages=(user("declared"),), tools=(tool("work", failing),))
    with pytest.raises(KeyboardInterrupt) as raised:
        async with open_agent_loop([user("go")], context, config(assistant(call("t1")))) as stream:
            async for event in stream:
                if event.type == "tool_execution_start":
                    break
            await trio.testing.wait_all_tasks_blocked()
    assert type(raised.value) is KeyboardInterrupt


async def test_a_reader_that_fails_after_the_run_did_tells_of_both() -> None:
    """The run's error was first in time."""
    with pytest.raises((LookupError, ValueError)) as raised:
        async with open_agent_loop(
            [user("go")], CONTEXT, config(hooks=Hooks(transform_context=failing_transform))
        ) as stream:
            async for event in stream:
                if event.type == "message_end" and event.message.role == "user":
                    break
            await trio.testing.wait_all_tasks_blocked()
            raise ValueError("mine")
    told_of = [repr(raised.value), *getattr(raised.value, "__notes__", ())]
    if isinstance(raised.value.__context__, LookupError):
        told_of.append(repr(raised.value.__context__))
    assert any("transform" in one for one in told_of)


@pytest.mark.parametrize("reading", [False, True])
async def test_cancelled_from_outside_it_comes_to_rest_at_once(
    reading: bool, autojump_clock: trio.testing.MockClock
) -> None:
    """Nobody reads any more, so there is nothing to wait for; not even for the grace."""
    scope = trio.CancelScope()
    errors: list[BaseException] = []

    async def use() -> None:
        with scope:
            try:
                async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
                    for _ in range(3):
                        await anext(stream)
                    if not reading:
                        await trio.sleep_forever()
                    gates.standing.append("never")
                    async for _ in stream:
                        await gates.pause("reader")
            except BaseException as error:
                errors.append(error)
                raise

    gates = Gates()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(use)
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel()
    assert scope.cancelled_caught
    assert [type(error) for error in errors] == [trio.Cancelled]
    assert trio.current_time() == 0


async def test_a_tool_that_listens_to_nothing_gets_the_grace(autojump_clock: trio.testing.MockClock) -> None:
    async def stuck(*args: Any) -> Any:
        await trio.sleep_forever()

    context = AgentContext(messages=(), tools=(tool("work", stuck),))
    settings = config(assistant(call("t1")))
    async with open_agent_loop([user("go")], context, settings, abort_mode="signal") as stream:
        async for event in stream:
            if event.type == "tool_execution_start":
                break
        await trio.testing.wait_all_tasks_blocked()
    assert trio.current_time() == 5


async def test_two_streams_at_once() -> None:
    async with (
        open_agent_loop([user("one")], CONTEXT, config()) as first,
        open_agent_loop([user("two")], CONTEXT, config()) as second,
    ):
        heard: dict[str, list[AgentEvent]] = {"one": [], "two": []}
        for _ in range(5):
            heard["one"].append(await anext(first))
            heard["two"].append(await anext(second))
        heard["one"] += [event async for event in first]
        heard["two"] += [event async for event in second]
    assert [texts(check(events))[1] for events in heard.values()] == ["one", "two"]
