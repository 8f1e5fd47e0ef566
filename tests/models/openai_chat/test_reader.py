"""What chunks mean. The comparison with real Pi is under tests/upstream/transport."""

from __future__ import annotations

import json

import pytest

from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.openai_chat.reader import ABORTED, ChatReader

from ..modelling import model
from .chunks import CHAT, call, delta, read, reader, types


def test_a_text():
    events = read(delta(role="assistant", content=""), delta(content="he"), delta(content="y"), delta("stop"))
    assert types(events) == ["start", "text_start", "text_delta", "text_delta", "text_end", "done"]
    message = events[-1].message
    assert (message.text, message.stop_reason, message.raw_stop_reason) == ("hey", "stop", "stop")
    assert (message.response_id, message.response_model) == ("chatcmpl-1", None)


def test_blocks_that_alternate_are_one_each_and_end_in_their_order_when_all_is_said():
    events = read(
        delta(reasoning="a"), delta(content="b"), delta(reasoning="c"), delta(content="d"), delta("stop")
    )
    assert types(events)[-3:] == ["thinking_end", "text_end", "done"]
    thinking, text = events[-1].message.content
    assert (thinking.thinking, thinking.thinking_signature, text.text) == ("ac", "reasoning", "bd")


@pytest.mark.parametrize(
    ("dialect", "first"),
    [(DIALECT_0_85_0, "text"), (DIALECT_1_0_3, "text"), (DIALECT_1_6_0, "thinking")],
)
def test_what_comes_first_in_a_chunk_that_has_both(dialect, first):
    events = read(delta("stop", content="answer", reasoning_content="thought"), by=reader(dialect))
    assert events[1].type == f"{first}_start"


@pytest.mark.parametrize("fields", [("reasoning_content", "reasoning"), ("reasoning", "reasoning_text")])
def test_reasoning_that_is_told_twice_counts_once(fields):
    events = read(delta("stop", **dict.fromkeys(fields, "thought")))
    (block,) = events[-1].message.content
    assert (block.thinking, block.thinking_signature) == ("thought", fields[0])


def test_opencode_gets_its_reasoning_back_in_another_field():
    events = read(delta("stop", reasoning="x"), by=reader(asked=model(provider="opencode-go")))
    assert events[-1].message.content[0].thinking_signature == "reasoning_content"


def test_parallel_calls_by_their_numbers():
    events = read(
        delta(tool_calls=[call(0, "c0", "read", "")]),
        delta(tool_calls=[call(1, "c1", "bash", '{"c"'), call(0, arguments='{"path":')]),
        delta(tool_calls=[call(0, arguments='"a"}')]),
        delta(tool_calls=[call(1, arguments=":1}")]),
        delta("tool_calls"),
    )
    assert types(events)[1:4] == ["toolcall_start", "toolcall_delta", "toolcall_start"]
    assert events[2].delta == ""
    calls = events[-1].message.content
    assert [(each.id, each.name, each.arguments) for each in calls] == [
        ("c0", "read", {"path": "a"}), ("c1", "bash", {"c": 1}),
    ]  # fmt: skip
    assert events[-1].reason == "toolUse"


def test_calls_without_numbers_by_their_ids():
    events = read(
        delta(tool_calls=[call(None, "a", "read", "{}"), call(None, "b", "read", "{")]),
        delta(tool_calls=[call(None, "b", arguments="}")]),
        delta("stop"),
    )
    assert [each.id for each in events[-1].message.content] == ["a", "b"]
    assert events[-1].reason == "stop"  # calls or no calls: the provider's word counts


def test_an_id_and_a_name_that_come_late():
    events = read(delta(tool_calls=[call(0)]), delta(tool_calls=[call(0, "c", "read", "{}")]), delta("stop"))
    assert events[1].partial.content[0].name == ""
    assert events[3].partial.content[0].name == "read"
    assert (events[4].tool_call.id, events[4].tool_call.name) == ("c", "read")


