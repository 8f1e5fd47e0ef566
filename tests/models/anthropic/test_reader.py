"""What the events of an answer mean."""

from __future__ import annotations

import json

import attrs
import pytest

from pi_trio.models.anthropic.reader import AnthropicReader
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.sse import ServerSentEvent

from .asking import MODEL, model_with

ALL = (DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)


def raw(name, data):
    text = data if isinstance(data, str) else json.dumps(data)
    return ServerSentEvent(name, text, [f"event: {name}", f"data: {text}"])


def event(name, **fields):
    return raw(name, {"type": name, **fields})


def start(**fields):
    usage = {"input_tokens": 10, "output_tokens": 1}
    return event("message_start", message={"id": "msg_1", "model": "claude", "usage": usage, **fields})


def block(index, kind, **fields):
    return event("content_block_start", index=index, content_block={"type": kind, **fields})


def delta(index, kind, **fields):
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def text(index, piece):
    return delta(index, "text_delta", text=piece)


def stop(index):
    return event("content_block_stop", index=index)


def finish(reason="end_turn", usage=None, **fields):
    return [
        event("message_delta", delta={"stop_reason": reason, **fields}, usage=usage or {"output_tokens": 5}),
        event("message_stop"),
    ]


def read(*events, dialect=DIALECT_1_6_0, model=MODEL, **fields):
    """The events of the response, terminal one included."""
    reader = AnthropicReader(model, dialect, **fields)
    told = list(reader.start())
    try:
        for each in events:
            parsed = reader.parse(each)
            if parsed is not None:
                told += reader.feed(parsed)
        told += reader.end()
    except ResponseFailedError as failure:
        told += reader.fail(str(failure), False)
    return told


def message_of(*events, **fields):
    last = read(*events, **fields)[-1]
    return last.message if last.type == "done" else last.error


def shape(events):
    return [
        f"{each.type}:{each.content_index}" if hasattr(each, "content_index") else each.type
        for each in events
    ]


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.release)
def test_a_response(dialect):
    events = read(
        start(),
        event("ping"),
        block(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="s1"),
        delta(0, "signature_delta", signature="s2"),
        stop(0),
        block(1, "redacted_thinking", data="opaque"),
        stop(1),
        block(2, "text", text="pre"),
        text(2, "X"),
        stop(2),
        block(3, "tool_use", id="toolu_1", name="read", input={}),
        delta(3, "input_json_delta", partial_json='{"path":'),
        delta(3, "input_json_delta", partial_json='"a"}'),
        stop(3),
        *finish("tool_use", usage={"output_tokens": 7, "cache_read_input_tokens": None}),
        dialect=dialect,
    )
    assert shape(events) == [
        "start",
        *("thinking_start:0", "thinking_delta:0", "thinking_end:0"),
        *("thinking_start:1", "thinking_end:1"),
        *("text_start:2", "text_delta:2", "text_end:2"),
        *("toolcall_start:3", "toolcall_delta:3", "toolcall_delta:3", "toolcall_end:3"),
        "done",
    ]
    message = events[-1].message
    thinking, redacted, said, call = message.content
    assert (thinking.thinking, thinking.thinking_signature) == ("hm", "s1s2")
    assert (redacted.thinking, redacted.thinking_signature, redacted.redacted) == (
        *("[Reasoning redacted]", "opaque"),
        True,
    )
    assert (said.text, call.arguments) == ("preX", {"path": "a"})
    assert (message.stop_reason, message.raw_stop_reason, message.response_id) == (
        "toolUse",
        "tool_use",
        "msg_1",
    )
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (10, 7, 17)
    assert message.usage.cost.total == pytest.approx(10 * 3e-6 + 7 * 15e-6)


def test_a_signature_shows_as_far_as_it_has_come():
    events = read(
        start(),
        block(0, "thinking"),
        delta(0, "signature_delta", signature="s"),
        delta(0, "thinking_delta", thinking="hm"),
        raw("error", "lost"),
    )
    assert events[1].partial.content[0].thinking_signature == ""
    assert events[2].partial.content[0].thinking_signature == "s"
    assert (events[-1].error.content[0].thinking, events[-1].error.content[0].thinking_signature) == (
        "hm",
        "s",
    )


