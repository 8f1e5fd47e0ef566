"""One scripted response as it is read: its abort, its pace, its end."""

from __future__ import annotations

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import assert_checkpoints, wait_all_tasks_blocked

from pi_trio.abort import AbortController
from pi_trio.models.scripted import ScriptedProvider, assistant, text, tool_call

from .telling import message_of, opened, responses, told, whole

# --- abort ------------------------------------------------------------------------------------------------


async def aborted_at(provider, number):
    """The events of a response whose abort is raised when `number` of them have been read."""
    controller = AbortController()
    events = []
    async with opened(provider, signal=controller.signal) as stream:
        if not number:
            controller.abort()
        async for event in stream:
            events.append(event)
            if len(events) == number:
                controller.abort()
        assert await stream.result() is (
            events[-1].message if events[-1].type == "done" else events[-1].error
        )
    return events


@pytest.mark.parametrize(
    ("number", "types", "content"),
    [
        (0, "error", ()),
        (1, "start error", ()),
        (2, "start text_start error", ("",)),
        (3, "start text_start text_delta error", ("Hell",)),
        (4, "start text_start text_delta text_delta text_end error", ("Hello",)),
        (5, "start text_start text_delta text_delta text_end error", ("Hello",)),
    ],
)
async def test_abort(number, types, content):
    message = assistant("Hello", "world", timestamp=1)
    events = await aborted_at(ScriptedProvider([message], token_size=(1, 1)), number)
    assert [event.type for event in events] == types.split()
    error = events[-1]
    assert error.reason == "aborted"
    assert error.error.stop_reason == "aborted"
    assert error.error.error_message == "Request was aborted"
    assert error.error.content == tuple(map(text, content))
    assert error.error.timestamp > 1


async def test_an_abort_after_the_last_delta_is_too_late():
    assert (await aborted_at(whole(assistant("Hello")), 3))[-1].type == "done"


async def test_an_abort_does_not_cut_a_delay_short(autojump_clock):
    controller = AbortController()
    began = trio.current_time()

    async def abort_later():
        await trio.sleep(3)
        controller.abort()

    provider = whole(assistant("x" * 40), tokens_per_second=1)
    async with opened(provider, signal=controller.signal) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(abort_later)
        assert [event.type async for event in stream] == ["start", "text_start", "error"]
    assert trio.current_time() - began == 10


# --- pace -------------------------------------------------------------------------------------------------


async def test_deltas_come_at_their_pace(autojump_clock):
    began = trio.current_time()
    provider = ScriptedProvider(
        [assistant("x" * 10, tool_call("f", {"a": 1}))], token_size=(1, 1), tokens_per_second=2
    )
    async with opened(provider) as stream:
        times = [(event.type, trio.current_time() - began) async for event in stream]
    assert times == [
        ("start", 0),
        ("text_start", 0),
        ("text_delta", 0.5),
        ("text_delta", 1),
        ("text_delta", 1.5),
        ("text_end", 1.5),
        ("toolcall_start", 1.5),
        ("toolcall_delta", 2),
        ("toolcall_delta", 2.5),
        ("toolcall_end", 2.5),
        ("done", 2.5),
    ]


@pytest.mark.parametrize("pace", [None, 0, -1])
async def test_no_pace_is_no_delay(pace, autojump_clock):
    began = trio.current_time()
    await told(ScriptedProvider([assistant("x" * 1000)], tokens_per_second=pace))
    assert trio.current_time() == began


async def test_duration_of_a_response_that_is_made_on_request(autojump_clock):
    async def step(*_):
        await trio.sleep(2)
        return assistant("x" * 40)

    assert (await message_of(whole(step, tokens_per_second=10))).duration_ms == 3000


async def test_duration_of_errors_and_aborts(autojump_clock):
    async def step(*_):
        await trio.sleep(2)
        raise ValueError("late")

    assert (await message_of(ScriptedProvider([step]))).duration_ms == 2000
    assert (await message_of(ScriptedProvider())).duration_ms == 0
    (error,) = await aborted_at(ScriptedProvider([assistant("Hi")]), 0)
    assert error.error.duration_ms == 0


async def test_a_message_that_is_older_than_the_request_has_no_duration():
    old = assistant("Hi", timestamp=1)
    assert (await message_of(ScriptedProvider([lambda *_: old]))).duration_ms is None
    assert (await message_of(ScriptedProvider([assistant("Hi")]))).duration_ms is None


async def test_a_duration_that_is_there_stays():
    known = attrs.evolve(assistant("Hi"), duration_ms=12)
    provider = ScriptedProvider([lambda *_: attrs.evolve(assistant("Hi"), duration_ms=12), known])
    assert (await message_of(provider)).duration_ms == 12
    assert (await message_of(provider)).duration_ms == 12


# --- reading ----------------------------------------------------------------------------------------------


async def test_reading_is_a_checkpoint():
    async with opened(whole(assistant("Hi"))) as stream:
        for _ in range(5):
            with assert_checkpoints():
                await anext(stream)
        with assert_checkpoints(), pytest.raises(StopAsyncIteration):
            await anext(stream)
        with assert_checkpoints():
            await stream.result()


@given(responses, st.data())
async def test_cancelling_a_read_loses_no_event(message, data):
    message = attrs.evolve(message, duration_ms=0)
    expected = await told(ScriptedProvider([message]))
    events = []
    async with opened(ScriptedProvider([message])) as stream:
        while True:
            if data.draw(st.booleans()):
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await (anext(stream) if data.draw(st.booleans()) else stream.result())
                assert scope.cancelled_caught
            try:
                events.append(await anext(stream))
            except StopAsyncIteration:
                break
    assert events == expected


async def test_cancelled_in_a_delay_the_delta_comes_with_the_next_read(autojump_clock):
    async with opened(whole(assistant("x" * 40), tokens_per_second=1)) as stream:
        await anext(stream)
        await anext(stream)
        with trio.move_on_after(5) as scope:
            await anext(stream)
        assert scope.cancelled_caught
        assert (await anext(stream)).type == "text_delta"
        assert [event.type async for event in stream] == ["text_end", "done"]


async def test_result_reads_on_and_keeps_the_events():
    expected = await told(whole(assistant("Hi", timestamp=1)))
    async with opened(whole(assistant("Hi", timestamp=1))) as stream:
        first = await anext(stream)
        message = await stream.result()
        assert [first, *[event async for event in stream]] == expected
        assert message is await stream.result()
        assert message == expected[-1].message


async def test_result_of_a_failure():
    async with opened(ScriptedProvider()) as stream:
        assert (await stream.result()).stop_reason == "error"


async def test_a_stream_that_was_left_is_at_its_end():
    async with opened(whole(assistant("Hi"))) as stream:
        await anext(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    assert await stream.result() is None


async def test_one_reader_at_a_time(autojump_clock):
    async with opened(whole(assistant("Hi"), tokens_per_second=1)) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(stream.result)
        await wait_all_tasks_blocked()
        assert (await anext(stream)).type == "start"
        assert (await anext(stream)).type == "text_start"
        with pytest.raises(trio.BusyResourceError):
            await anext(stream)
        with pytest.raises(trio.BusyResourceError):
            await stream.result()
