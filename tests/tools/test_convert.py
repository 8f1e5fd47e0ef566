"""Atoms into atoms of other types, by the lax and by the narrow rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.tools.convert import lax, lax_literal, narrow
from pi_trio.tools.js_value import adopt, kinds_of, same

from ..strategies import json_values

KINDS = ("string", "number", "integer", "boolean", "null", "array", "object", "bigint")

# Where a kind is not named, the value stays as it is.
TABLE: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (
        None,
        {"string": "null", "number": 0, "integer": 0, "boolean": False},
        {"string": "", "number": 0, "integer": 0, "boolean": False},
    ),
    (True, {"string": "true", "number": 1, "integer": 1}, {"string": "true", "number": 1, "integer": 1}),
    (
        False,
        {"string": "false", "number": 0, "integer": 0, "null": None},
        {"string": "false", "number": 0, "integer": 0, "null": None},
    ),
    (0, {"string": "0", "boolean": False, "null": None}, {"string": "0", "boolean": False, "null": None}),
    (1, {"string": "1", "boolean": True}, {"string": "1", "boolean": True}),
    (3.5, {"string": "3.5", "integer": 3}, {"string": "3.5"}),
    ("", {"number": 0, "integer": 0, "null": None}, {"null": None}),
    ("0", {"number": 0, "integer": 0, "boolean": False, "null": None}, {"number": 0, "integer": 0}),
    ("1", {"number": 1, "integer": 1, "boolean": True}, {"number": 1, "integer": 1}),
    ("-3.5", {"number": -3.5, "integer": -3}, {"number": -3.5}),
    ("12n", {"number": 12, "integer": 12}, {}),
    ("true", {"number": 1, "integer": 1, "boolean": True}, {"boolean": True}),
    ("FALSE", {"number": 0, "integer": 0, "boolean": False}, {}),
    ("null", {"null": None}, {}),
    ("Undefined", {"null": None}, {}),
    ("abc", {}, {}),
    ("Infinity", {}, {}),
    ([], {}, {}),
    ({}, {}, {}),
]


@pytest.mark.parametrize(("value", "by_lax", "by_narrow"), TABLE)
@pytest.mark.parametrize("kind", KINDS)
def test_the_table(value, by_lax, by_narrow, kind):
    for convert, expected in ((lax, by_lax), (narrow, by_narrow)):
        converted = convert(value, kind)
        assert converted == expected.get(kind, value)
        assert type(converted) is type(expected.get(kind, value))


@given(json_values.map(adopt), st.sampled_from(KINDS))
def test_what_is_of_the_type_stays_and_what_is_converted_is_of_it(value, kind):
    for convert in (lax, narrow):
        converted = convert(value, kind)
        if kind in kinds_of(value):
            assert same(converted, value)
        assert same(converted, value) or kind in kinds_of(converted)
        assert same(convert(converted, kind), converted)


@pytest.mark.parametrize(
    ("literal", "value", "result"),
    [
        (1, "1", 1), (1, True, 1), ("1", 1, "1"), (True, "1", True), (False, None, False), ("null", None, "null"),
        (0, None, 0), (None, "", ""), (2, "3", "3"), ("a", "b", "b"), (1, 1.5, 1.5), ([1], "1", "1"),
    ],
)  # fmt: skip
def test_literals(literal, value, result):
    converted = lax_literal(literal, value)
    assert converted == result
    assert type(converted) is type(result)


def test_nothing_becomes_a_boundless_number():
    assert lax("9007199254740993n", "number") == "9007199254740993n"
    assert lax(float("nan"), "number") != 0
    assert narrow("1e400", "number") == "1e400"
