"""D-01: a failure ends what the run waits for outside, at once, and nothing else; and nothing survives the run."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, ToolExecutionEnd
from pi_trio.models.stream import ResponseStream
from pi_trio.tools.tool import UpdateFn

from .grammar import check
from .scripting import (
    MODEL,
    Gates,
    Playback,
    Recorder,
    Script,
    assistant,
    brief,
    call,
    result,
    results_of,
    stream_events,
    text_of,
    tool,
)


class Failing:
    """A listener that raises at the first event of a description."""

    def __init__(self, words: str, error: BaseException) -> None:
        self.words = words
        self.error = error

    def __call__(self, event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == self.words:
            self.words = ""
            raise self.error


async def test_a_failure_cuts_the_tools_that_run_and_the_signal_stays_down() -> None:
    cut: list[str] = []
    signals: list[AbortSignal] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        signals.append(signal)
        if call_id == "t1":
            return result("quick")
        try:
            await trio.sleep_forever()
        finally:
            cut.append(call_id)
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
            on_update(result("too late"))

    agent = Agent(
        model=MODEL,
        tools=[tool("work", work)],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert sorted(cut) == ["t2", "t3"]
    assert (outcome.stop_reason, outcome.error_message) == ("error", "no")
    assert not signals[0].aborted
    check(heard.events)
    assert [text_of(message) for message in results_of(outcome.messages)] == [
        "quick", "Operation aborted", "Operation aborted",
    ]  # fmt: skip
    assert [message.is_error for message in results_of(outcome.messages)] == [False, True, True]
    assert not any(event.type == "tool_execution_update" for event in heard.events)
    await agent.prompt("again")


async def test_a_tool_that_shields_itself_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    ended: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            return result("quick")
        with trio.CancelScope(shield=True):
            await trio.sleep(30)
        ended.append(call_id)
        return result("after all")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert trio.current_time() == 30
    assert ended == ["t2"]
    check(heard.events)
    # It was cut all the same: its answer came when the run was over for it.
    assert text_of(results_of(outcome.messages)[1]) == "Operation aborted"


async def test_a_failure_cuts_a_hook_and_what_it_would_have_decided() -> None:
    """t2 is in after_tool_call when the end of t1 fails the run: it has no finalised result."""
    cut: list[str] = []
    gates = Gates()

    async def after(context: Any, signal: AbortSignal) -> None:
        try:
            await gates.pause(context.tool_call.id)
        except trio.Cancelled:
            cut.append(context.tool_call.id)
            raise

    agent = Agent(
        model=MODEL,
        tools=[tool("work", lambda *args: result("worked"))],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
        after_tool_call=after,
    )
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t3")
        await gates.let_go("t1")
    assert cut == ["t2"]
    check(heard.events)
    assert [text_of(message) for message in results_of(agent.messages)] == [
        "worked",
        "Operation aborted",
        "worked",
    ]


async def test_a_failure_while_calls_are_prepared_executes_none() -> None:
    executed: list[str] = []
    agent = Agent(
        model=MODEL,
        tools=[tool("work", lambda call_id, *args: executed.append(call_id))],
        stream_fn=Script(assistant(call("t1"), call("t2"), call("t3"))),
    )
    agent.subscribe(Failing("tool_execution_start t2", ValueError("no")))
    heard = Recorder(agent)
    await agent.prompt("go")
    assert executed == []
    check(heard.events)
    assert [text_of(message) for message in results_of(agent.messages)] == ["Operation aborted"] * 3


async def test_a_failure_does_not_cut_a_listener() -> None:
    """What is being delivered goes on to everybody; then the run is closed."""
    gates = Gates()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            on_update(result("held"))
            await trio.sleep_forever()
        await gates.pause("t2")
        return result("quick")

    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "tool_execution_update t1":
            await gates.pause("slow")
            log.append("slow is done")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    heard = Recorder(agent)
    agent.subscribe(slow)
    behind = Recorder(agent)
    agent.subscribe(Failing("tool_execution_end t2", ValueError("no")))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await gates.let_go("t2")
        assert "tool_execution_end t2" in heard.briefs
        assert agent.state.is_streaming
        assert heard.briefs[-1] == "tool_execution_end t2", "nothing is closed while something is delivered"
        gates.open("slow")
    assert log == ["slow is done"]
    check(heard.events)
    assert behind.briefs.index("tool_execution_update t1") < behind.briefs.index("turn_end")
    assert sorted(map(id, behind.events)) == sorted(map(id, heard.events))


async def test_a_listener_that_fails_on_a_delivery_under_way_is_a_later_error() -> None:
    gates = Gates()

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            on_update(result("held"))
            await trio.sleep_forever()
        await gates.pause("t2")
        return result("quick")

    async def slow_and_failing(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "tool_execution_update t1":
            await gates.pause("slow")
            raise OSError("second")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(slow_and_failing)
    heard = Recorder(agent)
    first = ValueError("first")
    agent.subscribe(Failing("tool_execution_end t2", first))
    outcomes: list[Any] = []

    async def prompt() -> None:
        outcomes.append(await agent.prompt("go"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt)
        await gates.let_go("t2")
        gates.open("slow")
    check(heard.events)
    (outcome,) = outcomes
    assert outcome.error_message == "first"
    assert outcome.errors[0] is first
    assert "second" in first.__notes__[0]


@pytest.mark.parametrize("suspends", [False, True])
async def test_a_failed_delivery_of_progress_fails_the_run_at_once(suspends: bool) -> None:
    """Not when the tool ends, which it never would here. And the tool is not told: `on_update` never raises."""
    went_on: list[str] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if suspends:
            await trio.lowlevel.checkpoint()
        on_update(result("progress"))
        went_on.append(call_id)
        on_update(result("more"))
        await trio.sleep_forever()

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    agent.subscribe(Failing("tool_execution_update t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert outcome.error_message == "no"
    assert went_on == ["t1"]
    check(heard.events)
    assert heard.briefs.count("tool_execution_update t1") == 1


async def test_a_tool_that_fails_with_its_progress_is_not_started_with_the_others() -> None:
    """The failure comes in the first stretch of t1; t2 is prepared, and never executed."""
    executed: list[str] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        executed.append(call_id)
        on_update(result("progress"))
        return result("done")

    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(Failing("tool_execution_update t1", ValueError("no")))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert executed == ["t1"]
    check(heard.events)
    ends = heard.of(ToolExecutionEnd)
    assert [event.is_error for event in ends] == [True, True]
    assert ends[0].duration_ms is not None
    assert ends[1].duration_ms is None
    assert outcome.error_message == "no"


async def test_progress_after_the_run_reaches_nobody() -> None:
    """S-02, S-05: not even when the next run is going on."""
    reporters: list[UpdateFn] = []

    async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        reporters.append(on_update)
        return result("done")

    gates = Gates()
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    agent.subscribe(Failing("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    await agent.prompt("go")
    heard.events.clear()
    reporters[0](result("late"))
    assert heard.events == []
    agent.stream_fn = Script(assistant("next"), pause=gates.pause)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "next")
        await trio.testing.wait_all_tasks_blocked()
        reporters[0](result("late"))
        while gates.standing:
            await gates.let_go(gates.standing[0])
    check(heard.events)


async def test_a_failure_in_a_stream_leaves_the_stream() -> None:
    """The provider's context manager is exited before the run is closed."""
    script = Script(assistant("one two"))
    agent = Agent(model=MODEL, stream_fn=script)
    agent.subscribe(Failing("message_update", ValueError("no")))
    order: list[bool] = []
    agent.subscribe(
        lambda event, signal: order.append(script.playbacks[0].left) if event.type == "turn_end" else None
    )
    await agent.prompt("go")
    assert order == [True]
    assert len(script.playbacks[0].events) > 3, "nothing more was read"


