"""How a low-level run begins: inside the call, under the caller's signal, and not at all when it is too late."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.agent.config import LoopConfig
from pi_trio.agent.hooks import AgentContext
from pi_trio.agent.lowlevel import (
    open_agent_loop,
    open_agent_loop_continue,
    run_agent_loop,
    run_agent_loop_continue,
    start_agent_loop,
    start_agent_loop_continue,
)
from pi_trio.errors import CannotContinueError
from pi_trio.events import AgentEvent

from .scripting import MODEL, Script, assistant, briefs, call, tool, user

ASKED = AgentContext(messages=(user("earlier"),))


def config(*answers: Any) -> LoopConfig:
    return LoopConfig(stream_fn=Script(*(answers or (assistant("hi"),))), model=MODEL)


class Heard:
    """A listener that keeps the events, and whether the signal was raised at each."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []
        self.aborted: list[bool] = []

    def __call__(self, event: AgentEvent, signal: AbortSignal) -> None:
        self.events.append(event)
        self.aborted.append(signal.aborted)


async def test_a_run_has_begun_when_the_call_returns() -> None:
    for start in (
        lambda heard: start_agent_loop([user("go")], ASKED, config(), heard),
        lambda heard: start_agent_loop_continue(ASKED, config(), heard),
    ):
        heard = Heard()
        run = start(heard)
        assert briefs(heard.events) == ["agent_start"]
        messages = await run.finish()
        assert briefs(heard.events)[-1] == "agent_end"
        assert messages[-1].role == "assistant"


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"abort_mode": "cancle"}, ValueError, "abort_mode is one of cancel, signal, not 'cancle'"),
        ({"grace": -1}, ValueError, "grace is a number of seconds from 0"),
        ({"grace": "5"}, TypeError, "grace is a number of seconds"),
    ],
)
async def test_with_what_makes_no_sense_nothing_is_begun(
    options: dict[str, Any], kind: type[Exception], says: str
) -> None:
    heard = Heard()
    with pytest.raises(kind, match=says):
        await run_agent_loop([user("go")], ASKED, config(), heard, **options)
    with pytest.raises(kind, match=says):
        await run_agent_loop_continue(ASKED, config(), heard, **options)
    with pytest.raises(kind, match=says):
        async with open_agent_loop([user("go")], ASKED, config(), **options):
            pass
    with pytest.raises(kind, match=says):
        async with open_agent_loop_continue(ASKED, config(), **options):
            pass
    assert heard.events == []


async def test_what_cannot_be_continued_is_not_begun() -> None:
    heard = Heard()
    with pytest.raises(CannotContinueError):
        start_agent_loop_continue(AgentContext(messages=()), config(), heard)
    assert heard.events == []


async def test_the_callers_signal_is_the_runs() -> None:
    controller = AbortController()

    def abort_at_the_answer(event: AgentEvent, signal: AbortSignal) -> None:
        heard(event, signal)
        if event.type == "message_update":
            controller.abort()

    heard = Heard()
    messages = await run_agent_loop(
        [user("go")], ASKED, config(), abort_at_the_answer, signal=controller.signal
    )
    assert messages[-1].stop_reason == "aborted"
    assert heard.aborted[-1]
    assert not heard.aborted[0]


async def test_a_signal_that_is_raised_already_is_raised_from_the_first_event_on() -> None:
    controller = AbortController()
    controller.abort()
    heard = Heard()
    messages = await run_agent_loop([user("go")], ASKED, config(), heard, signal=controller.signal)
    assert all(heard.aborted)
    assert messages[-1].stop_reason == "aborted"


async def test_a_signal_that_is_raised_behind_a_run_reaches_nobody() -> None:
    controller = AbortController()
    signals: set[AbortSignal] = set()
    await run_agent_loop(
        [user("go")], ASKED, config(), lambda event, signal: signals.add(signal), signal=controller.signal
    )
    controller.abort()
    (signal,) = signals
    assert not signal.aborted


async def test_cancelled_before_anything_has_begun_nothing_happens() -> None:
    heard = Heard()
    for play in (
        lambda: run_agent_loop([user("go")], ASKED, config(), heard),
        lambda: run_agent_loop_continue(ASKED, config(), heard),
    ):
        with trio.CancelScope() as scope:
            scope.cancel()
            await play()
        assert scope.cancelled_caught
    assert heard.events == []


async def test_the_grace_of_a_stream_can_be_chosen(autojump_clock: trio.testing.MockClock) -> None:
    async def stuck(*args: Any) -> Any:
        await trio.sleep_forever()

    context = AgentContext(messages=(), tools=(tool("work", stuck),))
    answers = config(assistant(call("t1")))
    async with open_agent_loop([user("go")], context, answers, abort_mode="signal", grace=2) as stream:
        async for event in stream:
            if event.type == "tool_execution_start":
                break
        await trio.testing.wait_all_tasks_blocked()
    assert trio.current_time() == 2
