"""The stepper: nothing happens until it is told to, and then everything until the program rests."""

from __future__ import annotations

import math
import threading
from typing import assert_type

import pytest
import trio

from pi_trio import Agent, RunResult
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.testing import (
    HELD,
    Recorder,
    ScriptedModel,
    ScriptedTool,
    Stepper,
    StepperError,
    assistant,
    tool_call,
)
from pi_trio.testing import stepper as stepper_module
from pi_trio.tools.decorated import tool

from .machines import free

# --- steps --------------------------------------------------------------------------------------------------


def test_nothing_happens_until_a_step():
    steps: list[int] = []

    async def work() -> str:
        for number in range(3):
            steps.append(number)
            await trio.lowlevel.checkpoint()
        return "done"

    with Stepper() as stepper:
        run = stepper.start(work)
        assert steps == []
        for number in range(3):
            assert not run.done
            assert stepper.step()
            assert steps == [*range(number + 1)]
        assert stepper.step()
        assert run.done
        assert run.result() == "done"
        assert not stepper.step()
        assert not stepper.step()
    free()


def test_settling_goes_until_everything_waits():
    async def work(event: trio.Event, log: list[str]) -> None:
        for _ in range(100):
            await trio.lowlevel.checkpoint()
        log.append("waits")
        await event.wait()
        log.append("goes on")

    with Stepper() as stepper:
        event, log = trio.Event(), list[str]()
        stepper.start(work, event, log)
        stepper.settle()
        assert log == ["waits"]
        stepper.settle()
        event.set()
        assert log == ["waits"]
        stepper.settle()
        assert log == ["waits", "goes on"]


def test_a_program_that_does_not_rest_is_told_of(monkeypatch):
    monkeypatch.setattr(stepper_module, "MOST_PASSES", 100)

    async def spin() -> None:
        while True:
            await trio.lowlevel.checkpoint()

    with Stepper() as stepper:
        stepper.start(spin)
        with pytest.raises(StepperError, match=r"does not rest: .*spin"):
            stepper.settle()
    free()


def test_results_are_typed() -> None:
    with Stepper() as stepper:
        run = stepper.start(Agent(stream_fn=ScriptedModel("Hi")).prompt, "Hello")
        stepper.settle()
        assert_type(run.result(), RunResult)
        assert_type(stepper.step(), bool)
        assert run.result().text == "Hi"


def test_a_run_is_played_by_hand():
    model = ScriptedModel(HELD)
    search = ScriptedTool("search", HELD)
    agent = Agent(stream_fn=model, tools=[search])
    with Stepper() as stepper:
        recorder = Recorder(agent, states=True)
        run = stepper.start(agent.prompt, "Go!")
        stepper.settle()
        model.pending[0].answer(tool_call("search", id="a"), tool_call("search", id="b"))
        stepper.settle()
        assert agent.state.pending_tool_calls == ("a", "b")
        search.pending[1].answer("second")
        stepper.settle()
        search.pending[0].update("half")
        stepper.settle()
        assert agent.state.pending_tool_calls == ("a",)
        agent.steer("Hurry!")
        search.pending[0].answer("first")
        stepper.settle()
        assert model.pending[0].messages[-1].role == "user"
        model.pending[0].answer("Done.")
        stepper.settle()
        assert run.result().text == "Done."
    assert [
        line for line in recorder.lines if line.startswith("tool_execution_") and "start" not in line
    ] == [
        "tool_execution_end search: second",
        "tool_execution_update search: half",
        "tool_execution_end search: first",
    ]


def test_the_order_of_tasks_can_be_fixed():
    order: list[int] = []

    async def note(number: int) -> None:
        for _ in range(3):
            order.append(number)
            await trio.lowlevel.checkpoint()

    with first_in_first_out(), Stepper() as stepper:
        for number in range(8):
            stepper.start(note, number)
        stepper.settle()
    assert order == [*range(8)] * 3


# --- time ---------------------------------------------------------------------------------------------------


def test_time_passes_by_advancing_alone():
    times: list[float] = []

    async def tick() -> None:
        for seconds in (1, 2.5, 0.25):
            await trio.sleep(seconds)
            times.append(trio.current_time())

    with Stepper() as stepper:
        stepper.start(tick)
        stepper.settle()
        assert (stepper.time, times) == (0, [])
        stepper.advance(0.75)
        assert (stepper.time, times) == (0.75, [])
        stepper.advance(0.25)
        assert times == [1]
        stepper.advance(100)
        assert times == [1, 3.5, 3.75]
        assert stepper.time == 101
        stepper.advance(0)
        with pytest.raises(ValueError, match="-1"):
            stepper.advance(-1)


def test_a_deadline_that_has_come_is_no_rest():
    async def work() -> str:
        with trio.move_on_at(trio.current_time()):
            await trio.sleep_forever()
        return "on"

    with Stepper() as stepper:
        run = stepper.start(work)
        stepper.settle()
        assert run.result() == "on"