class BusyProvider(Playback):
    """A response with a task of its own in the background, as a real connection has; it can be made to crash."""

    def __init__(self, request: Any, crash: trio.Event) -> None:
        super().__init__(stream_events(assistant("one two three")), request.options.signal, _pass, "stream")
        self._crash = crash
        self._manager = trio.open_nursery()

    async def __aenter__(self) -> BusyProvider:
        nursery = await self._manager.__aenter__()
        nursery.start_soon(self._read_socket)
        self._nursery = nursery
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        self._nursery.cancel_scope.cancel()
        return await self._manager.__aexit__(kind, error, traceback)

    async def _read_socket(self) -> None:
        await self._crash.wait()
        raise OSError("connection reset")


async def _pass(_place: str) -> None:
    await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("behind_a_plain_one", [False, True])
async def test_a_provider_that_crashes_does_not_reach_a_listener(behind_a_plain_one: bool) -> None:
    """Its nursery is round the loop's reading; what is being delivered then is delivered to all, and in peace."""
    crash = trio.Event()
    log: list[str] = []

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "message_update" and not crash.is_set():
            crash.set()
            try:
                await trio.testing.wait_all_tasks_blocked()
                log.append("in peace")
            except trio.Cancelled:
                log.append("cancelled")
                raise

    agent = Agent(model=MODEL, stream_fn=Script(lambda request: BusyProvider(request, crash)))
    if behind_a_plain_one:  # nobody waits for that one, so the delivery is shielded later
        agent.subscribe(lambda _event, _signal: None)
        agent.subscribe(slow)
    heard = Recorder(agent)
    agent.subscribe(slow)
    behind = Recorder(agent)
    outcome = await agent.prompt("go")
    assert log == ["in peace"]
    assert outcome.stop_reason == "error"
    assert behind.briefs == heard.briefs
    check(heard.events)


