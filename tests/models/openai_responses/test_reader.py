"""The reader of the Responses API: what its events mean, and what it does with those that mean nothing."""

from __future__ import annotations

import attrs
import pytest

from pi_trio.jsontext import parse_json
from pi_trio.messages import Model, ModelCost, TextContent, ThinkingContent, ToolCall
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.openai_responses.ending import ServiceTier
from pi_trio.models.openai_responses.reader import ResponsesReader

MODEL = Model.unknown()
PRICED = attrs.evolve(MODEL, cost=ModelCost(input=1, output=2, cache_read=0.5, cache_write=1))
ALL = (DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)


def reading(*told, dialect=DIALECT_1_6_0, end=True, model=MODEL, **fields):
    """The events that some of the provider's make, and the text of the failure if there is one."""
    reader = ResponsesReader(ResponseBuilder(model, dialect=dialect, timestamp=1), model, dialect, **fields)
    events = list(reader.start())
    try:
        for event in told:
            events.extend(reader.feed(event))  # also what comes before a failure
        if end:
            events += reader.end()
    except ResponseFailedError as failure:
        events += reader.fail(str(failure), aborted=False)
    return events


def names(events):
    return [event.type for event in events]


def added(index, item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index, item):
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind, index, text):
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text}


def completed(**response):
    return {"type": "response.completed", "response": {"status": "completed", **response}}


def message(text, **fields):
    return {"type": "message", "id": "m", "content": [{"type": "output_text", "text": text}], **fields}


def call(arguments="", **fields):
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "read",
        "arguments": arguments,
        **fields,
    }


def test_what_an_item_says_at_its_end_counts():
    events = reading(
        {"type": "response.created", "response": {"id": "r"}},
        added(0, {"type": "reasoning", "id": "rs"}),
        delta("reasoning_summary_text", 0, "hm"),
        {"type": "response.reasoning_summary_part.done", "output_index": 0},
        done(0, {"type": "reasoning", "id": "rs", "summary": [{"text": "hm"}, {"text": "so"}]}),
        added(1, {"type": "message", "id": "m", "content": []}),
        delta("output_text", 1, "hey"),
        delta("refusal", 1, "?"),
        done(1, message("hey!", phase="final_answer")),
        completed(id="r2"),
    )
    assert names(events) == [
        *("start", "thinking_start", "thinking_delta", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_delta", "text_end", "done"),
    ]
    assert [event.delta for event in events if "delta" in event.type] == ["hm", "\n\n", "hey", "?"]
    whole = events[-1].message
    assert whole.content == (
        ThinkingContent(
            thinking="hm\n\nso",
            thinking_signature='{"type":"reasoning","id":"rs","summary":[{"text":"hm"},{"text":"so"}]}',
        ),
        TextContent(text="hey!", text_signature='{"v":1,"id":"m","phase":"final_answer"}'),
    )
    assert (whole.response_id, whole.stop_reason, whole.raw_stop_reason) == ("r2", "stop", "completed")


@pytest.mark.parametrize("dialect", ALL)
def test_calls_that_overlap(dialect):
    events = reading(
        added(0, call()),
        added(1, call('{"b"', call_id="c2")),
        delta("function_call_arguments", 0, '{"a": 1'),
        delta("function_call_arguments", 1, ": 2}"),
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a": 1}'},
        done(1, call('{"b": 2}', call_id="c2")),
        done(0, call('{"a": 1}', namespace="n")),
        completed(),
        dialect=dialect,
    )
    assert [(event.type, event.content_index) for event in events[1:-1]] == [
        *(("toolcall_start", 0), ("toolcall_start", 1), ("toolcall_delta", 0), ("toolcall_delta", 1)),
        *(("toolcall_delta", 0), ("toolcall_end", 1), ("toolcall_end", 0)),
    ]
    assert events[5].delta == "}"
    assert events[-1].reason == "toolUse"
    assert events[-1].message.content == (
        ToolCall(id="c1|fc_1", name="read", arguments={"a": 1}, namespace="n"),
        ToolCall(id="c2|fc_1", name="read", arguments={"b": 2}),
    )


def test_a_whole_text_that_is_another_one_takes_the_place_of_what_was_told():
    events = reading(
        added(0, call()),
        delta("function_call_arguments", 0, '{"a": 1}'),
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"b"'},
        delta("function_call_arguments", 0, ": 2}"),
        done(0, call()),
        completed(),
    )
    assert names(events)[1:-1] == ["toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end"]
    assert events[3].partial.content[0].arguments == {"b": 2}
    assert events[-1].message.content[0].arguments == {"b": 2}


@pytest.mark.parametrize(("dialect", "arguments"), [(DIALECT_1_0_3, {"a": "cut"}), (DIALECT_1_6_0, {})])
def test_arguments_that_are_cut_off(dialect, arguments):
    events = reading(done(0, call('{"a": "cut')), completed(), dialect=dialect)
    assert names(events) == ["start", "toolcall_start", "toolcall_end", "done"]
    (made,) = events[-1].message.content
    assert made.arguments == arguments
    assert (made.arguments_error is None) == (dialect is DIALECT_1_0_3)


@pytest.mark.parametrize("dialect", ALL)
def test_the_input_of_a_tool_with_a_grammar(dialect):
    item = {"type": "custom_tool_call", "id": "ctc", "call_id": "c", "name": "patch", "input": "a"}
    events = reading(
        added(0, item),
        delta("custom_tool_call_input", 0, '"b'),
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": 'a"b\n'},
        done(0, {**item, "input": 'a"b\n'}),
        completed(),
        dialect=dialect,
        grammar_parameters={"patch": "text"},
    )
    deltas = [event.delta for event in events if event.type == "toolcall_delta"]
    assert parse_json("".join(deltas)) == {"text": 'a"b\n'}
    assert events[1].partial.content[0].arguments == {"text": "a"}
    assert events[2].partial.content[0].arguments == {"text": 'a"b'}
    assert events[-1].message.content[0].arguments == {"text": 'a"b\n'}


def test_an_input_that_changes_fails():
    item = {"type": "custom_tool_call", "id": "ctc", "call_id": "c", "name": "patch", "input": "a"}
    events = reading(added(0, item), done(0, {**item, "input": "other"}))
    assert "changed non-monotonically" in events[-1].error.error_message
    events = reading(
        added(0, item),
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "a"},
        delta("custom_tool_call_input", 0, "b"),
    )
    assert "changed after it was closed" in events[-1].error.error_message