def test_blocks_may_come_side_by_side():
    events = read(
        start(),
        block(0, "text"),
        block(1, "text"),
        text(1, "b"),
        text(0, "a"),
        stop(1),
        text(0, "c"),
        stop(0),
        *finish(),
    )
    assert [each.text for each in events[-1].message.content] == ["ac", "b"]


@pytest.mark.parametrize(("dialect", "texts"), [(DIALECT_1_0_3, ["a", "b"]), (DIALECT_1_6_0, ["", "a"])])
def test_two_blocks_of_one_number(dialect, texts):
    events = [
        start(),
        block(0, "text"),
        block(0, "text"),
        text(0, "a"),
        stop(0),
        text(0, "b"),
        stop(0),
        text(0, "d"),
    ]
    assert [each.text for each in message_of(*events, *finish(), dialect=dialect).content] == texts


def test_what_is_unknown_is_overlooked():
    assert shape(
        read(
            start(),
            raw(None, {"type": "content_block_stop", "index": 0}),
            raw("message_stop", {"type": "new"}),
            raw("message_stop", "7"),
            event("brand_new"),
            block(0, "server_tool_use", id="x"),
            delta(0, "input_json_delta", partial_json="{"),
            stop(0),
            block(1, "text"),
            delta(1, "citations_delta"),
            delta(1, "thinking_delta", thinking="?"),
            text(9, "nowhere"),
            stop(9),
            stop(1),
            *finish(),
        )
    ) == ["start", "text_start:0", "text_end:0", "done"]


# --- ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop_reason", "problem"),
    [
        ("end_turn", "stop", None),
        ("pause_turn", "stop", None),
        ("stop_sequence", "stop", None),
        ("max_tokens", "length", None),
        ("tool_use", "toolUse", None),
        ("refusal", "error", "The model refused to complete the request"),
        ("sensitive", "error", "Provider stopped with: sensitive"),
        ("odd", "error", "Unhandled stop reason: odd"),
    ],
)
def test_why_it_has_stopped(reason, stop_reason, problem):
    message = message_of(start(), *finish(reason))
    assert (message.stop_reason, message.error_message, message.raw_stop_reason) == (
        stop_reason,
        problem,
        reason,
    )


def test_a_refusal_may_be_explained():
    message = message_of(start(), *finish("refusal", stop_details={"explanation": "No."}))
    assert message.error_message == "No."


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], "Anthropic stream ended without a stop reason"),
        ([start()], "Anthropic stream ended before message_stop"),
        ([start(), event("message_stop")], "Anthropic stream ended without a stop reason"),
        ([start(), finish()[0]], "Anthropic stream ended before message_stop"),
        ([start(), raw("error", '{"type":"error"}')], '{"type":"error"}'),
        (
            [start(), raw("message_stop", "{no")],
            (
                "Could not parse Anthropic SSE event message_stop: no event; "
                "data={no; raw=event: message_stop\\ndata: {no"
            ),
        ),
        (
            [start(), event("content_block_start", index=0)],
            "The provider's stream is malformed: no content_block",
        ),
        ([start(), block(0, "text", text=7)], "The provider's stream is malformed: a text is 7"),
        (
            [start(usage={"input_tokens": "x"})],
            "The provider's stream is malformed: a count of tokens is 'x'",
        ),
        (
            [start(), block(0, "text"), block(1, "fallback")],
            "Anthropic performed an unsupported mid-output model fallback",
        ),
    ],
)
def test_what_is_no_response_has_failed(events, text):
    message = message_of(*events)
    assert (message.stop_reason, message.error_message) == ("error", text)


def test_partials_say_why_it_is_going_to_stop():
    events = read(start(), finish("tool_use")[0], block(0, "text"), event("message_stop"))
    assert [each.partial.stop_reason for each in events[:2]] == ["pending", "toolUse"]


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.release)
def test_blocks_that_are_never_ended_stay_as_they_are(dialect):
    message = message_of(start(), block(0, "text"), text(0, "a"), *finish(), dialect=dialect)
    assert (message.stop_reason, message.text) == ("stop", "a")


def test_data_that_are_nearly_json():
    pieces = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\tb \\q"}}'
    assert (
        message_of(start(), block(0, "text"), raw("content_block_delta", pieces), *finish()).text
        == "a\tb \\q"
    )


