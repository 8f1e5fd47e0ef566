"""Cancelling the scope around `prompt()`: an abort, a settlement within the grace, and Cancelled; whenever it comes."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent
from pi_trio.tools.tool import ExecutionMode

from .grammar import check
from .scripting import (
    MODEL,
    Gates,
    Recorder,
    Script,
    answers_of,
    assistant,
    brief,
    call,
    opening_all,
    result,
    results_of,
    text_of,
    tool,
)
from .show import Saboteur, Show, told

MODES: tuple[ExecutionMode, ...] = ("parallel", "sequential")


def settled(show: Show, reduced: list[AgentEvent], *, sequential: bool) -> None:
    """The run has ended in the state, and what was heard is how it began."""
    check(reduced, sequential=sequential)
    heard = show.first.events
    assert all(one is other for one, other in zip(heard, reduced, strict=False))
    assert len(heard) <= len(reduced)
    said = [message for message in show.agent.messages if message.role != "system"]
    assert said == list(reduced[-1].messages)  # type: ignore[union-attr]
    show.idle()
    show.unlost()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("deaf", [False, True])
async def test_cancelled_from_any_event(
    mode: ExecutionMode, deaf: bool, reduced: list[AgentEvent], autojump_clock: trio.testing.MockClock
) -> None:
    """Nothing waits for long here, so the run settles in no time, and everybody hears all of it."""
    for index in count():
        show = Show(tool_execution=mode, deaf=deaf)
        scope = trio.CancelScope()
        show.agent.subscribe(canceller(show, index, scope))
        other = Recorder(show.agent)
        reduced.clear()
        with told(index=index):
            tasks, begun = trio.lowlevel.current_statistics().tasks_living, trio.current_time()
            with scope:
                await show.agent.prompt("go")
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            assert trio.current_time() == begun
            settled(show, reduced, sequential=mode == "sequential")
            assert show.first.events == reduced
            assert len(other.events) == len(reduced)
            if not scope.cancel_called:
                break
            assert scope.cancelled_caught
            await show.works_again()
    assert index > 60


def canceller(show: Show, index: int, scope: trio.CancelScope) -> Any:
    """A listener that cancels a scope at the event number `index`."""

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        # Deliveries of updates overlap, so this one may be behind what the recorder has heard.
        if len(show.first.events) > index and not scope.cancel_called:
            scope.cancel()
            assert not signal.aborted  # the abort comes when the cancellation is felt

    return listener


def gated(gates: Gates, **options: Any) -> Show:
    show = Show(pause=gates.pause, **options)

    async def pause(place: str) -> None:
        await show.pause(place)

    show.agent.subscribe(Recorder(pause=pause))
    return show


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gates_open", [True, False])
@pytest.mark.parametrize("deaf", [False, True])
async def test_cancelled_at_any_standstill(
    mode: ExecutionMode,
    gates_open: bool,
    deaf: bool,
    reduced: list[AgentEvent],
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Everything that a run waits for stands at a gate; the cancellation comes when nothing moves.

    If the gates open afterwards the run settles in no time; if they stay shut, when the grace is over.
    """
    late: list[int] = []
    texts: set[str | None] = set()
    for index in count(int(deaf), 2 if gates_open else 5):
        gates = Gates()
        show = gated(gates, tool_execution=mode, deaf=deaf, settle_grace=3)
        reduced.clear()
        cancelled_at: float | None = None
        scope = trio.CancelScope()
        tasks = trio.lowlevel.current_statistics().tasks_living
        outcomes: list[Any] = []

        async def run(
            show: Show = show, scope: trio.CancelScope = scope, outcomes: list[Any] = outcomes
        ) -> None:
            with scope:
                outcomes.append(await show.agent.prompt("go"))

        with told(index=index):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                for _ in range(index):
                    await trio.testing.wait_all_tasks_blocked()
                    if not gates.standing:
                        break
                    gates.open(gates.standing[0])
                await trio.testing.wait_all_tasks_blocked()
                if gates.standing:
                    cancelled_at = trio.current_time()
                    scope.cancel()
                    if gates_open:
                        opener = trio.CancelScope()
                        nursery.start_soon(opening, gates, opener)
                        await show.agent.wait_for_idle()
                        opener.cancel()
            assert trio.lowlevel.current_statistics().tasks_living == tasks
            settled(show, reduced, sequential=mode == "sequential")
            if cancelled_at is None:
                assert outcomes[0].stop_reason == "stop"
                break
            assert outcomes == []
            assert scope.cancelled_caught
            took = trio.current_time() - cancelled_at
            if gates_open:
                assert took == 0
                assert show.first.events == reduced
            else:
                assert took <= 3
                late += [index for time in show.first.times if time >= cancelled_at + 3]
                texts.add(show.agent.state.error_message)
            await show.works_again()
    assert index > 60
    assert late == [], "when the grace is over nobody is told any more"
    # Either the model was told in time to end its answer, or the last word is the runtime's.
    assert texts <= {"Request was aborted", "aborted by request", None}