@pytest.mark.parametrize(
    ("dialect", "last"), [(DIALECT_0_85_0, "done"), (DIALECT_1_0_3, "error"), (DIALECT_1_6_0, "error")]
)
def test_a_call_that_is_not_done(dialect, last):
    events = reading(
        added(0, call()), delta("function_call_arguments", 0, '{"a": 1'), completed(), dialect=dialect
    )
    assert names(events) == ["start", "toolcall_start", "toolcall_delta", last]
    if last == "error":
        assert events[-1].error.error_message == (
            "OpenAI Responses stream completed with an unfinished tool call: read (c1|fc_1)"
        )


def test_what_is_open_stays_open_when_a_response_is_done():
    events = reading(added(0, message("")), delta("output_text", 0, "hey"), completed())
    assert names(events) == ["start", "text_start", "text_delta", "done"]
    assert events[-1].message.text == "hey"


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize(
    ("ends", "reason", "problem"),
    [
        ([completed()], "stop", None),
        ([completed(status="incomplete")], "error", "Response incomplete without a provider reason"),
        ([completed(status="incomplete"), completed()], "stop", None),
    ],
)
def test_what_grows_behind_the_end_shows_how_it_is_to_end(dialect, ends, reason, problem):
    late = delta("output_text", 0, "late")
    *_, told = reading(added(0, message("")), *ends, late, dialect=dialect, end=False)
    assert told.type == "text_delta"
    assert (told.partial.stop_reason, told.partial.error_message) == (reason, problem)


