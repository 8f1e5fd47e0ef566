"""Arguments that grow with their text. What real Pi shows for the same pieces is compared in `tests/upstream`."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsontext import parse_json, print_json
from pi_trio.jsonvalue import DEPTH_LIMIT, FrozenDict
from pi_trio.models import open_values
from pi_trio.models.growing_arguments import GrowingArguments, Moment

from ..strategies import json_values, strings


def shown_after(growing: GrowingArguments, piece: str) -> FrozenDict:
    """What shows after the next piece."""
    growing.feed(piece)
    return growing.shown


def shown(text: str) -> FrozenDict:
    """What shows of a text that has come in one piece."""
    return shown_after(GrowingArguments(), text)


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
    assert shown_after(growing, f'{{"a":{digits}') == {}
    assert shown_after(growing, "}") == {"a": 1}


def test_a_long_word_in_many_pieces_is_shown_at_its_end():
    growing = GrowingArguments()
    assert [shown_after(growing, piece) for piece in '{"a":1.' + "0" * 70][-1] == {}
    assert shown_after(growing, ",") == {"a": 1}


def test_a_large_array_is_shown_with_a_delay():
    growing = GrowingArguments()
    growing.feed('{"a":[' + "1," * 3000)
    lengths = [len(shown_after(growing, "1,")["a"]) for _ in range(100)]
    assert 1 < len(set(lengths)) < 50
    assert lengths[-1] > 3000
    assert len(shown_after(growing, "1]}")["a"]) == 3101


def test_two_escapes_make_one_character():
    growing = GrowingArguments()
    growing.feed('{"a":"\\ud83d')
    assert shown_after(growing, "\\ude00") == {"a": "😀"}


def test_the_value_stays_the_same_object_while_nothing_changes():
    growing = GrowingArguments()
    before = shown_after(growing, '{"a":[1],"b')
    assert shown_after(growing, 'c"') is before
    assert shown_after(growing, ":") is before
    after = shown_after(growing, "2")
    assert after is not before
    assert after["a"] is shown_after(growing, ',"d":"x')["a"]


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
        growing.feed(text[at : at + length])
        at += length
    assert shown_after(growing, text[at:]) == parse_json(text)
    assert shown_after(growing, " []{") == parse_json(text)


@given(objects)
def test_what_was_shown_does_not_change(value):
    growing = GrowingArguments()
    shown_one_by_one = [shown_after(growing, piece) for piece in print_json(value)]
    seen = [(arguments, print_json(arguments)) for arguments in shown_one_by_one]
    assert [(print_json(arguments), text) for arguments, text in seen] == [(text, text) for _, text in seen]


@given(st.lists(st.sampled_from([*'{}[]:,"\\u1e.- t', "true", "\\ud83d", "é"]), max_size=40))
def test_no_text_is_an_error(pieces):
    growing = GrowingArguments()
    for piece in pieces:
        assert type(shown_after(growing, piece)) is FrozenDict


marks = st.lists(st.sampled_from([*'{}[]:,"1t', '"key":', "2,", '"x",', "1," * 90]), max_size=60)


@given(st.sampled_from(["{", '{"a":[' + "1," * 900, '{"a":{"b":[' + "[],{}," * 300]), marks, st.data())
def test_what_is_shown_does_not_depend_on_who_looks(beginning, pieces, data):
    looking, feeding = GrowingArguments(), GrowingArguments()
    for piece in (beginning, *pieces, *["2,"] * 40):
        expected = shown_after(looking, piece)
        feeding.feed(piece)
        if data.draw(st.booleans()):
            assert feeding.shown == expected
    assert feeding.shown == looking.shown


def test_what_nobody_looks_at_is_not_made(monkeypatch):
    """However long the array: to catch up is to read the text once."""
    made = 0

    def counted(elements, make=open_values.frozen_array):
        nonlocal made
        made += 1
        return make(elements)

    monkeypatch.setattr(open_values, "frozen_array", counted)
    growing = GrowingArguments()
    for piece in ['{"a":[', *["1,"] * 3000]:
        growing.feed(piece)
    assert len(growing.shown["a"]) > 2500
    assert made == 1


@given(st.sampled_from(["{", '{"a":[' + "1," * 900, '{"a":{"b":"']), marks)
def test_every_moment_can_be_looked_back_at(beginning, pieces):
    growing, expected = GrowingArguments(), list[tuple[Moment, FrozenDict]]()
    for piece in (beginning, *pieces):
        moment = growing.feed(piece)
        expected.append((moment, growing.shown))
    for moment, value in reversed(expected):
        assert growing.at(moment) == value
        assert print_json(growing.at(moment)) == print_json(value)


def test_looking_at_every_piece_of_a_string_reads_each_piece_once(monkeypatch):
    read = 0

    def joined(pieces, join=open_values._joined):
        nonlocal read
        read += len(pieces)
        return join(pieces)

    monkeypatch.setattr(open_values, "_joined", joined)
    growing = GrowingArguments()
    growing.feed('{"a":"')
    for number in range(1, 1000):
        growing.feed("xyz ")
        assert growing.shown == {"a": "xyz " * number}
    assert read < 3000


@given(
    st.lists(st.tuples(st.sampled_from(["\\ud83d", "\\ude00", "x", "é", "\ud83d", "\ude00"]), st.booleans()))
)
def test_two_halves_are_one_character_whoever_looks_between_them(pieces):
    growing, other = GrowingArguments(), GrowingArguments()
    growing.feed('{"a":"')
    other.feed('{"a":"')
    for piece, looked_at in pieces:
        growing.feed(piece)
        other.feed(piece)
        if looked_at:
            _ = growing.shown
    assert shown_after(growing, '"}') == shown_after(other, '"}')
    assert re.search("[\ud800-\udbff][\udc00-\udfff]", str(growing.shown["a"])) is None
