"""What a provider leaves behind or breaks: no listener is reached by it, and no error is wrapped."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent
from pi_trio.models.stream import ResponseStream

from .grammar import check
from .scripting import MODEL, Playback, Recorder, Script, assistant, brief, stream_events, yielding
from .show import Failing


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
        super().__init__(
            stream_events(assistant("one two three")), request.options.signal, yielding, "stream"
        )
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
