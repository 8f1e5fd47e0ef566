"""Arguments that grow with their text. What real Pi shows for the same pieces is compared in `tests/upstream`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsontext import parse_json, print_json
from pi_trio.jsonvalue import DEPTH_LIMIT, FrozenDict
from pi_trio.models.growing_arguments import GrowingArguments

from ..strategies import json_values, strings


def shown(text: str) -> FrozenDict:
    """What shows of a text that has come in one piece."""
    return GrowingArguments().append(text)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ("{", {}),
        ('{"', {}),
        ('{"a', {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a":"', {"a": ""}),
        ('{"a":"hel', {"a": "hel"}),
        ('{"a":"hel\\', {"a": "hel"}),
        ('{"a":"hel\\u00', {"a": "hel"}),
        ('{"a":"hel\\u00e9', {"a": "helé"}),
        ('{"a":"hel\\n', {"a": "hel\n"}),
        ('{"a":1', {"a": 1}),
        ('{"a":12.', {}),
        ('{"a":12.5', {"a": 12.5}),
        ('{"a":-', {}),
        ('{"a":1e', {"a": 1}),
        ('{"a":1e+', {"a": 1}),
        ('{"a":1e2', {"a": 100}),
        ('{"a":t', {"a": True}),
        ('{"a":fal', {"a": False}),
        ('{"a":nul', {"a": None}),
        ('{"a":1,', {"a": 1}),
        ('{"a":1,"b', {"a": 1}),
        ('{"a":[1,2', {"a": [1, 2]}),
        ('{"a":[1,"b', {"a": [1, "b"]}),
        ('{"a":{"b":"c"', {"a": {"b": "c"}}),
        ('{"a":[[{', {"a": [[{}]]}),
        ('{"a":1,"a":2', {"a": 2}),
        ('{"a":1} trailing {"b":2}', {"a": 1}),
        ('{"a":1}}', {"a": 1}),
    ],
)
def test_cut_off(text, arguments):
    assert shown(text) == arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("[1,2]", {}),
        ('"text"', {}),
        ('"text" {"a":1}', {}),
        ("42 ", {}),
        ("word", {}),
        ('word {"a":1}', {"a": 1}),
        ("{'a':1}", {}),
        ('{"a":1,,"b":2,}', {"a": 1, "b": 2}),
        ('{"a" 1 "b" 2}', {"a": 1, "b": 2}),
        ('{"a":[1 2]}', {"a": [1, 2]}),
        ('{"a":word,"b":NaN,"c":1e999}', {}),
        ('{5 "a":1}', {"a": 1}),
        ('{{"x":1} "a":1}', {"a": 1}),
        ('{"a":"line\nbreak\there"}', {"a": "line\nbreak\there"}),
        ('{"a":"bad \\q"}', {"a": "bad \\q"}),
        ('{"a":"\\u12"}', {"a": "\\u12"}),
        ('{"a":[1}', {"a": [1]}),
        ("]}", {}),
    ],
)
def test_malformed(text, arguments):
    assert shown(text) == arguments


def test_a_long_number_is_shown_at_its_end():
    digits = "1." + "0" * 70
    growing = GrowingArguments()
    assert growing.append(f'{{"a":{digits}') == {}
    assert growing.append("}") == {"a": 1}


def test_a_long_word_in_many_pieces_is_shown_at_its_end():
    growing = GrowingArguments()
    assert [growing.append(piece) for piece in '{"a":1.' + "0" * 70][-1] == {}
    assert growing.append(",") == {"a": 1}


def test_a_large_array_is_shown_with_a_delay():
    growing = GrowingArguments()
    growing.append('{"a":[' + "1," * 3000)
    lengths = [len(growing.append("1,")["a"]) for _ in range(100)]
    assert 1 < len(set(lengths)) < 50
    assert lengths[-1] > 3000
    assert len(growing.append("1]}")["a"]) == 3101


def test_two_escapes_make_one_character():
    growing = GrowingArguments()
    growing.append('{"a":"\\ud83d')
    assert growing.append("\\ude00") == {"a": "😀"}


def test_the_value_stays_the_same_object_while_nothing_changes():
    growing = GrowingArguments()
    before = growing.append('{"a":[1],"b')
    assert growing.append('c"') is before
    assert growing.append(":") is before
    after = growing.append("2")
    assert after is not before
    assert after["a"] is growing.append(',"d":"x')["a"]


def test_nesting_has_a_limit():
    value = shown('{"a":' + "[" * 10_000)
    depth = 0
    while value:
        value = value["a"] if depth == 0 else value[0]
        depth += 1
    assert depth == DEPTH_LIMIT - 1


objects = st.dictionaries(strings, json_values, max_size=4)


@given(objects, st.lists(st.integers(1, 9)), st.booleans())
def test_a_whole_text_shows_its_value_however_it_is_cut(value, lengths, ascii_only):
    text = json.dumps(value) if ascii_only else print_json(value)
    growing = GrowingArguments()
    at = 0
    for length in lengths:
        growing.append(text[at : at + length])
        at += length
    assert growing.append(text[at:]) == parse_json(text)
    assert growing.append(" []{") == parse_json(text)


@given(objects)
def test_what_was_shown_does_not_change(value):
    growing = GrowingArguments()
    seen = [(arguments, print_json(arguments)) for arguments in map(growing.append, print_json(value))]
    assert [(print_json(arguments), text) for arguments, text in seen] == [(text, text) for _, text in seen]


@given(st.lists(st.sampled_from([*'{}[]:,"\\u1e.- t', "true", "\\ud83d", "é"]), max_size=40))
def test_no_text_is_an_error(pieces):
    growing = GrowingArguments()
    for piece in pieces:
        assert type(growing.append(piece)) is FrozenDict
