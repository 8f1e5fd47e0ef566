"""Plain functions as tools: they run in worker threads, and whoever waits for them waits in trio."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController
from pi_trio.messages import ToolResult
from pi_trio.tools.context import ToolAbortedError, ToolContext
from pi_trio.tools.decorated import tool
from pi_trio.tools.threads import current_tool_thread_limiter

from .executing import execute, say

WHERE: contextvars.ContextVar[str] = contextvars.ContextVar("where")


class Place:
    """Where a thread says that it has come, and waits to be let on."""

    def __init__(self) -> None:
        self._came = threading.Semaphore(0)
        self._on = threading.Event()

    def stand(self) -> None:
        self._came.release()
        assert self._on.wait(60)

    async def reached(self) -> None:
        """Return when a thread has come."""
        assert await trio.to_thread.run_sync(self._came.acquire, True, 60)

    def let_on(self) -> None:
        self._on.set()


async def start(nursery: trio.Nursery, place: Place, function: Callable[[], Any]) -> None:
    nursery.start_soon(function)
    await place.reached()


async def test_it_runs_in_a_thread_with_the_context_of_its_call():
    @tool
    def where() -> str:
        """Say where."""
        return f"{threading.current_thread().name} {WHERE.get()}"

    home = threading.get_ident()
    WHERE.set("here")
    assert await say(where) == "tool where here"
    assert where() != "tool where here"  # called as a function it runs where it is called
    assert threading.get_ident() == home


@pytest.mark.parametrize("error", [LookupError("no such row"), KeyboardInterrupt()])
async def test_what_it_raises(error):
    @tool
    def broken() -> str:
        raise error

    with pytest.raises(type(error)) as caught:
        await execute(broken)
    assert caught.value is error


async def test_it_reports_in_the_task_of_its_call():
    heard: list[tuple[trio.lowlevel.Task, Any]] = []

    def hear(partial: ToolResult) -> None:
        heard.append((trio.lowlevel.current_task(), partial.content[0].text))  # type: ignore[index, union-attr]

    @tool
    def work(context: ToolContext) -> str:
        for step in "abc":
            context.update(step)
        trio.from_thread.run(context.progress, "d")
        return "done"

    await execute(work, on_update=hear)
    assert heard == [(trio.lowlevel.current_task(), step) for step in "abcd"]


async def test_what_a_listener_raises_reaches_the_function():
    def refuse(partial: ToolResult) -> None:
        raise ValueError("not now")

    @tool
    def work(context: ToolContext) -> str:
        with pytest.raises(ValueError, match="not now"):
            context.update("half")
        return "done"

    assert await say(work, on_update=refuse) == "done"


# --- cancelling -------------------------------------------------------------------------------------------


async def test_a_cancelled_call_waits_for_its_thread_which_keeps_its_answer():
    place = Place()

    @tool
    def work() -> str:
        place.stand()
        return "done"

    answers: list[str] = []

    async def call() -> None:
        answers.append(await say(work))

    async with trio.open_nursery() as nursery:
        await start(nursery, place, call)
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.testing.wait_all_tasks_blocked()
        assert answers == []
        place.let_on()
    assert answers == ["done"]


async def test_a_thread_may_notice_that_its_call_is_cancelled():
    place = Place()

    @tool
    def work(context: ToolContext) -> str:
        context.check()
        place.stand()
        context.check()
        raise AssertionError("it is cancelled")

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            await start(nursery, place, lambda: execute(work))
            scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.testing.wait_all_tasks_blocked()
            place.let_on()
    assert scope.cancelled_caught


async def test_a_kept_context_is_not_that_of_the_next_call_in_its_thread():
    kept: list[ToolContext[Any]] = []
    threads: list[int] = []

    @tool
    def first(context: ToolContext) -> None:
        kept.append(context)
        threads.append(threading.get_ident())

    @tool
    def second() -> None:
        trio.from_thread.run_sync(scope.cancel)
        kept[0].check()  # that call was not cancelled
        threads.append(threading.get_ident())

    await execute(first)
    with trio.CancelScope() as scope:
        await execute(second)
    assert len(threads) == 2
    assert len({*threads}) == 1


async def test_a_thread_may_notice_an_abort():
    place = Place()
    controller = AbortController()

    @tool
    def work(context: ToolContext) -> str:
        place.stand()
        assert context.signal.aborted
        context.check()
        raise AssertionError("it is aborted")

    async def call() -> None:
        with pytest.raises(ToolAbortedError):
            await execute(work, signal=controller.signal)

    async with trio.open_nursery() as nursery:
        await start(nursery, place, call)
        controller.abort()
        place.let_on()


async def test_an_abandoned_thread_goes_on_and_reaches_nobody():
    place = Place()
    after: queue.SimpleQueue[str] = queue.SimpleQueue()
    heard: list[ToolResult] = []
    limiter = trio.CapacityLimiter(1)

    @tool(abandon_on_cancel=True, limiter=limiter)
    def work(context: ToolContext) -> str:
        context.update("half")
        place.stand()
        context.update("late")
        try:
            context.check()
        except trio.Cancelled:
            after.put("noticed")
        return "lost"

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            await start(nursery, place, lambda: execute(work, on_update=heard.append))
            scope.cancel()
    assert scope.cancelled_caught
    assert len(heard) == 1
    assert limiter.borrowed_tokens == 1  # the thread still has its place
    place.let_on()
    assert await trio.to_thread.run_sync(after.get, True, 60) == "noticed"
    await limiter.acquire()
    assert len(heard) == 1


# --- limits -----------------------------------------------------------------------------------------------


async def test_a_limiter_of_its_own():
    limiter = trio.CapacityLimiter(1)
    place = Place()
    began: list[int] = []

    @tool(limiter=limiter)
    def work(n: int) -> str:
        began.append(n)
        place.stand()
        return "done"

    async with trio.open_nursery() as nursery:
        await start(nursery, place, lambda: execute(work, {"n": 1}))
        nursery.start_soon(lambda: execute(work, {"n": 2}))
        await trio.testing.wait_all_tasks_blocked()
        assert (began, limiter.statistics().tasks_waiting) == ([1], 1)
        place.let_on()
    assert began == [1, 2]


async def test_tools_share_a_limit_that_is_not_trios():
    place = Place()
    limiter = current_tool_thread_limiter()
    assert limiter is current_tool_thread_limiter()
    assert limiter is not trio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = 2

    @tool
    def one() -> str:
        place.stand()
        return "done"

    @tool
    def other() -> str:
        place.stand()
        return "done"

    async with trio.open_nursery() as nursery:
        await start(nursery, place, lambda: execute(one))
        await start(nursery, place, lambda: execute(other))
        nursery.start_soon(lambda: execute(one))
        await trio.testing.wait_all_tasks_blocked()
        assert (limiter.borrowed_tokens, limiter.statistics().tasks_waiting) == (2, 1)
        place.let_on()


async def test_waiting_for_a_place_can_be_cancelled():
    limiter = trio.CapacityLimiter(1)
    place = Place()

    @tool(limiter=limiter)
    def work() -> str:
        place.stand()
        return "done"

    async with trio.open_nursery() as nursery:
        await start(nursery, place, lambda: execute(work))
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as waiting:
                waiting.start_soon(lambda: execute(work))
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        assert scope.cancelled_caught
        place.let_on()
