"""One response: what of a stream becomes events, what the stream function is asked, and streams that do not behave."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import (
    MessageEnd,
    MessageStart,
    MessageUpdate,
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    UnknownStreamEvent,
)
from pi_trio.messages import AssistantMessage, SystemMessage, TextContent
from pi_trio.models.stream import ResponseStream

from .grammar import check
from .scripting import (
    MODEL,
    Gates,
    Recorder,
    Request,
    Script,
    answers_of,
    assistant,
    call,
    stream_events,
    text_of,
    tool,
    user,
)


def pending(text: str) -> AssistantMessage:
    return assistant(text, stop_reason="pending")


def delta(text: str) -> TextDelta:
    return TextDelta(content_index=0, delta="?", partial=pending(text))


async def heard_of(*events: Any, **options: Any) -> tuple[Recorder, Any]:
    """What is heard of a response with these events, and the run's result."""
    agent = Agent(model=MODEL, stream_fn=Script(list(events)), **options)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    check(heard.events)
    return heard, outcome


async def test_a_response_becomes_events_with_its_partials() -> None:
    message = assistant("abcd", call("t1", "nowhere"))
    events = stream_events(message)
    heard, _ = await heard_of(*events)
    assert heard.of(MessageStart)[1].message == events[0].partial  # type: ignore[union-attr]
    updates = heard.of(MessageUpdate)[: len(events) - 2]
    assert [update.assistant_message_event for update in updates] == events[1:-1]
    assert all(update.message == update.assistant_message_event.partial for update in updates)
    assert heard.of(MessageEnd)[1].message == attrs.evolve(message, thinking_level="off")


async def test_each_event_is_handled_before_the_next_is_read() -> None:
    gates = Gates()
    agent = Agent(model=MODEL, stream_fn=Script(assistant("abcd"), pause=gates.pause))

    async def slow(event: Any, signal: AbortSignal) -> None:
        if isinstance(event, MessageUpdate):
            await gates.pause("listener")

    agent.subscribe(slow)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        while gates.standing:
            assert len(gates.standing) == 1
            await gates.let_go(gates.standing[0])


async def test_the_result_counts_and_not_what_done_carries() -> None:
    class Otherwise(ResponseStream):
        async def result(self) -> AssistantMessage:
            await trio.lowlevel.checkpoint()
            return assistant("the result")

    stream = Otherwise()
    stream.push(StreamStart(partial=pending("")))
    stream.push(StreamDone(reason="stop", message=assistant("the event")))
    agent = Agent(model=MODEL, stream_fn=lambda *args: stream)
    assert (await agent.prompt("go")).text == "the result"


async def test_a_stream_that_simply_ends_gives_its_result() -> None:
    stream = ResponseStream()
    stream.push(StreamStart(partial=pending("")))
    stream.push(delta("half"))
    stream.end(assistant("whole"))
    agent = Agent(model=MODEL, stream_fn=lambda *args: stream)
    heard = Recorder(agent)
    assert (await agent.prompt("go")).text == "whole"
    assert heard.briefs.count("message_update") == 1