def test_a_signature_that_comes_late():
    item = {"type": "reasoning", "id": "rs", "summary": []}
    events = reading(
        done(0, item), completed(output=[{**item, "encrypted_content": "e"}, {"type": "message"}])
    )
    (thought,) = events[-1].message.content
    assert parse_json(thought.thinking_signature) == {**item, "encrypted_content": "e"}


@pytest.mark.parametrize(
    ("response", "reason", "raw", "text"),
    [
        ({"status": "completed"}, "stop", "completed", None),
        ({"status": "queued"}, "stop", "queued", None),
        ({}, "stop", None, None),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            *("length", "incomplete.max_output_tokens", None),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            *("error", "incomplete.content_filter", "Response incomplete: content_filter"),
        ),
        ({"status": "incomplete"}, "error", "incomplete", "Response incomplete without a provider reason"),
        ({"status": "failed"}, "error", "failed", "An unknown error occurred"),
        ({"status": "odd"}, "error", "odd", "Unhandled stop reason: odd"),
    ],
)
def test_why_a_response_stops(response, reason, raw, text):
    last = reading({"type": "response.completed", "response": response})[-1]
    told = last.error if last.type == "error" else last.message
    assert (last.reason, told.raw_stop_reason, told.error_message) == (reason, raw, text)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "error", "code": "c", "message": "m"}, "Error Code c: m"),
        ({"type": "error", "message": None}, "Error Code undefined: null"),
        ({"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}}, "c: m"),
        ({"type": "response.failed", "response": {"error": {"x": 1}}}, "unknown: no message"),
        ({"type": "response.failed", "response": {"incomplete_details": {"reason": "r"}}}, "incomplete: r"),
        ({"type": "response.failed"}, "Unknown error (no error details in response)"),
    ],
)
def test_failures_that_the_provider_tells(event, text):
    assert reading(event)[-1].error.error_message == text


def test_a_stream_without_an_end():
    assert reading(added(0, message("")))[-1].error.error_message == (
        "OpenAI Responses stream ended before a terminal response event"
    )


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.added"},
        {"type": "response.completed"},
        {"type": "response.created"},
        {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": "x"}},
        added(0, {"type": "function_call", "id": "fc"}),
        None,
    ],
)
def test_events_that_cannot_be_read(event):
    assert reading(event)[-1].error.error_message.startswith("The provider's stream is malformed: ")


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.odd"},
        {"no": "type"},
        7,
        [],
        delta("output_text", 5, "of nothing"),
        delta("output_text", 0, "of another kind"),
        delta("reasoning_text", 0, None),
        added(1, {"type": "web_search_call"}),
        done(1, {"type": "web_search_call"}),
        done(0, message("of another kind")),
    ],
)
def test_events_that_say_nothing(event):
    events = reading(added(0, {"type": "reasoning", "id": "rs"}), event, completed())
    assert names(events) == ["start", "thinking_start", "done"]


@pytest.mark.parametrize(
    ("served", "factor"), [(None, 0.5), ("flex", 0.5), ("priority", 2), ("default", 1), (7, 1)]
)
def test_usage_and_its_price(served, factor):
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 20},
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    tier = ServiceTier("flex")
    last = reading(completed(usage=usage, service_tier=served), model=PRICED, tier=tier)[-1]
    told = last.message.usage
    assert (
        told.input,
        told.output,
        told.cache_read,
        told.cache_write,
        told.reasoning,
        told.total_tokens,
    ) == (*(50, 10, 30, 20, 4, 110),)
    assert told.cost.total == pytest.approx(factor * (50 + 2 * 10 + 30 * 0.5 + 20) / 1e6)
    assert told.cost.total_from_provider is False


def test_reasoning_that_was_taken_out_of_the_input_is_noted():
    removed = {"type": "reasoning", "action": "removed", "reason": "prefix_mismatch", "id": "rs"}
    told = [removed, {**removed, "reason": "turn_boundary"}, None, 7]
    for dialect in ALL:
        diagnostics = reading(completed(input_transformations=told), dialect=dialect)[-1].message.diagnostics
        if dialect is DIALECT_1_6_0:
            (note,) = diagnostics
            assert note.details == {"transformations": [removed]}
        else:
            assert diagnostics is None