# --- arguments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "early", "late"),
    [
        ([], {}, {}),
        ([""], {}, {}),
        (['{"a":1,', '"b":2}'], {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        (['{"a":1,"b":"cu'], {"a": 1, "b": "cu"}, {}),
        (["null"], None, {}),
    ],
)
def test_arguments(pieces, early, late):
    events = [block(0, "tool_use", id="1", name="read", input={"early": 1})]
    events += [delta(0, "input_json_delta", partial_json=piece) for piece in pieces]
    for dialect, expected in ((DIALECT_1_0_3, early), (DIALECT_1_6_0, late)):
        (call,) = message_of(start(), *events, stop(0), *finish("tool_use"), dialect=dialect).content
        assert call.arguments == expected
        whole = not pieces or pieces == [""] or early == late
        assert (call.arguments_error is None) == (whole or dialect is DIALECT_1_0_3)


def test_calls_come_under_the_tools_own_names():
    events = (start(), block(0, "tool_use", id="1", name="Read"), stop(0), *finish("tool_use"))
    assert message_of(*events, tools=["READ", "read"], oauth=True).content[0].name == "READ"
    assert message_of(*events, tools=["write"], oauth=True).content[0].name == "Read"
    assert message_of(*events, tools=["read"]).content[0].name == "Read"


# --- the model and the usage ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        (DIALECT_0_85_0, ("other", None)),
        (DIALECT_1_0_3, ("claude", "other")),
        (DIALECT_1_6_0, ("claude", "other")),
    ],
)
def test_another_model_may_answer(dialect, names):
    message = message_of(start(model="other"), *finish(), dialect=dialect)
    assert (message.model, message.response_model) == names


def test_another_model_has_its_own_prices():
    cost = {"input": 100, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = model_with({"allowedFallbackModels": [{"provider": "anthropic", "model": "other", "cost": cost}]})
    assert message_of(start(model="other"), *finish(), model=model).usage.cost.total == pytest.approx(1e-3)


def test_usage_is_told_again_in_part():
    first = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
    }
    later = {
        "input_tokens": None,
        "output_tokens": 20,
        "cache_creation": {"ephemeral_1h_input_tokens": 2},
        "output_tokens_details": {"thinking_tokens": 9},
    }
    for dialect, hour in ((DIALECT_0_85_0, 0), (DIALECT_1_6_0, 2)):
        usage = message_of(start(usage=first), *finish(usage=later), dialect=dialect).usage
        assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (1, 20, 3, 4)
        assert (usage.total_tokens, usage.cache_write_1h, usage.reasoning) == (28, hour, 9)


def test_a_message_may_begin_again():
    later = {"output_tokens_details": {"thinking_tokens": 9}}
    usage = message_of(start(), finish(usage=later)[0], start(usage={"input_tokens": 4}), *finish()).usage
    assert (usage.input, usage.output, usage.reasoning) == (4, 5, 9)


@pytest.mark.parametrize(
    ("told", "total"),
    [
        ({"cost": 0.5, "is_byok": False}, 0.5),
        ({"cost": 0.5, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.25}}, 0.75),
        ({"cost": -1, "is_byok": False}, None),
        ({"cost": 0.5, "is_byok": True, "cost_details": {"upstream_inference_cost": -1}}, None),
        ({"cost": 0.5}, None),
    ],
)
def test_openrouter_tells_what_it_bills_as_of_1_6_0(told, total):
    model = attrs.evolve(MODEL, provider="openrouter")
    cost = message_of(start(), *finish(usage=told), model=model).usage.cost
    assert (cost.total_from_provider, cost.total == total) == (total is not None, total is not None)
    old = message_of(start(), *finish(usage=told), model=model, dialect=DIALECT_1_0_3).usage.cost
    assert old.total_from_provider is None


def test_what_was_taken_from_the_input_is_noted():
    told = [{"type": "drop", "path": "a", "reason": None, "more": 1}]
    message = message_of(start(input_transformations=told), *finish())
    (note,) = message.diagnostics
    assert (note.type, note.details) == (
        "anthropic_input_transformations",
        {"transformations": [{"type": "drop", "path": "a"}]},
    )


def test_a_server_may_name_its_model_with_no_letter():
    message = message_of(start(model=""), *finish(), dialect=DIALECT_0_85_0)
    assert message.model == ""
