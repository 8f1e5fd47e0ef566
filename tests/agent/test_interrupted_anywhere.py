"""Ctrl-C, the real one, at every line of a run and at random: KeyboardInterrupt comes out, and the run has its end."""

from __future__ import annotations

import os
import signal as signals
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, Final

import attrs
import pytest
import trio

import pi_trio.agent
from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.config import LoopConfig
from pi_trio.agent.hooks import AgentContext, Hooks
from pi_trio.agent.lowlevel import open_agent_loop, run_agent_loop
from pi_trio.events import AgentEvent
from pi_trio.happening import Happening

from .grammar import check
from .scripting import MODEL, Recorder, Script, assistant, call, result, tool, user, yielding

ROUNDS: Final = int(os.environ.get("PI_TRIO_INTERRUPTS", "80"))
"""How often each run is interrupted. It has about five thousand lines; two thousand rounds take a minute or so."""

#: Whoever is struck between making a coroutine and handing it over has made it in vain.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


async def work(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    await on_update(result("half")).wait()
    return result("done")


async def hook(*args: Any) -> None:
    await trio.lowlevel.checkpoint()


HOOKS: Final[Any] = {"before_tool_call": hook, "after_tool_call": hook, "prepare_request": hook}


def script() -> Script:
    return Script(assistant("let me see", call("t1"), call("t2")), deaf=True)


@attrs.define
class Round:
    """One run, struck once."""

    reduced: list[AgentEvent]
    heard: Recorder = attrs.field(factory=lambda: Recorder(pause=yielding))
    agent: Agent | None = None
    raised: list[BaseException] = attrs.field(factory=list)

    def _agent(self) -> Agent:
        agent = self.agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=script(), **HOOKS)
        agent.subscribe(self.heard)
        agent.steer("and this")
        return agent

    async def prompt(self) -> None:
        await self._agent().prompt("go")

    @trio.lowlevel.disable_ki_protection
    async def open_prompt(self) -> None:
        async with self._agent().open_prompt("go") as run:
            async for _ in run:
                await trio.lowlevel.checkpoint()

    async def prompt_in_a_child(self) -> None:
        """Here Ctrl-C may find the run's caller, or a task above it, whose nursery is cancelled then."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.prompt)
        except BaseExceptionGroup as group:
            (error,) = group.exceptions
            raise error from None

    async def low_level(self) -> None:
        await run_agent_loop([user("go")], CONTEXT, config(), self.heard)

    @trio.lowlevel.disable_ki_protection
    async def stream(self) -> None:
        async with open_agent_loop([user("go")], CONTEXT, config()) as stream:
            async for event in stream:
                self.heard.events.append(event)

    def verify(self) -> None:
        """Whatever was begun has ended, and the interrupt has come out, once and bare."""
        if self.agent is not None:
            assert not self.agent.state.is_streaming
            assert self.agent.signal is None
            if self.reduced:
                check(self.reduced)
        else:
            check(self.heard.events, complete=False)


CONTEXT: Final = AgentContext(messages=(), tools=(tool("work", work),))


def config() -> LoopConfig:
    return LoopConfig(stream_fn=script(), model=MODEL, hooks=Hooks(**HOOKS))


Run = Callable[[Round], Awaitable[None]]


def by_itself(one: Round, run: Run, begin: Callable[[], object], end: Callable[[], object]) -> None:
    """Run it in the main task, which is where Ctrl-C comes out that cannot come out at once."""

    @trio.lowlevel.enable_ki_protection
    async def main() -> None:
        tasks = trio.lowlevel.current_statistics().tasks_living
        try:
            begin()
            try:
                await run(one)
            except BaseException as error:
                one.raised.append(error)
            finally:
                end()
            for _ in range(3):  # one that came too late for the run is due now
                await trio.lowlevel.checkpoint()
        except KeyboardInterrupt as error:
            one.raised.append(error)
        assert trio.lowlevel.current_statistics().tasks_living == tasks

    trio.run(main)


class Line:
    """Strikes before the line number `number` of those that are run in this package's agent, or in its user's code.

    (Of the user's code only what has no `with` in it: a real signal cannot strike between the end of a block and the
    call of `__exit__`, where a line is counted.)
    """

    FOLDER: Final = str(Path(pi_trio.agent.__file__).parent)
    USERS: Final = frozenset(one.__code__ for one in (work, hook, yielding, Recorder.__call__))

    def __init__(self, number: int) -> None:
        self.left = number
        self.struck: str | None = None

    def begin(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._call)

    def end(self) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        return self._line if self._counts(code) else None

    def _counts(self, code: CodeType) -> bool:
        return code in self.USERS or code.co_filename.startswith(self.FOLDER)

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.struck = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                sys.settrace(None)
                signals.raise_signal(signals.SIGINT)
        return self._line


class WaitingLine(Line):
    """Strikes in what tasks wait in."""

    WAITS: Final = frozenset(
        one.__code__
        for one in (Happening.wait, trio.Event.wait, trio.lowlevel.ParkingLot.park, AbortSignal.wait)
    )

    def _counts(self, code: CodeType) -> bool:
        return code in self.WAITS


RUNS: Final = [Round.prompt, Round.prompt_in_a_child, Round.open_prompt, Round.low_level, Round.stream]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_at_any_line(run: Run, reduced: list[AgentEvent]) -> None:
    lines = Line(sys.maxsize)
    by_itself(Round(reduced), run, lines.begin, lines.end)
    total = sys.maxsize - lines.left
    assert total > 2000
    for number in range(1, total, max(1, total // ROUNDS)):
        reduced.clear()
        line, one = Line(number), Round(reduced)
        by_itself(one, run, line.begin, line.end)
        if line.struck is None and number > 0.9 * total:
            continue  # how often a reader has to wait is chance, and so is the number of lines
        try:
            assert line.struck is not None
            assert [type(error) for error in one.raised] == [KeyboardInterrupt]
            one.verify()
        except AssertionError as error:
            error.add_note(f"struck at {line.struck}, the line number {number}")
            raise


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_at_any_line_of_a_wait(run: Run, reduced: list[AgentEvent]) -> None:
    """Where a task that is struck must not stay among those that wait: it would be woken from something else."""
    for number in range(1, 2000, 3):
        reduced.clear()
        line, one = WaitingLine(number), Round(reduced)
        by_itself(one, run, line.begin, line.end)
        if line.struck is None:
            break
        assert [type(error) for error in one.raised] == [KeyboardInterrupt], line.struck
        one.verify()
    assert number > 3


@pytest.mark.skipif(not hasattr(signals, "setitimer"), reason="there is no timer that can strike")
def test_at_any_time(reduced: list[AgentEvent], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by a timer, so between any two instructions of anybody."""
    random = Random(20260101)
    struck = 0

    def strike(number: int, frame: FrameType | None) -> None:
        nonlocal struck
        struck += 1
        signals.raise_signal(signals.SIGINT)

    def disarm() -> None:
        signals.setitimer(signals.ITIMER_REAL, 0)

    swallowed: list[Any] = []
    # In a finaliser or the like, where Python cannot raise and says so.
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)

    before = signals.signal(signals.SIGALRM, strike)
    try:
        begun = time.perf_counter()
        by_itself(Round(reduced), Round.prompt, lambda: None, lambda: None)
        took = time.perf_counter() - begun
        hits = 0
        for number in range(ROUNDS):
            reduced.clear()
            swallowed.clear()
            one, struck = Round(reduced), 0
            after = max(1e-5, random.random() * took * random.choice([0.1, 1]))
            by_itself(one, Round.prompt, partial(signals.setitimer, signals.ITIMER_REAL, after), disarm)
            try:
                out = [*map(type, one.raised), *(lost.exc_type for lost in swallowed)]
                assert out == [KeyboardInterrupt] * struck
                one.verify()
            except AssertionError as error:
                error.add_note(f"in round {number}, after {after} s")
                raise
            hits += struck
    finally:
        disarm()
        signals.signal(signals.SIGALRM, before)
    assert hits > ROUNDS / 4