@pytest.mark.parametrize("during", ["read", "delivery"])
async def test_a_provider_that_crashes_is_not_read_for_ever(
    during: str, autojump_clock: trio.testing.MockClock
) -> None:
    crash = trio.Event()

    class Silent(BusyProvider):
        async def __anext__(self) -> Any:
            return await super().__anext__() if self._last is None else await trio.sleep_forever()

    async def slow(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "message_start assistant":
            if during == "delivery":
                crash.set()
            await trio.sleep(1)

    agent = Agent(model=MODEL, stream_fn=Script(lambda request: Silent(request, crash)))
    agent.subscribe(slow)
    heard = Recorder(agent)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.prompt, "go")
            await trio.sleep(2)
            crash.set()
    assert "connection reset" in (agent.state.error_message or "")
    check(heard.events)


async def test_what_comes_at_once_after_an_abort_is_not_said() -> None:
    stream = ResponseStream()
    events = stream_events(assistant("one"))
    stream.push(events.pop(0))
    agent = Agent(model=MODEL, stream_fn=lambda *_request: stream)
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        agent.abort()
        stream.push(events.pop(0))
    assert "message_update" not in heard.briefs
    check(heard.events)


async def test_a_listener_that_the_grace_has_cut_is_the_last_who_hears(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def stuck(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "message_update":
            await trio.sleep_forever()

    agent = Agent(model=MODEL, stream_fn=Script(assistant("one"), pause=_nothing), settle_grace=2)
    heard = Recorder(agent)
    agent.subscribe(stuck)
    with trio.move_on_after(1) as scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    assert trio.current_time() == 3
    assert heard.briefs[-1] == "message_update"


async def _nothing(_place: str) -> None:
    pass


async def test_a_provider_with_tasks_of_its_own_works() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(lambda request: BusyProvider(request, trio.Event())))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert outcome.text == "one two three"
    check(heard.events)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt("stop"), SystemExit(3)])
async def test_an_error_behind_a_providers_nursery_comes_bare(error: BaseException) -> None:
    """A nursery would put it in a group, on its way through the provider's context manager."""

    class Raising(BusyProvider):
        async def __anext__(self) -> Any:
            await trio.lowlevel.checkpoint()
            raise error

    agent = Agent(model=MODEL, stream_fn=Script(lambda request: Raising(request, trio.Event())))
    heard = Recorder(agent)
    raised: BaseException | None = None
    try:
        outcome = await agent.prompt("go")
        assert outcome.errors == (error,)
    except BaseException as caught:
        raised = caught
    assert raised is (None if isinstance(error, Exception) else error)
    check(heard.events)


async def test_a_listener_behind_a_providers_nursery_fails_bare() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(lambda request: BusyProvider(request, trio.Event())))
    interrupt = KeyboardInterrupt()
    agent.subscribe(Failing("message_update", interrupt))
    heard = Recorder(agent)
    with pytest.raises(KeyboardInterrupt) as raised:
        await agent.prompt("go")
    assert raised.value is interrupt
    check(heard.events)


async def test_a_failed_run_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    error = ValueError("no")
    agent.subscribe(Failing("turn_start", error))
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        await agent.prompt("go")
    (record,) = caplog.records
    assert record.name == "pi_trio"
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_a_tools_exception_is_logged_and_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("no")

    def work(*args: Any) -> Any:
        raise error

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_a_good_run_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        await agent.prompt("go")
    assert caplog.records == []
