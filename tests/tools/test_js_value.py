"""JSON values as JavaScript holds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.errors import CodecError
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import freeze
from pi_trio.tools.js_value import adopt, comparable, joined, kinds_of, name_of_kind, same, utf16_length

from ..strategies import json_values


@given(json_values)
def test_adopting_copies_and_keeps_the_value(value):
    adopted = adopt(freeze(value))
    assert comparable(adopted) == comparable(adopt(value))
    assert print_json(adopt(adopted)) == print_json(adopted)
    assert adopt(value) is not value or not isinstance(value, dict | list)


@given(json_values)
def test_equal_values_are_comparable_whatever_the_order_of_their_keys(value):
    adopted = adopt(value)
    if isinstance(adopted, dict):
        assert comparable(dict(reversed(adopted.items()))) == comparable(adopted)
    assert comparable([adopted]) != comparable(adopted)


@given(st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 99).map(str)), st.none()))
def test_indices_come_first_and_by_number(value):
    keys = list(adopt(value))
    indices = [key for key in keys if key.isascii() and key.isdigit() and str(int(key)) == key]
    assert keys == sorted(indices, key=int) + [key for key in value if key not in indices]


def test_only_array_indices_are_moved():
    assert list(adopt(dict.fromkeys(["b", "4294967295", "01", "-1", "4294967294", "1.5", "٣", "0"]))) == [
        "0", "4294967294", "b", "4294967295", "01", "-1", "1.5", "٣",
    ]  # fmt: skip


def test_booleans_and_numbers_are_kept_apart():
    assert comparable(True) != comparable(1)
    assert comparable([0]) != comparable([False])
    assert not same(True, 1)
    assert not same(0, False)
    assert same(adopt(1.0), 1)


def test_containers_are_the_same_only_as_themselves():
    one: list[None] = []
    assert same(one, one)
    assert not same(one, [])


@pytest.mark.parametrize(
    ("value", "kinds", "name"),
    [
        ("a", {"string"}, "string"), (None, {"null"}, "null"), (True, {"boolean"}, "boolean"), ([], {"array"}, "array"),
        ({}, {"object"}, "object"), (1, {"integer", "number"}, "integer"), (1.5, {"number"}, "number"),
        (1e300, {"integer", "number"}, "integer"), (float("inf"), set(), "Infinity"), (float("nan"), set(), "NaN"),
    ],
)  # fmt: skip
def test_types(value, kinds, name):
    assert set(kinds_of(value)) == kinds
    assert name_of_kind(value) == name


def test_joining_prints_what_javascript_prints():
    assert joined([None, True, 1.5, "a", ["b", [None, 2]], {}], "-") == "-true-1.5-a-b,,2-[object Object]"


def test_length_counts_utf16_units():
    assert [utf16_length(text) for text in ("", "é", "😀", "\ud800")] == [0, 1, 2, 1]


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", [object()], {"a": 1j}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(CodecError, match="expected a JSON value"):
        adopt(value)
