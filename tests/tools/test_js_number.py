"""Numbers as JavaScript reads and prints them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsontext import parse_json, print_json
from pi_trio.tools.js_number import as_double, is_whole, number_of, text_of

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0), (" \t\n\v\f\r\u00a0\u2003\u2028\ufeff", 0), (" 42 ", 42), ("\u00a042", 42), ("4.5e1", 45), ("+5", 5),
        ("-5", -5), (".5", 0.5), ("5.", 5), ("1E3", 1000), ("1e-7", 1e-7), ("007", 7), ("0x10", 16), ("0XfF", 255),
        ("0b11", 3), ("0o17", 15), ("0x" + "f" * 300, math.inf), ("1e400", math.inf), ("-Infinity", -math.inf),
        ("9007199254740993", 9007199254740992), ("12345678901234567890", 12345678901234567000), ("-0", 0),
        ("1" + "0" * 5000, math.inf),
    ],
)  # fmt: skip
def test_text_that_is_a_number(text, number):
    assert number_of(text) == number
    assert type(number_of(text)) is type(number)


@pytest.mark.parametrize(
    "text",
    [
        "abc", "1_0", "１２", "٣", "0x", "0x1g", "-0x10", "0b2", "1e", ".", "e1", "+", "1 2", "infinity", "NaN", "12n",
        "\x1c5", "\x855",
    ],
)  # fmt: skip
def test_text_that_is_none(text):
    assert math.isnan(number_of(text))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (1.5, "1.5"), (1e21, "1e+21"), (1e-7, "1e-7"), (0.000001, "0.000001"), (12345678901234567000,
        "12345678901234567000"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_printing(number, text):
    assert text_of(number) == text


@given(DOUBLES)
def test_every_double_has_one_number_in_python(double):
    number = as_double(double)
    assert float(number) == double
    assert isinstance(number, int) == (double.is_integer() and abs(double) < 1e21)
    assert is_whole(number) == double.is_integer()
    assert text_of(number) == print_json(double)
    assert as_double(number) == number == number_of(text_of(number)) == as_double(parse_json(text_of(number)))


@given(DOUBLES, DOUBLES)
def test_the_order_of_doubles_is_kept(a, b):
    assert (as_double(a) < as_double(b)) == (a < b)


@given(st.integers())
def test_an_integer_becomes_the_nearest_double(integer):
    assert float(as_double(integer)) == float(integer)


def test_an_integer_beyond_all_doubles_is_infinite():
    assert (as_double(10**400), as_double(-(10**400))) == (math.inf, -math.inf)
