"""The events of a scripted response: their order, their chunks, their partials."""

from __future__ import annotations

import random
from functools import partial

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.events import (
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from pi_trio.jsontext import print_json
from pi_trio.messages import (
    TextContent,
    ThinkingContent,
    ToolCall,
)
from pi_trio.models.scripted import ScriptedProvider, assistant, thinking, tool_call
from pi_trio.models.scripted_events import RandomCut, response_events
from pi_trio.tools.js_value import utf16_length

from .telling import opened, responses, told, whole


def text_of(event):
    return "".join(block.text for block in event.partial.content)


async def test_text_is_told_in_chunks():
    events = await told(ScriptedProvider([assistant("Hello world!", timestamp=1)], token_size=(1, 1)))
    assert [event.type for event in events] == [
        "start",
        "text_start",
        "text_delta",
        "text_delta",
        "text_delta",
        "text_end",
        "done",
    ]
    assert [event.delta for event in events[2:5]] == ["Hell", "o wo", "rld!"]
    assert [text_of(event) for event in events[:6]] == [
        "",
        "",
        "Hell",
        "Hello wo",
        "Hello world!",
        "Hello world!",
    ]
    assert events[5].content == "Hello world!"
    assert events[6].reason == "stop"


async def test_every_kind_of_block():
    call = tool_call("add", {"a": 2, "b": [3]}, id="c1")
    events = await told(whole(assistant(thinking("Hm."), "So:", call, stop_reason="toolUse")))
    assert [type(event) for event in events] == [
        StreamStart,
        *(ThinkingStart, ThinkingDelta, ThinkingEnd),
        *(TextStart, TextDelta, TextEnd),
        *(ToolCallStart, ToolCallDelta, ToolCallEnd),
        StreamDone,
    ]
    assert [event.content_index for event in events[1:-1]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert events[8].delta == '{"a":2,"b":[3]}'
    assert events[9].tool_call == call
    assert events[10].reason == "toolUse"


async def test_arguments_grow():
    call = tool_call("write", {"path": "main.py", "text": "x = 1"})
    events = await told(ScriptedProvider([assistant(call)], token_size=(3, 3)))
    grown = [event.partial.content[0].arguments for event in events if isinstance(event, ToolCallDelta)]
    assert grown == [{"path": "mai"}, {"path": "main.py"}, {"path": "main.py", "text": "x = 1"}]


@pytest.mark.parametrize("content", ["", thinking(""), tool_call("f")])
async def test_an_empty_block_has_one_delta(content):
    events = await told(ScriptedProvider([assistant(content)]))
    assert len(events) == 5
    assert events[2].delta == ("{}" if isinstance(content, ToolCall) else "")


async def test_no_blocks():
    assert [event.type for event in await told(ScriptedProvider([assistant()]))] == ["start", "done"]


def grammar_of(message):
    """What must be told of a message, each block's deltas as one."""
    expected = ["start"]
    for block in message.content:
        kind = {"text": "text", "thinking": "thinking", "toolCall": "toolcall"}[block.type]
        expected += [f"{kind}_start", f"{kind}_delta", f"{kind}_end"]
    return [*expected, "done"]


def written(block):
    match block:
        case TextContent():
            return block.text
        case ThinkingContent():
            return block.thinking
    return print_json(block.arguments)


@given(responses, st.integers(1, 6))
async def test_events_of_any_message(message, tokens):
    events = await told(ScriptedProvider([message], token_size=(1, tokens)))
    types = [event.type for event in events]
    assert [kind for kind, last in zip(types, [None, *types], strict=False) if kind != last] == grammar_of(
        message
    )
    for index, block in enumerate(message.content):
        own = [event for event in events[1:-1] if event.content_index == index]
        assert "".join(event.delta for event in own[1:-1]) == written(block)
        for event in own:
            assert len(event.partial.content) == index + 1
            # What is complete is shared between all partials, and does not change any more.
            assert all(
                a is b for a, b in zip(event.partial.content[:index], last_of(events, index), strict=True)
            )
        assert written(own[-1].partial.content[index]) == written(block)
    for event in events[:-1]:
        assert event.partial.stop_reason == "pending"
        assert attrs.evolve(event.partial, content=(), stop_reason="stop") == attrs.evolve(
            events[-1].message, content=()
        )
    assert events[-1].message.content == message.content


def last_of(events, index):
    """The blocks before `index`, as they were when the last of them ended."""
    return [event for event in events[:-1] if len(event.partial.content) == index][-1].partial.content


@given(responses)
async def test_partials_are_values_of_their_own(message):
    provider = ScriptedProvider([message], token_size=(1, 1))
    async with opened(provider) as stream:
        seen = [(event, repr(event)) async for event in stream]
    assert all(repr(event) == before for event, before in seen)


@given(st.text(st.sampled_from("aé😀🎉"), max_size=60), st.integers(1, 3), st.integers(0, 2))
def test_chunks(content, least, more):
    chunks = list(RandomCut(least, least + more, random.Random(1))(content))
    assert "".join(chunks) == content
    assert chunks
    for chunk in chunks[:-1]:
        # A chunk is full, or the next character is a pair that would have been cut.
        assert utf16_length(chunk) in range(least * 4 - 1, (least + more) * 4 + 1)
    assert all(chunk or not content for chunk in chunks)


async def test_a_pair_is_not_cut():
    events = await told(ScriptedProvider([assistant("abc😀def")], token_size=(1, 1)))
    assert [event.delta for event in events if isinstance(event, TextDelta)] == ["abc", "😀de", "f"]


async def chunks_of(provider):
    return [event.delta for event in await told(provider) if isinstance(event, TextDelta)]


async def test_chunks_are_the_same_in_every_run():
    message = assistant("word " * 100)
    first = ScriptedProvider([message] * 2)
    second = ScriptedProvider([message] * 2)
    other = ScriptedProvider([message] * 2, random=random.Random(7))
    one, two = await chunks_of(first), await chunks_of(first)
    assert [await chunks_of(second), await chunks_of(second)] == [one, two]
    assert one != two
    assert await chunks_of(other) != one
    assert {len(chunk) for chunk in one[:-1]} == {12, 16, 20}


async def test_chunks_do_not_depend_on_other_responses():
    message = assistant("word " * 100)
    one_by_one = ScriptedProvider([message] * 2)
    expected = [await chunks_of(one_by_one), await chunks_of(one_by_one)]
    together = ScriptedProvider([message] * 2)
    first, second = opened(together), opened(together)
    deltas = ([], [])
    ended = 0
    while ended < 2:
        ended = 0
        for stream, got in zip((second, first), deltas[::-1], strict=True):
            event = await anext(stream, None)
            ended += event is None
            got += [event.delta] if isinstance(event, TextDelta) else []
    assert list(deltas) == expected


@pytest.mark.parametrize(
    ("size", "lengths"),
    [((0, 0), {4}), ((-3, 1), {4}), ((2, 1), {4}), ((2, 2), {8}), ((5, 0), {4})],
)
async def test_token_sizes_that_make_no_sense_are_put_right(size, lengths):
    chunks = await chunks_of(ScriptedProvider([assistant("x" * 80)], token_size=size))
    assert {len(chunk) for chunk in chunks} == lengths


def test_events_of_a_message_need_no_provider():
    events = list(response_events(assistant("Hi"), partial(str.split, sep="i")))
    assert [event.delta for event in events if isinstance(event, TextDelta)] == ["H", ""]
    assert isinstance(list(response_events(assistant(stop_reason="error"), str.split))[-1], StreamError)