def test_deadlines_of_a_run():
    """A tool that takes too long, with a timeout of its own."""

    async def slow(call) -> str:
        with trio.fail_after(10):
            await trio.sleep(20)
        return "late"

    agent = Agent(stream_fn=ScriptedModel([tool_call("work"), "Done."]), tools=[ScriptedTool("work", slow)])
    with Stepper() as stepper:
        run = stepper.start(agent.prompt, "Go!")
        stepper.advance(9)
        assert not run.done
        stepper.advance(1)
        assert run.result().text == "Done."


# --- threads ------------------------------------------------------------------------------------------------


def test_plain_functions_that_are_tools_are_waited_for():
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    model = ScriptedModel(
        [assistant(tool_call("add", {"a": 1, "b": 2}), tool_call("add", {"a": 3, "b": 4})), "Done."]
    )
    with Stepper() as stepper:
        run = stepper.start(Agent(stream_fn=model, tools=[add]).prompt, "Go!")
        stepper.settle()
        assert [line.content[0].text for line in run.result().messages[2:4]] == ["3", "7"]
    free()


def test_so_are_those_with_a_limiter_of_their_own():
    gate = threading.Event()

    class Opening(Stepper):
        def step(self) -> bool:
            ran = super().step()
            if not ran:  # but for the thread, everything rests
                gate.set()
            return ran

    @tool(limiter=trio.CapacityLimiter(1))
    def work() -> str:
        """Work."""
        gate.wait()
        return "done"

    agent = Agent(stream_fn=ScriptedModel([tool_call("work"), "Done."]), tools=[work])
    with Opening() as stepper:
        run = stepper.start(agent.prompt, "Go!")
        stepper.settle()
        assert run.result().text == "Done."
    free()


def test_a_test_can_hold_a_thread():
    gate = threading.Event()

    async def work() -> str:
        return "opened" if await trio.to_thread.run_sync(gate.wait) else ""

    with Stepper() as stepper:
        run = stepper.start(work)
        stepper.settle(threads=False)
        assert not run.done
        gate.set()
        stepper.settle()
        assert run.result() == "opened"


def test_leaving_waits_for_threads(monkeypatch):
    monkeypatch.setattr(stepper_module, "PATIENCE", 0)
    entered, gate = threading.Event(), threading.Event()

    def work() -> None:
        entered.set()
        gate.wait()

    with Stepper() as stepper:
        stepper.start(trio.to_thread.run_sync, work)
        stepper.settle(threads=False)
        entered.wait()
        threading.Timer(0.01, gate.set).start()
    assert gate.is_set()
    free()


@pytest.mark.parametrize(
    "act", [Stepper.step, Stepper.settle, Stepper.close, lambda stepper: stepper.advance(1)]
)
def test_the_program_cannot_step_itself(act):
    async def inside() -> None:
        act(stepper)

    async def in_a_thread() -> None:
        await trio.to_thread.run_sync(act, stepper)

    with Stepper() as stepper:
        runs = [stepper.start(inside), stepper.start(in_a_thread)]
        stepper.settle()
        for run in runs:
            with pytest.raises(StepperError, match=r"^the program cannot step itself$"):
                run.result()
    free()


@pytest.mark.parametrize("seconds", [math.inf, math.nan, -1])
def test_time_passes_by_a_number_of_seconds(seconds):
    with Stepper() as stepper:
        with pytest.raises(ValueError, match="a number of seconds, not"):
            stepper.advance(seconds)
        assert stepper.time == 0
        stepper.advance(1)


@pytest.mark.parametrize(
    "act", [Stepper.step, Stepper.settle, Stepper.close, lambda stepper: stepper.advance(1)]
)
def test_another_thread_cannot_step_the_program(act):
    refused: list[StepperError] = []

    def foreign() -> None:
        try:
            act(stepper)
        except StepperError as error:
            refused.append(error)

    with Stepper() as stepper:
        thread = threading.Thread(target=foreign)
        thread.start()
        thread.join()
    assert [str(error) for error in refused] == ["a stepper is for the thread that has made it"]


@pytest.mark.parametrize("pause", [1e-300, 1e-9])
def test_time_that_does_not_get_on(monkeypatch, pause):
    monkeypatch.setattr(stepper_module, "MOST_DEADLINES", 100)

    async def restless() -> None:
        while True:  # noqa: ASYNC110  (as badly written programs do)
            await trio.sleep(pause)

    with Stepper() as stepper:
        stepper.start(restless)
        with pytest.raises(StepperError, match=r"^time does not get on for all its deadlines: .*restless$"):
            stepper.advance(1)


def test_many_deadlines_are_not_too_many(monkeypatch):
    monkeypatch.setattr(stepper_module, "MOST_DEADLINES", 100)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await trio.sleep(0.0001)
            ticks += 1

    with Stepper() as stepper:
        stepper.start(tick)
        stepper.advance(1)
    assert ticks > 9000
