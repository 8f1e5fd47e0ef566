"""Arguments as the releases up to 1.0.3 read them. The comparison with real Pi is under tests/upstream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import DEPTH_LIMIT
from pi_trio.messages import Model
from pi_trio.models import streamed_arguments as module
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.dialect import dialect_of
from pi_trio.models.streamed_arguments import StreamedArguments, streamed_arguments
from pi_trio.models.whole_value import whole_value

from ..strategies import json_values, strings
from .arguments_so_far import TABLE


def shown_after(streamed, piece):
    streamed.feed(piece)
    return streamed.shown


@pytest.mark.parametrize(("text", "arguments"), TABLE)
def test_what_is_read(text, arguments):
    assert streamed_arguments(text) == arguments
    one, many = StreamedArguments(), StreamedArguments()
    assert shown_after(one, text) == arguments
    for character in text:
        many.feed(character)
    assert many.shown == arguments


@given(
    st.dictionaries(strings, json_values, max_size=4),
    st.lists(st.integers(1, 9)),
    st.text('{}[]",:\\ e1x', max_size=9),
)
def test_a_text_in_pieces_reads_like_its_beginnings(value, lengths, behind):
    text, streamed, at = print_json(value) + behind, StreamedArguments(), 0
    moments = []
    for length in [*lengths, len(text)]:
        moments.append((streamed.feed(text[at : at + length]), text[: at + length]))
        at += length
    for moment, beginning in reversed(moments):
        assert print_json(streamed.at(moment)) == print_json(streamed_arguments(beginning))


def test_a_whole_text_that_goes_on_is_whole_no_more():
    streamed = StreamedArguments()
    assert shown_after(streamed, '{"a":[ ],"b":1}') == {"a": [], "b": 1}
    assert shown_after(streamed, " \n") == {"a": [], "b": 1}
    assert shown_after(streamed, "x") == {"a": []}


def test_a_large_array_is_shown_with_a_delay():
    streamed = StreamedArguments()
    streamed.feed('{"a":[' + "1," * 3000)
    lengths = [len(shown_after(streamed, "1,")["a"]) for _ in range(100)]
    assert 1 < len(set(lengths)) < 50
    assert len(shown_after(streamed, "1]}")["a"]) == 3101


def test_each_piece_is_read_once(monkeypatch):
    """What is read from the start is no container, or doubtful."""
    read = []
    monkeypatch.setattr(module, "whole_value", lambda text, real=whole_value: read.append(text) or real(text))
    streamed = StreamedArguments()
    for piece in ['{"text":"', *["some } text\n"] * 99, '"}', " "]:
        streamed.feed(piece)
        assert isinstance(streamed.shown, dict)
    assert len(read) == 2
    assert streamed.shown == {"text": "some } text\n" * 99}


def test_nesting_has_a_limit():
    value = streamed_arguments('{"a":' + "[" * 10_000 + '"x')
    depth = 0
    while value:
        value = value["a"] if depth == 0 else value[0]
        depth += 1
    assert depth == DEPTH_LIMIT - 1


def test_a_builder_reads_arguments_as_its_dialect_does():
    told = {}
    for release in ("1.0.3", "1.6.0"):
        builder = ResponseBuilder(Model.unknown(), timestamp=1, dialect=dialect_of(release))
        builder.start()
        builder.toolcall_start("c", "read")
        delta = builder.toolcall_delta('{"path":"a\nb')
        end = builder.toolcall_end()
        told[release] = (
            delta.partial.content[0].arguments,
            end.tool_call.arguments,
            bool(end.tool_call.arguments_error),
        )
    assert told == {"1.0.3": ({}, {}, False), "1.6.0": ({"path": "a\nb"}, {}, True)}


def test_a_call_that_was_cut_off_has_the_arguments_that_have_come():
    builder = ResponseBuilder(Model.unknown(), timestamp=1, dialect=dialect_of("0.85.0"))
    builder.start()
    builder.toolcall_start("c", "read")
    builder.toolcall_delta('{"path":"abc')
    assert builder.toolcall_end().tool_call.arguments == {"path": "abc"}
