"""Providers that do what they should not: the run ends all the same, and says so; nothing of theirs is left behind."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import AgentEvent, StreamDone, StreamEvent, StreamStart, TextDelta
from pi_trio.messages import AssistantMessage, TextContent, ToolCall
from pi_trio.models.stream import ModelContext, StreamOptions

from .grammar import check
from .scripting import MODEL, USAGE, Recorder, Script, assistant, user, yielding

GOOD = assistant("well")


@attrs.define
class Generated:
    """A response whose events come from an async generator, as a provider would write it."""

    make: Callable[[], AsyncGenerator[StreamEvent]]

    async def __aenter__(self) -> Generated:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await trio.lowlevel.checkpoint()

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self.make()

    async def result(self) -> AssistantMessage:
        await trio.lowlevel.checkpoint()
        return GOOD


def gives(make: Callable[[], AsyncGenerator[StreamEvent]]) -> Callable[..., Generated]:
    def stream(model: Any, context: ModelContext, options: StreamOptions) -> Generated:
        return Generated(make)

    return stream


class Incomparable:
    """Compared, it falls over."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("not with me")

    def __hash__(self) -> int:
        return hash("error")


UNREADABLE: dict[str, Any] = {
    "no usage": attrs.evolve(GOOD, usage=None),  # type: ignore[arg-type]
    "a usage without numbers": attrs.evolve(GOOD, usage=attrs.evolve(USAGE, input=None)),  # type: ignore[arg-type]
    "a cost without numbers": attrs.evolve(GOOD, usage=attrs.evolve(USAGE, cost=None)),  # type: ignore[arg-type]
    "a stop reason that is a list": attrs.evolve(GOOD, stop_reason=["stop"]),  # type: ignore[arg-type]
    "a stop reason that cannot be compared": attrs.evolve(GOOD, stop_reason=Incomparable()),  # type: ignore[arg-type]
    "no text": attrs.evolve(GOOD, content=(TextContent(text=None),)),  # type: ignore[arg-type]
    "an id that is a list": assistant(ToolCall(id=[], name="work", arguments={})),  # type: ignore[arg-type]
    "a call without a name": assistant(ToolCall(id="t1", name=None, arguments={})),  # type: ignore[arg-type]
    "no message at all": 0,
    "a dictionary": {"role": "assistant"},
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("place", ["start", "result"])
async def test_a_response_that_cannot_be_read_fails_the_run_and_no_more(name: str, place: str) -> None:
    broken = UNREADABLE[name]
    answers: list[list[Any]] = [[StreamStart(partial=broken)], [StreamDone(reason="stop", message=broken)]]
    agent = Agent(model=MODEL, stream_fn=Script(answers[place == "result"]))
    recorder = Recorder(agent)
    result = await agent.prompt("go")
    assert recorder.briefs[-1] == "agent_end"
    assert recorder.briefs.count("agent_end") == 1
    assert not agent.state.is_streaming
    if place == "result" or not isinstance(broken, AssistantMessage):
        assert result.stop_reason == "error"
    assert (await agent.prompt("again")).text == "nothing more"


class Unreadable(AssistantMessage):
    """A partial that falls over whoever looks at it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "content":
            raise TypeError("nobody can read this")
        return super().__getattribute__(name)


@pytest.mark.parametrize("cancelled", [True, False])
async def test_an_ending_that_cannot_be_told_is_still_an_end(cancelled: bool) -> None:
    fields = {field.name: getattr(GOOD, field.name) for field in attrs.fields(AssistantMessage) if field.init}
    partial = Unreadable(**fields)

    async def events() -> AsyncGenerator[StreamEvent]:
        yield StreamStart(partial=GOOD)
        yield TextDelta(content_index=0, delta="x", partial=partial)
        if cancelled:
            scope.cancel()
            await trio.sleep_forever()
        raise ValueError("broken")

    agent = Agent(model=MODEL, stream_fn=gives(events))
    recorder = Recorder(agent)
    with trio.CancelScope() as scope:
        if cancelled:
            await agent.prompt("go")
        else:
            with pytest.raises(TypeError, match="nobody can read this"):
                await agent.prompt("go")
    assert scope.cancelled_caught is cancelled
    assert recorder.briefs[-1] == "agent_end"
    assert not agent.state.is_streaming


@pytest.mark.parametrize("usage", [None, attrs.evolve(USAGE, input="x"), attrs.evolve(USAGE, cost=None)])  # type: ignore[arg-type]
async def test_a_result_is_told_whatever_a_caller_put_into_the_transcript(usage: Any) -> None:
    odd: Any = attrs.evolve(GOOD, usage=usage)
    agent = Agent(model=MODEL, stream_fn=Script())
    with trio.move_on_after(5):
        result = await agent.prompt([odd, user("go")])
    assert result.text == "nothing more"


@pytest.mark.parametrize("end", ["done", "raises", "aborted", "listener fails", "cancelled"])
async def test_a_generator_is_closed_inside_the_run(end: str) -> None:
    log: list[str] = []

    async def events() -> AsyncGenerator[StreamEvent]:
        try:
            yield StreamStart(partial=GOOD)
            if end == "raises":
                raise ValueError("broken")
            if end == "aborted":
                agent.abort()
                await trio.sleep_forever()
            if end == "cancelled":
                scope.cancel()
                await trio.sleep_forever()
            yield StreamDone(reason="stop", message=GOOD)
            log.append("asked for more")
        finally:
            log.append("closed")

    def listener(event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "agent_end":
            log.append("agent_end")
        if event.type == "message_start" and event.message.role == "assistant" and end == "listener fails":
            raise ValueError("no")

    agent = Agent(model=MODEL, stream_fn=gives(events))
    agent.subscribe(listener)
    with trio.CancelScope() as scope:
        await agent.prompt("go")
    assert log == ["closed", "agent_end"]
    gc.collect()


@asynccontextmanager
async def deadline() -> AsyncGenerator[None]:
    with trio.fail_after(5):
        yield


@asynccontextmanager
async def nursery_with_a_child() -> AsyncGenerator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)
        yield


@pytest.mark.parametrize("around", [deadline, trio.open_nursery, nursery_with_a_child])
@pytest.mark.parametrize("end", ["done", "raises", "aborted", "cancelled", "left"])
@pytest.mark.parametrize("pause", [None, yielding])
async def test_a_generator_may_yield_inside_its_scopes(around: Any, end: str, pause: Any) -> None:
    """It is closed where it was read, before anything that was entered before it is left."""

    async def events() -> AsyncGenerator[StreamEvent]:
        async with around():
            yield StreamStart(partial=GOOD)
            await trio.lowlevel.checkpoint()
            yield TextDelta(content_index=0, delta="well", partial=GOOD)
            if end == "raises":
                raise ValueError("broken")
            if end == "aborted":
                agent.abort()
            if end == "cancelled":
                scope.cancel()
            await trio.lowlevel.checkpoint()
            yield StreamDone(reason="stop", message=GOOD)

    agent = Agent(model=MODEL, stream_fn=gives(events))
    agent.subscribe(recorder := Recorder(pause=pause))
    with trio.CancelScope() as scope:
        async with agent.open_prompt("go") as run:
            async for event in run:
                if end == "left" and event.type == "message_update":
                    break
    reason = {"done": "stop", "raises": "error"}.get(end, "aborted")
    assert run.result.stop_reason == reason
    assert all("corrupted" not in str(error) for error in run.result.errors)
    check(recorder.events)


async def test_the_scopes_of_a_generator_cancel_no_listener(autojump_clock: object) -> None:
    heard: list[str] = []

    async def events() -> AsyncGenerator[StreamEvent]:
        with trio.fail_after(5):
            yield StreamStart(partial=GOOD)
            await trio.lowlevel.checkpoint()
            yield StreamDone(reason="stop", message=GOOD)

    async def slow(event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "message_start":
            await trio.sleep(10)
        heard.append(event.type)

    agent = Agent(model=MODEL, stream_fn=gives(events))
    agent.subscribe(slow)
    result = await agent.prompt("go")
    assert [type(error) for error in result.errors] == [trio.TooSlowError]
    assert heard.count("message_start") == 2
    assert heard[-1] == "agent_end"


@pytest.mark.parametrize("place", ["aiter", "anext", "aenter", "result"])
def test_ctrl_c_ends_what_a_provider_does_without_awaiting(place: str) -> None:
    def busy(at: str) -> None:
        if at == place:
            threading.Thread(target=strike).start()
            ends = time.monotonic() + 60
            while time.monotonic() < ends:
                pass

    def strike() -> None:
        time.sleep(0.05)
        signal.raise_signal(signal.SIGINT) if sys.platform == "win32" else signal.pthread_kill(
            threading.main_thread().ident or 0, signal.SIGINT
        )

    class Busy:
        def __aenter__(self) -> Any:
            busy("aenter")
            return self.here()

        async def here(self) -> Any:
            return self

        async def __aexit__(self, *_: object) -> None: ...

        def __aiter__(self) -> Any:
            busy("aiter")
            return self

        def __anext__(self) -> Any:
            busy("anext")
            return self.stop()

        async def stop(self) -> Any:
            raise StopAsyncIteration

        def result(self) -> Any:
            busy("result")
            return self.here()

    agent = Agent(model=MODEL, stream_fn=lambda *_: Busy())  # type: ignore[arg-type, return-value]
    recorder = Recorder(agent)
    with pytest.raises(KeyboardInterrupt):
        trio.run(agent.prompt, "go")
    assert recorder.briefs[-1] == "agent_end"


@pytest.mark.parametrize("given", ["text", None, GOOD])
@pytest.mark.parametrize("later", [False, True])
async def test_what_is_no_response_is_told(given: Any, later: bool) -> None:
    async def stream_later(*args: Any) -> Any:
        return given

    agent = Agent(model=MODEL, stream_fn=stream_later if later else lambda *args: given)
    result = await agent.prompt("go")
    assert result.error_message is not None
    assert result.error_message.startswith("a stream function returns an async context manager")
    assert isinstance(result.errors[0], TypeError)


class OneByOne:
    """A response whose events come from a task of the provider."""

    def __init__(self, events: trio.MemoryReceiveChannel[StreamEvent]) -> None:
        self._events = events
        self._message: AssistantMessage | None = None

    def __aiter__(self) -> OneByOne:
        return self

    async def __anext__(self) -> StreamEvent:
        event = await self._events.receive()
        if isinstance(event, StreamDone):
            self._message = event.message
        return event

    async def result(self) -> AssistantMessage | None:
        return self._message


@pytest.mark.parametrize("late", [False, True])
async def test_who_ends_its_nursery_behind_the_last_event_has_told_it(late: bool) -> None:
    """Before the loop waits for the result, or while it does."""

    @asynccontextmanager
    async def stream(*args: Any) -> AsyncGenerator[OneByOne]:
        to_loop, events = trio.open_memory_channel[StreamEvent](0)
        async with trio.open_nursery() as nursery:

            async def tell() -> None:
                await to_loop.send(StreamStart(partial=GOOD))
                await to_loop.send(StreamDone(reason="stop", message=GOOD))
                if late:
                    await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()

            nursery.start_soon(tell)
            nursery.start_soon(trio.sleep_forever)
            response = OneByOne(events)
            if late:
                response.result = trio.sleep_forever  # type: ignore[method-assign, assignment]
            yield response

    for _ in range(8):  # whoever the scheduler lets go first
        result = await Agent(model=MODEL, stream_fn=stream).prompt("go")
        assert (result.stop_reason, result.text) == ("stop", "well")


async def test_events_alone_are_no_response() -> None:
    heard: list[AgentEvent] = []

    @asynccontextmanager
    async def stream(*args: Any) -> AsyncGenerator[AsyncGenerator[StreamEvent]]:
        async def events() -> AsyncGenerator[StreamEvent]:
            yield StreamStart(partial=GOOD)

        yield events()

    agent = Agent(model=MODEL, stream_fn=stream)  # type: ignore[arg-type]
    agent.subscribe(lambda event, signal: heard.append(event))
    result = await agent.prompt("go")
    assert result.error_message is not None
    assert result.error_message.startswith("the stream of a response has `result()`")
    assert [event.type for event in heard if event.type == "message_update"] == []


# An error, and an abort.


@attrs.define
class Failing:
    """A provider that fails at a place: when events are asked for, when the result is, or when it is left."""

    at: str
    pause: bool
    """It fails when it has waited, and whatever ended its wait."""
    leaving: bool
    """It takes its time to be left."""

    async def _fail(self, place: str) -> None:
        if self.at != place:
            return
        try:
            if self.pause:
                await trio.sleep_forever()
        finally:
            raise ValueError(place)

    def __call__(self, model: Any, context: ModelContext, options: StreamOptions) -> Failing:
        return self

    async def __aenter__(self) -> Failing:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._fail("leaving")
        if self.leaving:
            await trio.sleep(1)

    def __aiter__(self) -> Failing:
        return self

    async def __anext__(self) -> StreamEvent:
        await self._fail("events")
        raise StopAsyncIteration

    async def result(self) -> AssistantMessage:
        await self._fail("result")
        return GOOD


async def aborted_after_a_while(provider: Failing) -> Any:
    agent = Agent(model=MODEL, stream_fn=provider)
    heard = Recorder(agent)
    outcome: Any = None
    async with trio.open_nursery() as nursery:

        async def prompt() -> None:
            nonlocal outcome
            outcome = await agent.prompt("go")

        nursery.start_soon(prompt)
        await trio.testing.wait_all_tasks_blocked()
        agent.abort()
    check(heard.events)
    return outcome


@pytest.mark.parametrize("place", ["events", "result"])
async def test_an_abort_takes_no_error_away_that_was_there_before(place: str, autojump_clock: object) -> None:
    outcome = await aborted_after_a_while(Failing(place, pause=False, leaving=True))
    assert outcome.error_message == place
    assert [str(error) for error in outcome.errors] == [place]


@pytest.mark.parametrize("leaving", [False, True])
@pytest.mark.parametrize("place", ["events", "result"])
async def test_an_error_that_comes_of_an_abort_is_the_abort(
    place: str, leaving: bool, autojump_clock: object
) -> None:
    outcome = await aborted_after_a_while(Failing(place, pause=True, leaving=leaving))
    assert (outcome.stop_reason, outcome.error_message) == ("aborted", "Request was aborted")
    assert outcome.errors == ()


@pytest.mark.parametrize("leaving", [False, True])
async def test_an_error_of_a_task_that_comes_of_an_abort_is_the_abort(
    leaving: bool, autojump_clock: object
) -> None:
    """It comes in a group, with the cancellation of the others."""

    class InTasks(Failing):
        async def _fail(self, place: str) -> None:
            if place == self.at:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(trio.sleep_forever)
                    await super()._fail(place)

    outcome = await aborted_after_a_while(InTasks("events", pause=True, leaving=leaving))
    assert (outcome.stop_reason, outcome.error_message) == ("aborted", "Request was aborted")
    assert outcome.errors == ()


async def test_a_result_stays_though_the_provider_is_left_in_an_error_that_comes_of_an_abort() -> None:
    outcome = await aborted_after_a_while(Failing("leaving", pause=True, leaving=False))
    assert (outcome.text, outcome.errors) == ("well", ())