@pytest.mark.parametrize(
    ("dialect", "arguments", "wrong"),
    [(DIALECT_0_85_0, {"p": "a"}, False), (DIALECT_1_0_3, {"p": "a"}, False), (DIALECT_1_6_0, {}, True)],
)
def test_a_call_that_was_cut_off(dialect, arguments, wrong):
    events = read(delta(tool_calls=[call(0, "c", "read", '{"p":"a')]), delta("length"), by=reader(dialect))
    (told,) = events[-1].message.content
    assert (told.arguments, bool(told.arguments_error), events[-1].reason) == (arguments, wrong, "length")


def test_arguments_that_come_as_an_object():
    events = read(delta(tool_calls=[call(0, "c", "read", {"a": [1]})]), delta("stop"))
    assert events[2].delta == '{"a":[1]}'
    assert events[-1].message.content[0].arguments == {"a": [1]}


def test_a_custom_call_has_its_text_as_an_argument():
    by = reader(DIALECT_1_0_3)
    by.grammar_parameters = {"patch": "diff"}
    events = read(
        delta(tool_calls=[{"index": 0, "id": "c", "custom": {"name": "patch", "input": ""}}]),
        delta(tool_calls=[{"index": 0, "custom": {"input": 'a "b" '}}]),
        delta(tool_calls=[{"index": 1, "id": "d", "custom": {"name": "unknown"}}]),
        delta("tool_calls"),
        by=by,
    )
    assert events[1].partial.content[0].arguments == {"diff": ""}
    assert events[3].partial.content[0].arguments == {"diff": 'a "b" '}
    deltas = [event.delta for event in events if event.type == "toolcall_delta" and event.content_index == 0]
    assert json.loads("".join(deltas)) == {"diff": 'a "b" '}
    assert [each.arguments for each in events[-1].message.content] == [{"diff": 'a "b" '}, {"input": ""}]


def test_reasoning_details_are_kept_in_the_signature():
    events = read(
        delta(reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "h", "index": 0}]),
        delta(reasoning_details=[{"type": "reasoning.text", "text": "m", "signature": "s"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "d"}, {"type": "odd"}, None]),
        delta("stop"),
    )
    assert types(events) == ["start", "thinking_start", "thinking_delta", "thinking_end", "done"]
    assert json.loads(events[-1].message.content[0].thinking_signature) == [
        {"type": "reasoning.text", "text": "hm", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "d"},
    ]


def test_details_survive_a_failure_though_no_end_is_told():
    by = reader()
    events = [
        *by.start(),
        *by.feed(delta(reasoning_details=[{"type": "reasoning.summary", "summary": "so"}])),
    ]
    events += by.fail("terminated", False)
    assert types(events) == ["start", "thinking_start", "error"]
    assert "so" in events[-1].error.content[0].thinking_signature


def test_an_abort_in_the_body_ends_the_blocks():
    by = reader()
    events = [*by.start(), *by.feed(delta(content="x")), *by.fail(ABORTED, True)]
    assert types(events)[-2:] == ["text_end", "error"]
    assert (events[-1].reason, events[-1].error.error_message) == ("aborted", ABORTED)
    assert types([*reader().fail("Request aborted", True)]) == ["error"]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("content_filter", "Provider finish_reason: content_filter"),
        ("network_error", "Provider finish_reason: network_error"),
        ("odd", "Provider finish_reason: odd"),
        (None, "Stream ended without finish_reason"),
    ],
)
def test_reasons_that_are_failures(reason, text):
    *_, last = read(delta(content="x"), delta(reason))
    assert (last.type, last.error.error_message, last.error.text) == ("error", text, "x")


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("end", "stop"),
        ("length", "length"),
        ("tool_calls", "toolUse"),
        ("function_call", "toolUse"),
    ],
)
def test_reasons(word, reason):
    assert read(delta(word))[-1].reason == reason


def test_an_endpoint_that_never_says_why():
    silent = {"supports_finish_reason": False}
    assert read(delta(content="x"), by=reader(**silent))[-1].reason == "stop"
    assert read(delta(tool_calls=[call(0, "c", "read", "{}")]), by=reader(**silent))[-1].reason == "toolUse"


def test_the_reason_is_in_the_partials_as_soon_as_it_is_known():
    *_, end, _ = read(delta(content="x"), delta("stop"))
    assert end.partial.stop_reason == "stop"