async def opening(gates: Gates, scope: trio.CancelScope) -> None:
    with scope:
        await opening_all(gates)


# --- what comes out, and when -----------------------------------------------------------------------------


async def stuck(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    """A tool that nothing but a cancellation ends."""
    await trio.sleep_forever()


def stuck_agent(*, grace: float = 2, execute: Any = stuck, calls: int = 2, **options: Any) -> Agent:
    calling = assistant(*(call(f"t{number}") for number in range(calls)))
    return Agent(
        model=MODEL,
        tools=[tool("work", execute)],
        stream_fn=Script(calling),
        settle_grace=grace,
        abort_mode="signal",
        **options,
    )


async def cancelled_prompt(agent: Agent) -> list[BaseException]:
    """Prompt, cancel when nothing moves, and tell what came out of `prompt`; nothing if it had returned before."""
    errors: list[BaseException] = []

    async def prompt(scope: trio.CancelScope) -> None:
        with scope:
            try:
                await agent.prompt("go")
            except BaseException as error:
                errors.append(error)
                raise

    scope = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt, scope)
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel()
    assert scope.cancelled_caught == bool(errors)
    return errors


@pytest.mark.parametrize("calls", [0, 1, 2])
async def test_cancelled_comes_out_as_it_is(calls: int, autojump_clock: trio.testing.MockClock) -> None:
    """Not in a group, which no `except trio.Cancelled` would see."""
    agent = stuck_agent(calls=calls)
    if calls == 0:
        agent.stream_fn = Script(pause=lambda place: trio.sleep_forever())
    (error,) = await cancelled_prompt(agent)
    assert isinstance(error, trio.Cancelled)


@pytest.mark.parametrize("grace", [0, 2, 5])
async def test_the_grace_is_in_seconds(grace: float, autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=grace)
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == grace
    assert agent.state.error_message == "Request was aborted"
    assert [text_of(message) for message in results_of(agent.messages)] == ["Operation aborted"] * 2
    assert answers_of(agent.messages)[-1].stop_reason == "aborted"


async def test_a_run_has_the_grace_of_its_start(autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=1)
    agent.subscribe(lambda event, signal: setattr(agent, "settle_grace", 100))
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == 1


