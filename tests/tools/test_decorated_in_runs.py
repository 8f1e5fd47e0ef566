"""Decorated functions in runs: deps, progress that waits for listeners, aborts and cancellations."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.call import run_tool_call
from pi_trio.agent.hooks import AgentContext
from pi_trio.events import ToolExecutionEnd
from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import FunctionTool, tool

from ..agent.scripting import Recorder, Script, assistant, at, call, results_of, text_of, user


@dataclass
class Prices:
    prices: dict[str, float]


@dataclass
class Offer:
    item: str
    price: float


@tool
async def offer(context: ToolContext[Prices], item: str) -> Offer:
    await context.progress(f"looking up {item}")
    return Offer(item, context.deps.prices[item])


def agent_with(*tools: FunctionTool[Callable[..., Any]], calls: Any = None, **options: Any) -> Agent:
    calls = calls or [call(f"t{n}", one.name) for n, one in enumerate(tools, start=1)]
    return Agent(stream_fn=Script(assistant(*calls)), tools=tools, **options)


# --- deps and results -------------------------------------------------------------------------------------


async def test_deps_and_structured_content():
    deps = Prices({"pear": 0.5})
    agent = agent_with(offer, calls=[call("t1", "offer", item="pear")], deps=deps)
    heard = Recorder(agent)
    await agent.prompt("How much?")
    (end,) = heard.of(ToolExecutionEnd)
    assert end.result.structured_content == {"item": "pear", "price": 0.5}
    assert text_of(end.result) == '{"item":"pear","price":0.5}'
    agent.deps = Prices({"pear": 2})
    agent.stream_fn = Script(assistant(call("t2", "offer", item="pear")))
    assert text_of(results_of((await agent.prompt("And now?")).messages)[0]) == '{"item":"pear","price":2}'


async def test_deps_of_one_call():
    context = AgentContext(messages=(user("go"),), tools=(offer,))
    outcome = await run_tool_call(
        call("t1", "offer", item="pear"),
        assistant_message=assistant("go"),
        context=context,
        deps=Prices({"pear": 3}),
    )
    assert outcome.result.structured_content == {"item": "pear", "price": 3}


async def test_failures_are_results_for_the_model():
    @tool
    def nothing() -> str:
        return None  # type: ignore[return-value]

    @tool
    async def effect() -> None: ...

    @tool
    async def grouped() -> str:
        async def fail() -> None:
            raise ValueError("in a nursery")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
        return "not reached"

    agent = agent_with(nothing, effect, grouped, offer)
    results = results_of((await agent.prompt("go")).messages)
    assert [(text_of(one).splitlines()[0], one.is_error) for one in results] == [
        ("Tool nothing returned nothing", True),  # D-12
        ("Done.", False),
        ("in a nursery", True),
        ('Validation failed for tool "offer":', True),
    ]


# --- progress ---------------------------------------------------------------------------------------------


async def test_progress_is_no_faster_than_a_listener():
    log: list[str] = []
    gate = trio.Event()

    @tool
    async def count(context: ToolContext) -> str:
        for n in range(2):
            await context.progress(str(n))
            log.append(f"went on after {n}")
        return "done"

    agent = agent_with(count)

    async def slow(event: Any, signal: AbortSignal) -> None:
        if event.type == "tool_execution_update":
            log.append(f"heard {text_of(event.partial_result)}")
            await gate.wait()

    agent.subscribe(slow)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        assert log == ["heard 0"]
        gate.set()
    assert log == ["heard 0", "went on after 0", "heard 1", "went on after 1"]


async def test_a_thread_reports_in_order():
    @tool
    def count(context: ToolContext) -> str:
        for n in range(5):
            context.update(str(n))
        return "done"

    agent = agent_with(count, count)
    heard = Recorder(agent)
    await agent.prompt("go")
    for call_id in ("t1", "t2"):
        updates = [one for one in heard.events if getattr(one, "tool_call_id", None) == call_id]
        assert [text_of(one.partial_result) for one in updates[1:-1]] == list("01234")  # type: ignore[union-attr]


async def test_a_listener_that_fails_at_progress_ends_the_tool():
    log: list[str] = []

    @tool
    async def work(context: ToolContext) -> str:
        try:
            await context.progress("half")
            await trio.sleep_forever()
        finally:
            log.append("left")
        return "not reached"

    agent = agent_with(work)

    def broken(event: Any, signal: AbortSignal) -> None:
        if event.type == "tool_execution_update":
            raise ValueError("broken listener")

    agent.subscribe(broken)
    answer = await agent.prompt("go")
    assert (answer.stop_reason, answer.error_message, log) == ("error", "broken listener", ["left"])


# --- aborts and cancellations -----------------------------------------------------------------------------


class Bench:
    """A thread that works until it may stop, looking up now and then if `checks`."""

    def __init__(self, *, checks: bool) -> None:
        self.may_stop = threading.Event()
        self.checks = checks

    @tool
    def work(self, context: ToolContext) -> str:
        """Work."""
        context.update("begun")
        while not self.may_stop.wait(0.001):
            if self.checks:
                context.check()
        return "worked"


async def play(bench: Bench, end: Callable[[Agent, trio.CancelScope], object], **options: Any) -> list[Any]:
    """Run the tool, end it at its first report, and give the messages of the transcript."""
    agent = agent_with(bench.work, **options)
    with trio.CancelScope() as scope:
        at(agent, "tool_execution_update t1", lambda: end(agent, scope))
        await agent.prompt("go")
    return results_of(agent.messages)


@pytest.mark.parametrize("abort_mode", ["cancel", "signal"])
async def test_a_thread_that_looks_up_ends_at_an_abort(abort_mode, caplog):
    caplog.set_level(logging.WARNING, "pi_trio")
    (answer,) = await play(Bench(checks=True), lambda agent, scope: agent.abort(), abort_mode=abort_mode)
    assert (text_of(answer), answer.is_error) == ("Operation aborted", True)
    assert caplog.records == []


async def test_a_thread_that_looks_up_ends_at_a_cancellation():
    (answer,) = await play(Bench(checks=True), lambda agent, scope: scope.cancel())
    assert (text_of(answer), answer.is_error) == ("Operation aborted", True)


@pytest.mark.parametrize("by", ["abort", "cancel"])
async def test_a_thread_that_does_not_look_up_is_waited_for_and_keeps_its_answer(by):
    bench = Bench(checks=False)

    def end(agent: Agent, scope: trio.CancelScope) -> None:
        agent.abort() if by == "abort" else scope.cancel()
        bench.may_stop.set()

    (answer,) = await play(bench, end)
    assert (text_of(answer), answer.is_error) == ("worked", False)