@pytest.mark.parametrize("opens", ["itself", "awaited", "context manager"])
async def test_a_stream_function_gives_a_stream_or_a_coroutine_of_one(opens: str) -> None:
    script = Script(assistant("hello"))

    async def coroutine(*args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return script(*args)

    @asynccontextmanager
    async def manager(*args: Any) -> Any:
        async with script(*args) as stream:
            yield stream

    stream_fns: dict[str, Any] = {"itself": script, "awaited": coroutine, "context manager": manager}
    agent = Agent(model=MODEL, stream_fn=stream_fns[opens])
    assert (await agent.prompt("go")).text == "hello"
    assert script.playbacks[0].left


async def test_deltas_without_a_start_are_dropped() -> None:
    """S-16, as Pi."""
    heard, outcome = await heard_of(
        delta("a"), delta("ab"), StreamDone(reason="stop", message=assistant("ab"))
    )
    assert heard.briefs == [
        "agent_start", "turn_start", "message_start user", "message_end user",
        "message_start assistant", "message_end assistant", "turn_end", "agent_end",
    ]  # fmt: skip
    assert outcome.text == "ab"


async def test_events_of_unknown_types_are_ignored() -> None:
    heard, outcome = await heard_of(
        UnknownStreamEvent(type="ping"),
        StreamStart(partial=pending("")),
        UnknownStreamEvent(type="ping"),
        StreamDone(reason="stop", message=assistant("ab")),
    )
    assert "message_update" not in heard.briefs
    assert outcome.text == "ab"


async def test_nothing_is_read_behind_done() -> None:
    script = Script([*stream_events(assistant("done")), delta("ghost")])
    agent = Agent(model=MODEL, stream_fn=script)
    outcome = await agent.prompt("go")
    assert outcome.text == "done"
    assert script.playbacks[0].events == [delta("ghost")]


async def test_a_second_start_only_replaces_the_partial() -> None:
    """D-06: one slot, one message_start; streaming_message changes with the next update; the context has no ghost."""
    gates = Gates()
    events = [
        StreamStart(partial=pending("first")),
        StreamStart(partial=pending("second")),
        delta("third"),
        StreamDone(reason="toolUse", message=assistant(call("t1", "nowhere"))),
    ]
    script = Script(events, assistant("done"), pause=gates.pause)
    agent = Agent(model=MODEL, stream_fn=script)
    heard = Recorder(agent)
    seen: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        while gates.standing:
            streaming = agent.state.streaming_message
            seen.append(text_of(streaming) if streaming is not None else "-")
            await gates.let_go(gates.standing[0])
    check(heard.events)
    assert seen[:5] == ["-", "-", "first", "first", "third"]
    assert heard.briefs.count("message_start assistant") == 2
    assert script.requests[1].said == ["user: go", "assistant: ", "toolResult: Tool nowhere not found"]


@pytest.mark.parametrize("aborted", [False, True])
@pytest.mark.parametrize("started", [False, True])
async def test_a_stream_without_a_result_is_a_response_that_failed(started: bool, aborted: bool) -> None:
    """D-05, its first half."""
    finished: list[Any] = []
    events = [StreamStart(partial=pending("")), delta("so far")] if started else []
    agent = Agent(
        model=MODEL, thinking_level="high", stream_fn=Script(events, deaf=True),
        abort_mode="signal",
        finish_turn=lambda turn, signal: finished.append(turn.message),
    )  # fmt: skip
    heard = Recorder(agent)
    if aborted:
        agent.subscribe(lambda event, signal: agent.abort())
    agent.follow_up(user("not polled"))
    outcome = await agent.prompt("go")
    check(heard.events)
    (answer,) = answers_of(outcome.messages)
    assert answer.stop_reason == ("aborted" if aborted else "error") == outcome.stop_reason
    assert answer.error_message == "Stream ended without a result" == agent.state.error_message
    assert answer.thinking_level == "high"
    assert answer.content == ((TextContent(text="so far"),) if started else ())
    assert (answer.api, answer.provider, answer.model) == (MODEL.api, MODEL.provider, MODEL.id)
    assert (answer.usage.total_tokens == 0) is not started
    assert finished == [answer]
    assert outcome.errors == ()
    assert agent.has_queued_messages()


@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_a_providers_error_ends_the_run_with_what_came(reason: str) -> None:
    """S-08, as Pi: calls of such an answer get neither start, end nor result."""
    failed = assistant("half", call("t1"), stop_reason=reason, error_message="overloaded")
    executed: list[Any] = []
    finished: list[Any] = []
    script = Script(failed)
    agent = Agent(
        model=MODEL, stream_fn=script, tools=[tool("work", executed.append)],
        finish_turn=lambda turn, signal: finished.append(turn.message.stop_reason),
    )  # fmt: skip
    agent.steer(user("first"))
    agent.steer(user("stays"))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    check(heard.events)
    assert (outcome.stop_reason, outcome.error_message, outcome.text) == (reason, "overloaded", "half")
    assert executed == []
    assert finished == [reason]
    assert len(script.requests) == 1
    assert [text_of(message) for message in agent.peek_queued_messages()] == ["stays"]


async def test_an_error_event_without_a_start_opens_and_ends_its_message() -> None:
    heard, outcome = await heard_of(
        StreamError(reason="error", error=assistant(stop_reason="error", error_message="no key"))
    )
    assert heard.briefs[4:] == ["message_start assistant", "message_end assistant", "turn_end", "agent_end"]
    assert outcome.error_message == "no key"


@pytest.mark.parametrize("level", ["off", "minimal", "max"])
async def test_the_message_tells_the_thinking_level_that_was_asked_for(level: str) -> None:
    script = Script(assistant("a"), assistant("b", thinking_level="invented"))
    agent = Agent(model=MODEL, stream_fn=script, thinking_level=level)
    await agent.prompt("go")
    await agent.prompt("go")
    assert [answer.thinking_level for answer in answers_of(agent.messages)] == [level, level]
    assert script.requests[0].options.reasoning == (None if level == "off" else level)


# --- the request ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suspends", [False, True])
async def test_the_hooks_of_a_request_come_in_order(suspends: bool) -> None:
    order: list[str] = []

    def hook(name: str, answer: Any = lambda *args: None) -> Any:
        def plain(*args: Any) -> Any:
            order.append(name)
            return answer(*args)

        async def slow(*args: Any) -> Any:
            await trio.lowlevel.checkpoint()
            return plain(*args)

        return slow if suspends else plain

    script = Script()
    asked = hook("stream function", script)
    agent = Agent(
        model=MODEL,
        system_prompt="be brief",
        prepare_request=hook("prepare_request"),
        transform_context=hook(
            "transform_context", lambda messages, signal: [*messages, user("transformed")]
        ),
        convert_to_llm=hook("convert_to_llm", lambda messages: [*messages, user("converted")]),
        get_api_key=hook("get_api_key", lambda provider: f"{provider} key"),
        stream_fn=asked,
    )
    await agent.prompt("go")
    assert order == [
        "prepare_request",
        "transform_context",
        "convert_to_llm",
        "get_api_key",
        "stream function",
    ]
    assert script.requests[0].said == ["system: be brief", "user: go", "user: transformed", "user: converted"]
    assert script.requests[0].options.api_key == "tests key"
    await agent.prompt("again")
    assert script.requests[1].said == [
        "system: be brief", "user: go", "assistant: nothing more", "user: again",
        "user: transformed", "user: converted",
    ]  # fmt: skip


async def test_what_the_request_hooks_are_given() -> None:
    seen: dict[str, tuple[Any, ...]] = {}

    def note(name: str, answer: Any = None) -> Any:
        def hook(*args: Any) -> Any:
            seen[name] = args
            return answer if answer is not None else args[0] if name in {"transform", "convert"} else None

        return hook

    signals: set[AbortSignal] = set()
    agent = Agent(
        model=MODEL, thinking_level="low", stream_fn=Script(), transform_context=note("transform"),
        convert_to_llm=note("convert"), get_api_key=note("key"), prepare_request=note("prepare"),
    )  # fmt: skip
    agent.subscribe(lambda event, signal: signals.add(signal))
    await agent.prompt("go")
    (signal,) = signals
    assert seen["transform"][1:] == (signal,)
    assert len(seen["convert"]) == 1
    assert seen["key"] == ("tests",)
    request, got = seen["prepare"]
    assert got is signal
    assert (request.model, request.thinking_level, request.context.messages) == (
        MODEL,
        "low",
        agent.messages[:1],
    )
    for messages in (seen["transform"][0], seen["convert"][0], request.context.messages):
        assert isinstance(messages, tuple)


async def test_without_an_answer_there_is_no_key() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script, get_api_key=lambda provider: None)
    await agent.prompt("go")
    assert script.requests[0].options.api_key is None