async def test_without_a_limit_the_run_takes_the_time_that_it_takes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def slow(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        await trio.sleep(1000)
        return result("slow but sure")

    agent = stuck_agent(grace=float("inf"), execute=slow)
    await cancelled_prompt(agent)
    assert [text_of(message) for message in results_of(agent.messages)] == ["slow but sure"] * 2


async def test_the_default_grace() -> None:
    assert Agent().settle_grace == 5


@pytest.mark.parametrize("execution", MODES)
async def test_nobody_is_told_when_the_grace_is_over(
    execution: ExecutionMode, autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    agent = stuck_agent(tool_execution=execution)
    heard = Recorder(agent)
    await cancelled_prompt(agent)
    assert heard.briefs[-1].startswith("tool_execution_start")
    assert heard.events == reduced[: len(heard.events)]
    check(reduced, sequential=execution == "sequential")


async def test_a_deadline_is_a_cancellation(autojump_clock: trio.testing.MockClock) -> None:
    agent = stuck_agent(grace=2)
    with trio.move_on_after(3) as scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    assert trio.current_time() == 5
    with pytest.raises(trio.TooSlowError):
        with trio.fail_after(1):
            agent.stream_fn = Script(assistant(call("t")))
            await agent.prompt("go")


async def test_a_failure_and_a_cancellation_together(autojump_clock: trio.testing.MockClock) -> None:
    """Cancelled wins, the failure is in the transcript."""
    agent = stuck_agent()
    scope = trio.CancelScope()

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "tool_execution_start":
            scope.cancel()
            raise ValueError("and it failed")

    agent.subscribe(listener)
    heard = Recorder(agent)
    with scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    check(heard.events)
    assert agent.state.error_message == "and it failed"


async def test_a_slow_listener_gets_all_of_the_ending_within_the_grace(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = stuck_agent(grace=10, execute=told_to_stop)
    heard: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if signal.aborted:
            await trio.sleep(0.5)
        heard.append(brief(event))

    agent.subscribe(slow)
    await cancelled_prompt(agent)
    assert heard[-1] == "agent_end"
    assert heard.count("tool_execution_end t0") == 1


async def told_to_stop(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    await signal.wait()
    return result("stopped")


async def test_a_listener_that_never_returns_is_cut_with_the_grace(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    agent = stuck_agent()
    cut: list[str] = []

    async def stuck_listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "message_end":
            try:
                await trio.sleep_forever()
            finally:
                cut.append(event.type)

    agent.subscribe(stuck_listener)
    other = Recorder(agent)
    begun = trio.current_time()
    await cancelled_prompt(agent)
    assert trio.current_time() - begun == 2
    assert cut == ["message_end"]
    assert other.briefs[-1] == "message_start user"
    check(reduced)
    assert not agent.state.is_streaming


async def test_cancelled_in_the_failure_sequence(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    """The sequence goes on where the cut has left it; nothing is said twice."""
    for stop_at in count(1):
        agent = stuck_agent()
        reduced.clear()
        heard_since_failure: list[str] = []

        async def failing_and_standing(
            event: AgentEvent,
            signal: AbortSignal,
            heard: list[str] = heard_since_failure,
            stop_at: int = stop_at,
        ) -> None:
            if heard or event.type == "tool_execution_start":
                heard.append(brief(event))
                if len(heard) == 1:
                    raise ValueError("failed")
                if len(heard) == stop_at + 1:
                    await trio.sleep_forever()

        agent.subscribe(failing_and_standing)
        with told(stop_at=stop_at):
            begun = trio.current_time()
            if not await cancelled_prompt(agent):
                assert heard_since_failure[-1] == "agent_end"
                break
            assert trio.current_time() - begun == 2
            check(reduced)
            assert agent.state.error_message == "failed"
            assert not agent.state.is_streaming
            assert len(heard_since_failure) == stop_at + 1
    assert stop_at > 10


@pytest.mark.parametrize("where", ["tool", "listener", "hook"])
async def test_a_nursery_inside_is_cut_like_anything_else(
    where: str, autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    """Cancelled comes out of a nursery in a group; that is no failure either."""

    async def busy(*args: Any) -> Any:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(trio.sleep_forever)

    agent = stuck_agent(execute=busy if where == "tool" else stuck)
    if where == "hook":
        agent.before_tool_call = busy
    heard = Recorder(agent)
    if where == "listener":
        agent.subscribe(lambda event, signal: busy() if event.type == "tool_execution_start" else None)
    (error,) = await cancelled_prompt(agent)
    check(reduced)
    assert agent.state.error_message == "Request was aborted"
    assert heard.briefs[-1].startswith("tool_execution_start")
    assert isinstance(error, trio.Cancelled)


async def test_the_abort_is_raised_before_anything_is_cut(autojump_clock: trio.testing.MockClock) -> None:
    order: list[str] = []

    async def watching(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(lambda: order.append("abort"))
        try:
            await trio.sleep_forever()
        finally:
            order.append("cut")

    await cancelled_prompt(stuck_agent(calls=1, execute=watching))
    assert order == ["abort", "cut"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("stop"), SystemExit(3)])
async def test_an_interrupt_in_a_function_of_the_signal_comes_out_after_settlement(
    interrupt: BaseException, reduced: list[AgentEvent]
) -> None:
    def strike() -> None:
        raise interrupt

    async def struck(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(strike)
        scope.cancel()
        await trio.sleep_forever()

    agent = stuck_agent(calls=1, execute=struck)
    with pytest.raises(type(interrupt)) as raised, trio.CancelScope() as scope:
        await agent.prompt("go")
    assert raised.value is interrupt
    assert not agent.state.is_streaming
    check(reduced)


async def test_a_fault_in_a_function_of_the_signal_does_not_stop_the_settlement(
    autojump_clock: trio.testing.MockClock, reduced: list[AgentEvent]
) -> None:
    async def faulty(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        signal.on_abort(lambda: [][0])
        await trio.sleep(1000)

    agent = stuck_agent(calls=1, execute=faulty)
    begun = trio.current_time()
    errors: list[BaseException] = []
    try:
        errors = await cancelled_prompt(agent)
    except Exception as error:
        errors = [error]
    assert trio.current_time() - begun == 2
    assert [type(error) for error in errors] == [trio.Cancelled]
    check(reduced)


async def test_two_agents_in_one_nursery(autojump_clock: trio.testing.MockClock) -> None:
    """What happens to one is nothing to the other."""
    lost, fine = stuck_agent(), stuck_agent(execute=told_to_stop, grace=7)
    failing = stuck_agent(execute=told_to_stop)
    failing.subscribe(Saboteur(9))
    scope = trio.CancelScope()
    outcomes: dict[str, Any] = {}

    async def prompt(name: str, agent: Agent) -> None:
        outcomes[name] = await agent.prompt("go")

    async def prompt_in_scope() -> None:
        with scope:
            await prompt("lost", lost)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt_in_scope)
        nursery.start_soon(prompt, "fine", fine)
        nursery.start_soon(prompt, "failing", failing)
        await trio.testing.wait_all_tasks_blocked()
        assert "failing" in outcomes
        scope.cancel()
        await lost.wait_for_idle()
        await trio.testing.wait_all_tasks_blocked()
        assert fine.state.pending_tool_calls == ("t0", "t1")
        fine.abort()
    assert outcomes["failing"].stop_reason == "error"
    assert outcomes["fine"].stop_reason == "aborted"
    assert "lost" not in outcomes


async def test_a_second_cancellation_does_not_lengthen_the_grace(autojump_clock: Any) -> None:
    """Ctrl-C begins it, and the scope that is cancelled for its sake begins it no second time."""
    agent = Agent(model=MODEL, stream_fn=Script(), settle_grace=1)

    async def stuck(event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "message_end":
            await trio.sleep_forever()

    agent.subscribe(stuck)
    started = trio.current_time()
    with trio.CancelScope() as outer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.prompt, "go")
            await trio.testing.wait_all_tasks_blocked()
            assert agent._active is not None
            agent._active.run.begin_grace(1)
            await trio.sleep(0.9)
            outer.cancel()
    assert trio.current_time() - started == pytest.approx(1)


@pytest.mark.parametrize("given", ["Hey", [1], ["Hey", None]])
def test_a_text_is_not_several_messages(given: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        Agent(messages=given)
    agent = Agent()
    with pytest.raises(TypeError, match="expected"):
        agent.messages = given
    agent.messages = ["one", "two"]
    assert [message.role for message in agent.messages] == ["user", "user"]