@pytest.mark.parametrize(
    "chunk",
    [None, 5, "text", [], {}, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": None}]},
     delta(content=None, tool_calls=None), delta(content=5, reasoning=["x"], reasoning_details={})],
)  # fmt: skip
def test_chunks_that_say_nothing(chunk):
    by = reader()
    by.start()
    assert list(by.feed(chunk)) == []


@pytest.mark.parametrize("calls", [{"0": {}}, "ab", [None], 5])
def test_chunks_that_cannot_be_read(calls):
    by = reader()
    by.start()
    with pytest.raises(ResponseFailedError, match="malformed"):
        list(by.feed(delta(tool_calls=calls)))


def test_who_has_answered():
    events = read(
        {"id": "", "model": ""}, {"id": "a", "model": "other"}, {"id": "b", "model": "third"}, delta("stop")
    )
    assert (events[-1].message.response_id, events[-1].message.response_model) == ("a", "other")


# --- servers that one runs oneself ------------------------------------------------------------------------


def test_llama_cpp():
    """Its thinking is in `reasoning_content`, and its last chunk tells how long everything took."""
    head = {
        "created": 1,
        "id": "chatcmpl-x",
        "model": "qwen.gguf",
        "system_fingerprint": "b1",
        "object": "chat.completion.chunk",
    }

    def told(**fields):
        return {**head, "choices": [{"finish_reason": None, "index": 0, "delta": fields}]}

    entry = {"index": 0, "id": "Xy1", "type": "function", "function": {"name": "read", "arguments": "{"}}
    last = {**head, "choices": [{"finish_reason": "tool_calls", "index": 0, "delta": {}}]}
    usage = {
        "completion_tokens": 7,
        "prompt_tokens": 20,
        "total_tokens": 27,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    events = read(
        told(role="assistant", content=None),
        told(reasoning_content="hm"),
        told(tool_calls=[entry]),
        told(tool_calls=[{"index": 0, "function": {"arguments": '"a":1}'}}]),
        last,
        {**head, "choices": [], "usage": usage, "timings": {"prompt_ms": 1.5}},
    )
    message = events[-1].message
    assert [block.type for block in message.content] == ["thinking", "toolCall"]
    assert (message.content[1].arguments, message.response_model) == ({"a": 1}, "qwen.gguf")
    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (16, 4, 7)


def test_ollama():
    """Its calls come whole, each in a chunk with a content of its own, and may all have the number 0."""

    def told(reason=None, **fields):
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": "", **fields},
            "finish_reason": reason,
        }
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    entry = {
        "id": "call_1",
        "index": 0,
        "type": "function",
        "function": {"name": "read", "arguments": '{"a":1}'},
    }
    events = read(
        told(reasoning="hm"),
        told(tool_calls=[entry]),
        told("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3}},
    )
    assert events[-1].message.content[1].arguments == {"a": 1}
    assert events[-1].message.usage.input == 3


def test_vllm():
    """It may tell the usage with each chunk, and says twice why it stops."""

    def told(reason=None, tokens=0, **fields):
        choice = {
            "index": 0,
            "delta": fields,
            "logprobs": None,
            "finish_reason": reason,
            "stop_reason": None,
            "token_ids": None,
        }
        return {
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice],
            "usage": {"prompt_tokens": 5, "total_tokens": 5 + tokens, "completion_tokens": tokens},
        }  # fmt: skip

    events = read(
        told(role="assistant", content=""),
        told(tokens=1, reasoning_content="h"),
        told(tokens=2, content="x"),
        told("stop", 3),
    )
    assert [event.partial.usage.output for event in events[1:3]] == [1, 1]
    assert events[-1].message.usage.output == 3


def test_a_reader_makes_no_copies_of_a_long_text():
    builder = ResponseBuilder(CHAT, timestamp=1)
    by = ChatReader(builder, CHAT, DIALECT_1_6_0)
    by.start()
    for _ in range(2000):
        (*_, told) = by.feed(delta(content="x" * 50))
    assert len(told.partial.content[0].text) == 100_000