async def test_the_stream_function_is_given_the_runs_signal() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script)
    signals: set[AbortSignal] = set()
    agent.subscribe(lambda event, signal: signals.add(signal))
    await agent.prompt("go")
    assert signals == {script.requests[0].options.signal}
    assert agent.signal is None


async def test_the_prompt_reaches_the_model_in_its_system_message() -> None:
    script = Script()
    agent = Agent(model=MODEL, system_prompt="be brief", stream_fn=script)
    await agent.prompt("go")
    request: Request = script.requests[0]
    assert isinstance(request.context.messages[0], SystemMessage)
    assert request.said == ["system: be brief", "user: go"]


# --- ResponseStream ---------------------------------------------------------------------------------------


async def test_a_response_stream_is_a_queue_that_a_provider_pushes_into() -> None:
    stream = ResponseStream()
    stream.push(StreamStart(partial=pending("")))
    assert not stream.closed
    final = assistant("whole")
    stream.push(StreamDone(reason="stop", message=final))
    assert stream.closed
    stream.push(delta("ignored"))
    stream.end(assistant("ignored"))
    assert [event.type async for event in stream] == ["start", "done"]
    assert await stream.result() is final


async def test_a_reader_waits_for_what_is_pushed() -> None:
    stream = ResponseStream()
    read: list[str] = []

    async def reader() -> None:
        async with stream as events:
            async for event in events:
                read.append(event.type)  # noqa: PERF401 - one by one is the point
        read.append("end")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        await trio.testing.wait_all_tasks_blocked()
        stream.push(StreamStart(partial=pending("")))
        await trio.testing.wait_all_tasks_blocked()
        assert read == ["start"]
        stream.push(StreamError(reason="error", error=assistant(stop_reason="error")))
    assert read == ["start", "error", "end"]
    assert stream.closed


async def test_a_result_is_waited_for() -> None:
    stream = ResponseStream()
    results: list[Any] = []

    async def reader() -> None:
        results.append(await stream.result())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        await trio.testing.wait_all_tasks_blocked()
        assert results == []
        stream.end()
    assert results == [None]


async def test_a_failed_stream_raises_behind_its_events() -> None:
    stream = ResponseStream()
    stream.push(StreamStart(partial=pending("")))
    stream.fail(OSError("gone"))
    stream.fail(OSError("ignored"))
    agent = Agent(model=MODEL, stream_fn=lambda *args: stream)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    check(heard.events)
    assert outcome.error_message == "gone"
    assert heard.briefs[4:] == ["message_start assistant", "message_end assistant", "turn_end", "agent_end"]


async def test_leaving_a_response_stream_closes_it() -> None:
    stream = ResponseStream()
    async with stream:
        pass
    assert stream.closed
    stream.push(delta("too late"))
    assert [event async for event in stream] == []


async def test_a_cancelled_read_takes_no_event() -> None:
    stream = ResponseStream()
    stream.push(delta("kept"))
    with trio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    assert scope.cancelled_caught
    assert await anext(stream) == delta("kept")
