"""The frame of all adapters: a stream of one response, out of a request that is made and an answer that is read."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager

import attrs
import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.agent.agent import Agent
from pi_trio.events import StreamDone, StreamError
from pi_trio.messages import Model
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import Exchange, ResponseFailedError, Wording
from pi_trio.models.http import PostRequest
from pi_trio.models.request_options import ProviderOptions, provider_options
from pi_trio.models.sse_exchange import final_payload, json_content, open_sse

from .http_server import head, refusal, serving

MODEL = Model.unknown()
WORDING = Wording(
    status=lambda refused: f"refused: {refused.status} {refused.body}",
    aborted={"answer": "aborted in answer", "body": "aborted in body", "nothing": "aborted"},
)


class EchoReader:
    """Each event is a piece of text; `!x` fails, `?` cannot be read, `-` says nothing."""

    def __init__(self):
        self.builder = ResponseBuilder(MODEL, timestamp=1)

    def start(self):
        return [self.builder.start(), self.builder.text_start()]

    def parse(self, raw):
        if raw.data == "?":
            raise ResponseFailedError("cannot be read")
        return None if raw.data == "-" else raw.data

    def feed(self, event):
        if event.startswith("!"):
            raise ResponseFailedError(event[1:])
        if event == "bug":
            raise ZeroDivisionError("a bug")
        return [self.builder.text_delta(event)]

    def end(self):
        return [self.builder.text_end(), self.builder.done("stop")]

    def fail(self, text, aborted):
        return [self.builder.error(text, reason="aborted" if aborted else "error")]


def exchange(server, **fields):
    options = ProviderOptions(**fields)

    @asynccontextmanager
    async def opening():
        body = await final_payload({"a": 1}, model=MODEL, options=options, stream=True)
        request = PostRequest(url=server.url, headers={}, content=json_content(body))
        async with open_sse(request, model=MODEL, options=options) as answer:
            yield answer

    return Exchange(opening, EchoReader(), model=MODEL, options=options, wording=WORDING)


async def told(server, **fields):
    async with exchange(server, **fields) as stream:
        events = [event async for event in stream]
        last = events[-1]
        assert isinstance(last, (StreamDone, StreamError))
        assert await stream.result() is (last.message if isinstance(last, StreamDone) else last.error)
        return events


def sse(*texts):
    return "".join(f"data: {text}\n\n" for text in texts).encode()


async def test_a_response():
    async with serving([head(), sse("a", "-"), sse("b", "c")]) as server:
        events = await told(server)
    assert [event.type for event in events] == [
        *("start", "text_start", "text_delta", "text_delta", "text_delta", "text_end", "done")
    ]
    assert events[-1].message.text == "abc"
    assert events[3].partial.text == "ab"


async def test_the_request_is_made_when_the_first_event_is_asked_for():
    async with serving([head()]) as server:
        async with exchange(server):
            await trio.testing.wait_all_tasks_blocked(0.01)
        assert server.requests == []


async def test_the_result_needs_no_reader():
    async with serving([head(), sse("a")]) as server, exchange(server) as stream:
        assert (await stream.result()).text == "a"
        assert [event.type async for event in stream][-1] == "done"


async def test_a_second_reader_is_refused():
    async with (
        serving([head(), sse("a"), trio.Event()]) as server,
        exchange(server) as stream,
        trio.open_nursery() as nursery,
    ):

        @nursery.start_soon
        async def _read():
            async for _ in stream:
                pass

        await trio.testing.wait_all_tasks_blocked(0.01)
        with pytest.raises(trio.BusyResourceError):
            await stream.result()
        with pytest.raises(trio.BusyResourceError):
            await anext(stream)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (refusal(429, "busy"), "refused: 429 busy"),
        ([], "Connection error."),
        ([head(), sse("a", "!broken", "b")], "broken"),
        ([head(), sse("a", "?", "b")], "cannot be read"),
        ([head(content_length="1000"), sse("a")], "terminated"),
    ],
)
async def test_whatever_goes_wrong_is_the_last_event(script, text):
    async with serving(script) as server:
        events = await told(server)
        assert events[-1].type == "error"
        assert (events[-1].reason, events[-1].error.stop_reason) == ("error", "error")
        assert events[-1].error.error_message == text
        assert events[-1].error.text == ("a" if len(script) > 1 and b"data" in script[-1] else "")


async def test_a_fault_of_ours_is_the_last_event_and_is_logged(caplog):
    async with serving([head(), sse("a", "bug", "b"), trio.Event()]) as server:
        events = await told(server)
        assert (events[-1].error.error_message, events[-1].error.text) == ("a bug", "a")
        await server.until(lambda it: it.closed == 1)
    (record,) = caplog.records
    assert (record.levelno, record.exc_info[0]) == (logging.ERROR, ZeroDivisionError)


# --- aborts and cancellations -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "text"),
    [([trio.Event()], "aborted in answer"), ([head(), sse("a"), trio.Event()], "aborted in body")],
)
async def test_an_abort_is_the_last_event_and_closes_the_socket(script, text):
    controller = AbortController()
    async with serving(script) as server, trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _abort():
            await trio.testing.wait_all_tasks_blocked(0.01)
            controller.abort()

        events = await told(server, signal=controller.signal)
        assert (events[-1].reason, events[-1].error.error_message) == ("aborted", text)
        await server.until(lambda it: it.closed == 1)


async def test_an_abort_between_two_reads_keeps_what_was_read():
    controller = AbortController()
    async with serving([head(), sse("a", "b"), trio.Event()]) as server:
        async with exchange(server, signal=controller.signal) as stream:
            events = []
            async for event in stream:
                events.append(event)
                if event.type == "text_delta":
                    controller.abort()
        assert (events[-1].reason, events[-1].error.error_message) == ("aborted", "aborted")
        assert events[-1].error.text == "ab"


async def test_an_abort_when_all_was_said_counts():
    controller = AbortController()
    script = [head(content_length=str(len(sse("a")))), sse("a")]
    async with serving(script) as server, exchange(server, signal=controller.signal) as stream:
        events = []
        async for event in stream:
            events.append(event)
            if event.type == "text_delta":
                controller.abort()
    assert events[-1].reason == "aborted"


@pytest.mark.parametrize("script", [[trio.Event()], [head(), sse("a"), trio.Event()]])
async def test_a_cancelled_wait_is_passed_on_and_the_response_has_failed(script):
    async with serving(script) as server:
        async with exchange(server) as stream:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:

                    @nursery.start_soon
                    async def _cancel():
                        await trio.testing.wait_all_tasks_blocked(0.01)
                        scope.cancel()

                    async for _ in stream:
                        pass
            assert scope.cancelled_caught
            last = [event async for event in stream][-1]
            assert (last.reason, last.error.error_message) == ("error", "Reading the response was cancelled")
        await server.until(lambda it: it.closed == 1)


@pytest.mark.parametrize("count", range(4))
async def test_leaving_early_closes_the_socket(count):
    async with serving([head(), sse("a", "b"), trio.Event()]) as server:
        async with exchange(server) as stream:
            for _ in range(count):
                await anext(stream)
        if count:
            await server.until(lambda it: it.closed == 1)


async def test_a_stream_can_be_cancelled_at_each_event():
    async with serving([head(), sse(*"abcdef")]) as server, exchange(server) as stream:
        with trio.CancelScope() as scope:
            async for event in stream:
                if event.type == "text_delta":
                    scope.cancel()
        assert event.delta == "a"
        assert (await stream.result()).text == "abcdef"


# --- hooks ------------------------------------------------------------------------------------------------


async def test_hooks_in_their_order():
    seen = []

    def on_payload(body, model):
        seen.append(("payload", body, model))
        return {"b": 2, "stream": False}

    async def on_response(response, model):
        await trio.lowlevel.checkpoint()
        seen.append(("response", response["status"], response["headers"]["x-id"], model))

    async def on_event(event, model):
        await trio.lowlevel.checkpoint()
        seen.append(("event", event, model))

    async with serving([head(x_id="7"), sse("a", "-", "b")]) as server:
        events = await told(
            server, on_payload=on_payload, on_response=on_response, on_provider_stream_event=on_event
        )
        assert server.requests[0].body == b'{"b":2,"stream":true}'
    assert seen == [
        ("payload", {"a": 1}, MODEL),
        ("response", 200, "7", MODEL),
        ("event", "a", MODEL),
        ("event", "b", MODEL),
    ]
    assert events[-1].message.text == "ab"


async def test_a_hook_that_takes_its_time_holds_back_nothing_that_came_before():
    gate = trio.Event()

    async def on_event(event, model):
        if event == "b":
            await gate.wait()

    script = [head(), sse("a", "b")]
    async with serving(script) as server, exchange(server, on_provider_stream_event=on_event) as stream:
        async for event in stream:
            if event.type == "text_delta":
                assert gate.is_set() == (event.delta == "b")
                gate.set()


@pytest.mark.parametrize("hook", ["on_payload", "on_response", "on_provider_stream_event"])
async def test_an_abort_ends_the_wait_for_a_hook(hook):
    controller = AbortController()

    async def never(*arguments):
        controller.abort()
        await trio.sleep_forever()

    async with serving([head(), sse("a")]) as server:
        events = await told(server, signal=controller.signal, **{hook: never})
    assert (events[-1].reason, events[-1].error.error_message) == ("aborted", "aborted")


@pytest.mark.parametrize("hook", ["on_payload", "on_response", "on_provider_stream_event"])
async def test_what_a_hook_raises_is_the_last_event(hook, caplog):
    def fails(*arguments):
        raise LookupError("hook")

    async with serving([head(), sse("a")]) as server:
        events = await told(server, **{hook: fails})
    assert (events[-1].reason, events[-1].error.error_message) == ("error", "hook")
    assert len(caplog.records) == 1


async def test_raw_events_are_shown_by_the_releases_that_do():
    seen = []
    for dialect in (DIALECT_0_85_0, DIALECT_1_0_3):
        async with serving([head(), sse("a")]) as server:
            await told(server, dialect=dialect, on_provider_stream_event=lambda *it: seen.append(it))
    assert len(seen) == 1


@pytest.mark.parametrize(("dialect", "duration"), [(DIALECT_1_0_3, None), (DIALECT_1_6_0, 1250)])
@pytest.mark.parametrize("script", [[head()], []])
async def test_the_time_is_told_by_the_releases_that_do(dialect, duration, script, mock_clock):
    async with serving(script) as server:
        stream = exchange(server, dialect=dialect, on_payload=lambda *_: mock_clock.jump(1.25))
        mock_clock.jump(1)  # nobody has asked for anything yet
        async with stream:
            last = [event async for event in stream][-1]
    message = last.message if isinstance(last, StreamDone) else last.error
    assert message.duration_ms == duration


# --- in an agent ------------------------------------------------------------------------------------------


async def test_an_agent_reads_it():
    async with serving([head(), sse(*"abc")]) as server:
        agent = Agent(stream_fn=lambda model, context, options: exchange(server))
        result = await agent.prompt("Hi")
    assert result.text == "abc"


@pytest.mark.parametrize("mode", ["cancel", "signal"])
async def test_an_agent_aborts_it(mode):
    async with serving([head(), sse("a"), trio.Event()]) as server:

        def stream_fn(model, context, options):
            return exchange(server, **attrs.asdict(provider_options(options), recurse=False))

        agent = Agent(stream_fn=stream_fn, abort_mode=mode)
        agent.subscribe(
            lambda event, signal: (
                agent.abort() if event.type == "message_update" and event.message.text else None
            )
        )
        result = await agent.prompt("Hi")
        assert (result.stop_reason, result.text) == ("aborted", "a")
        await server.until(lambda it: it.closed == 1)


async def test_a_cancelled_agent_closes_the_socket():
    async with serving([head(), sse("a"), trio.Event()]) as server:
        agent = Agent(stream_fn=lambda model, context, options: exchange(server))
        with trio.CancelScope() as scope:
            agent.subscribe(lambda event, signal: scope.cancel() if event.type == "message_update" else None)
            await agent.prompt("Hi")
        assert scope.cancelled_caught
        await server.until(lambda it: it.closed == 1)
