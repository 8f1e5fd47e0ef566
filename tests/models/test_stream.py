"""The queue that a provider pushes a response's events into."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import assert_checkpoints, wait_all_tasks_blocked

from pi_trio.events import StreamDone, StreamError, StreamStart, TextDelta, TextStart
from pi_trio.messages import AssistantMessage
from pi_trio.models.scripted import assistant
from pi_trio.models.stream import ResponseStream

BEGUN = assistant(stop_reason="pending", timestamp=0)
WHOLE = assistant("Hello", timestamp=0)
FAILED = assistant(stop_reason="error", error_message="overloaded", timestamp=0)
OTHER = assistant("Other", timestamp=0)

START = StreamStart(partial=BEGUN)
TEXT_START = TextStart(content_index=0, partial=BEGUN)
DONE = StreamDone(reason="stop", message=WHOLE)
ERROR = StreamError(reason="error", error=FAILED)


def delta(text: str) -> TextDelta:
    return TextDelta(content_index=0, delta=text, partial=BEGUN)


async def rest(stream: ResponseStream) -> list[object]:
    return [event async for event in stream]


@pytest.mark.parametrize(("last", "message"), [(DONE, WHOLE), (ERROR, FAILED)])
async def test_a_last_event_closes_and_decides(last, message):
    stream = ResponseStream()
    stream.push(START)
    assert not stream.closed
    stream.push(last)
    assert stream.closed
    assert await stream.result() is message
    assert await rest(stream) == [START, last]


async def test_what_comes_after_the_last_event_is_ignored():
    stream = ResponseStream()
    stream.push(DONE)
    stream.push(ERROR)
    stream.push(TEXT_START)
    stream.end(OTHER)
    stream.fail(ValueError("late"))
    assert await rest(stream) == [DONE]
    assert await stream.result() is WHOLE


async def test_end_with_a_result_leaves_queued_events_to_be_read():
    stream = ResponseStream()
    stream.push(START)
    stream.end(WHOLE)
    stream.push(TEXT_START)
    assert await stream.result() is WHOLE
    assert await rest(stream) == [START]


async def test_end_without_a_result_gives_none():
    stream = ResponseStream()
    stream.push(START)
    stream.end()
    assert await rest(stream) == [START]
    assert await stream.result() is None


async def test_the_end_comes_again_and_again():
    stream = ResponseStream()
    stream.end()
    assert await rest(stream) == []
    assert await rest(stream) == []


async def test_fail_raises_after_the_queued_events():
    stream = ResponseStream()
    stream.push(START)
    stream.fail(ValueError("broken"))
    stream.push(DONE)
    assert await anext(stream) is START
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            await anext(stream)
    assert await stream.result() is None


async def test_a_reader_that_waits_gets_the_event():
    stream = ResponseStream()
    got: list[object] = []

    async def read() -> None:
        got.extend(await rest(stream))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        for number, event in enumerate((START, TEXT_START, delta("a"), DONE), 1):
            await wait_all_tasks_blocked()
            stream.push(event)
            await wait_all_tasks_blocked()
            assert len(got) == (0 if number < 4 else 4)
    assert got == [START, TEXT_START, delta("a"), DONE]


@pytest.mark.parametrize("close", [lambda s: s.end(), lambda s: s.push(DONE), lambda s: s.fail(ValueError())])
async def test_closing_wakes_readers_and_those_who_wait_for_the_result(close):
    stream = ResponseStream()
    results: list[AssistantMessage | None] = []
    ends: list[str] = []

    async def wait() -> None:
        results.append(await stream.result())

    async def read() -> None:
        try:
            ends.append("read" if await anext(stream) else "")
        except StopAsyncIteration:
            ends.append("end")
        except ValueError:
            ends.append("error")

    async with trio.open_nursery() as nursery:
        for task in (wait, wait, read):
            nursery.start_soon(task)
        await wait_all_tasks_blocked()
        assert not results
        assert not ends
        close(stream)
    assert len(results) == 2
    assert len(ends) == 1


async def test_two_readers_share_the_events():
    stream = ResponseStream()
    got: list[object] = []

    async def read() -> None:
        got.extend(await rest(stream))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        for event in (START, TEXT_START, DONE):
            stream.push(event)
            await wait_all_tasks_blocked()
    assert len(got) == 3


async def test_reading_is_a_checkpoint():
    stream = ResponseStream()
    stream.push(START)
    stream.push(DONE)
    for _ in range(2):
        with assert_checkpoints():
            await anext(stream)
    with assert_checkpoints(), pytest.raises(StopAsyncIteration):
        await anext(stream)
    with assert_checkpoints():
        await stream.result()


async def test_cancelling_a_read_takes_no_event():
    stream = ResponseStream()
    stream.push(START)
    with trio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    assert scope.cancelled_caught
    assert await anext(stream) is START


async def test_cancelling_a_reader_that_waits_takes_no_event():
    stream = ResponseStream()
    scope = trio.CancelScope()

    async def read() -> None:
        with scope:
            await anext(stream)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        scope.cancel()
    stream.push(START)
    assert await anext(stream) is START


async def test_an_event_and_a_cancellation_at_once_lose_nothing():
    stream = ResponseStream()
    scope = trio.CancelScope()
    got: list[object] = []

    async def read() -> None:
        with scope:
            got.append(await anext(stream))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        stream.push(START)
        scope.cancel()
    stream.push(DONE)
    assert [*got, *await rest(stream)] == [START, DONE]


async def test_leaving_the_context_closes():
    async with ResponseStream() as stream:
        stream.push(START)
    assert stream.closed
    stream.push(DONE)
    assert await rest(stream) == [START]
    assert await stream.result() is None


async def test_leaving_the_context_does_not_take_a_result_back():
    async with ResponseStream() as stream:
        stream.push(DONE)
    assert await stream.result() is WHOLE


PUSHES = {"start": START, "delta": delta("x"), "done": DONE, "error": ERROR}


@given(st.lists(st.sampled_from(["start", "delta", "done", "error", "end", "end with a result"])))
async def test_first_result_decides(names):
    results = {"done": WHOLE, "error": FAILED, "end with a result": OTHER}
    stream = ResponseStream()
    expected: list[object] = []
    result: AssistantMessage | None = None
    closed = False
    for name in names:
        if name in PUSHES:
            stream.push(PUSHES[name])
            if not closed:
                expected.append(PUSHES[name])
        else:
            stream.end(results.get(name))
        # A push on a closed stream is lost; `end` may still bring the result that an earlier `end` did not.
        if result is None and not (closed and name in PUSHES):
            result = results.get(name)
        closed = closed or name not in ("start", "delta")
        assert stream.closed is closed
    stream.end()
    assert await rest(stream) == expected
    assert await stream.result() is result
