"""JSON text as JavaScript reads and prints it.

The tables were printed by Node 24. For numbers the algorithm of ECMAScript (Number::toString) stands here a
second time, in integers, as a judge for every float there is.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_trio.errors import CodecError
from pi_trio.jsontext import number_text, parse_json, print_json
from pi_trio.jsonvalue import DEPTH_LIMIT, JSON, FrozenDict, FrozenList, freeze

from .strategies import characters, json_values

# --- numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-12.50, "-12.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e15, "1000000000000000"),
        (1e16, "10000000000000000"),
        (1.2345678901234567e20, "123456789012345670000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (1.5e-5, "0.000015"),
        (1e-6, "0.000001"),
        (9.99e-7, "9.99e-7"),
        (1e-7, "1e-7"),
        (5e-324, "5e-324"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        (9007199254740993.0, "9007199254740992"),
        (2.0**60, "1152921504606847000"),
        (2**53 + 2, "9007199254740994"),
        (10**20, "100000000000000000000"),
        (True, "true"),
    ],
)
def test_numbers_print_as_in_javascript(number: float, text: str) -> None:
    assert print_json(number) == text


def ecmascript(number: float) -> str:
    """Number::toString, from the digits n, k, s of its definition; the shortest s is found by trying."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + ecmascript(-number)
    for k in range(1, 18):
        digits, exponent = f"{number:.{k - 1}e}".replace(".", "").split("e")
        n = int(exponent) + 1
        if float(f"{digits}e{n - k}") == number:
            break
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    sign = "+" if n > 0 else "-"
    rest = "." + digits[1:] if k > 1 else ""
    return f"{digits[0]}{rest}e{sign}{abs(n - 1)}"


floats_by_bits = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0])


@given(floats_by_bits.filter(lambda number: abs(number) <= 1.8e308))
def test_every_float_prints_as_ecmascript_says(number: float) -> None:
    assert number_text(number) == ecmascript(number)
    assert parse_json(number_text(number)) == number


@pytest.mark.parametrize("exponent", range(-324, 309))
def test_every_exponent_prints_as_ecmascript_says(exponent: int) -> None:
    for digits in ("1", "1.5", "9.999999999999999", "1.2345678901234567"):
        number = min(float(f"{digits}e{exponent}"), 1.7976931348623157e308)
        assert number_text(number) == ecmascript(number)


@given(st.integers(-(10**22), 10**22) | st.integers(2**53 - 9, 2**53 + 9))
@example(2**53)
@example(-(2**53) - 1)
def test_an_integer_passes_with_its_own_digits_or_not_at_all(number: int) -> None:
    if ecmascript(float(number)) == str(number):
        assert print_json(number) == str(number)
        assert print_json(parse_json(str(number))) == str(number)
    else:
        for refuse in (lambda: print_json([number]), lambda: parse_json(f"[{number}]")):
            with pytest.raises(CodecError, match=r"^\[0\]: expected a number that JavaScript can hold"):
                refuse()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(CodecError, match=rf"^a\[1\]\.b: expected a finite number, found {number}$"):
        print_json({"a": [0, {"b": number}]})


# --- strings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("string", "text"),
    [
        ("", '""'),
        ('"\\/', '"\\"\\\\/"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ("\x00\x0b\x1f\x7f\x80", '"\\u0000\\u000b\\u001f\x7f\x80"'),
        ("é\u2028\u2029\ufeff\uffff", '"é\u2028\u2029\ufeff\uffff"'),
        ("😀", '"😀"'),
        ("\ud83d\ude00", '"😀"'),
        ("\ud83d \ude00", '"\\ud83d \\ude00"'),
        ("\ude00\ud83d\ud83d\ude00", '"\\ude00\\ud83d😀"'),
    ],
)
def test_strings_print_as_in_javascript(string: str, text: str) -> None:
    assert print_json(string) == text
    assert print_json({string: 0}) == f"{{{text}:0}}"


@given(st.text(characters))
def test_text_is_always_utf_8_and_comes_back(string: str) -> None:
    text = print_json(string)
    again = parse_json(text.encode())
    assert isinstance(again, str)
    assert again.encode("utf-16", "surrogatepass") == string.encode("utf-16", "surrogatepass")
    assert text == json.dumps(again, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


# --- whole values -----------------------------------------------------------------------------------------


@given(json_values)
def test_printing_and_reading_are_inverse(value: Any) -> None:
    text = print_json(value)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value
    assert print_json(parse_json(text)) == text
    assert print_json(freeze(value)) == text
    assert parse_json(print_json(value, indent=2)) == value


@given(json_values.filter(lambda value: not re.search(r"\d[.e]|\d{16}", repr(value))))
def test_away_from_floats_it_is_what_python_prints(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )
    assert print_json(value) == expected.decode()
    expected = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
    assert print_json(value, indent=2) == expected.decode()


def test_indentation() -> None:
    value: JSON = {"a": [], "b": {}, "c": [1, {"d": None}]}
    assert print_json(value, indent=1) == (
        '{\n "a": [],\n "b": {},\n "c": [\n  1,\n  {\n   "d": null\n  }\n ]\n}'
    )
    assert print_json([1], indent=0) == "[1]"
    assert print_json([1], indent=12) == "[\n          1\n]"  # JavaScript stops at ten


def test_order_of_keys_stays_even_where_they_look_like_numbers() -> None:
    assert print_json(parse_json('{"b":1,"7":2,"a":3,"0":4}')) == '{"b":1,"7":2,"a":3,"0":4}'
    assert print_json(parse_json('{"a":1,"b":2,"a":3}')) == '{"a":3,"b":2}'


def test_tuples_and_frozen_values_print_as_plain_ones() -> None:
    assert print_json((1, FrozenList([FrozenDict({"a": ()})]))) == '[1,[{"a":[]}]]'


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"a": [{1}]}, "a[0]: expected a JSON value, found a Python set"),
        ({"a": {1: 2}}, "a: expected a string as key, found number"),
        (b"", "expected a JSON value, found a Python bytes"),
    ],
)
def test_what_is_not_json_does_not_print(value: Any, complaint: str) -> None:
    with pytest.raises(CodecError) as caught:
        print_json(value)
    assert str(caught.value) == complaint


# --- texts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        " \t\r\n1 ",
        "1E5",
        "-0",
        "1e-400",
        '"\\uD83D"',
        '"\x7f\u2028"',
        '{"__proto__":{"x":1}}',
        "100000000000000000000",
    ],
)
def test_texts_that_javascript_accepts(text: str) -> None:
    assert print_json(parse_json(text)) != ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1,]",
        '{"a":1,}',
        "[01]",
        "[-]",
        "[1.]",
        "[.5]",
        '["\x01"]',
        "\x0b1",
        "\ufeff1",
        "\u00a01",
        "[1]x",
        "1_0",
        "+1",
        "0x10",
        '"\\x"',
        '"\\u 123"',
        "'a'",
        "{a:1}",
        '{"a" 1}',
        "tru",
        "[1,,2]",
        "/**/1",
        '"a\nb"',
        "\uff11",
    ],
)
def test_texts_that_javascript_refuses(text: str) -> None:
    with pytest.raises(CodecError, match=r"^expected JSON: .* at line \d+, column \d+$") as caught:
        parse_json(text)
    assert caught.value.path == ""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a":[1,NaN]}', "a[1]: expected a finite number, found nan"),
        ('{"a":NaN,"a":1}', "expected JSON, found NaN"),
        ('[{"a":-Infinity,"a":1}]', "expected JSON, found -Infinity"),
        ('{"a":{"b c":-Infinity}}', 'a["b c"]: expected a finite number, found -inf'),
        ("[1e400]", "[0]: expected a finite number, found inf"),
        (
            '{"n":12345678901234567890}',
            "n: expected a number that JavaScript can hold, found too many digits",
        ),
        ("9" * 10_000, "expected a number that JavaScript can hold, found too many digits"),
        ("-" + "9" * 10_000, "expected a number that JavaScript can hold, found too many digits"),
    ],
)
def test_numbers_that_javascript_would_change_are_refused_with_their_path(text: str, complaint: str) -> None:
    with pytest.raises(CodecError) as caught:
        parse_json(text)
    assert str(caught.value) == complaint


def test_integers_beyond_the_safe_ones_are_read_as_the_floats_that_they_are() -> None:
    assert parse_json("1152921504606847000") == 2.0**60
    assert type(parse_json("9007199254740992")) is int


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xed\xa0\x80"', b'"\xc3', b"\xff\xfe1\x00"])
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(CodecError, match=r"^expected UTF-8, found a stray byte at offset \d$"):
        parse_json(data)


def nested(depth: int) -> str:
    """Arrays and objects in turn."""
    half, odd = divmod(depth, 2)
    return (
        '[{"a":' * (half - 1)
        + ("[{" if not odd else '[{"a":[')
        + ("]}]" if odd else "}]")
        + "}]" * (half - 1)
    )


def test_depth_has_a_limit() -> None:
    assert print_json(parse_json(nested(DEPTH_LIMIT))) == nested(DEPTH_LIMIT)
    value: Any = parse_json(nested(DEPTH_LIMIT))
    for depth in (DEPTH_LIMIT + 1, DEPTH_LIMIT + 2, 100_000):
        with pytest.raises(CodecError, match=r"no more than 500 arrays and objects within each other$"):
            parse_json(nested(depth))
    for wrappings in (1, 1, 10_000):
        for _ in range(wrappings):
            value = [value]
        with pytest.raises(CodecError, match=r"no more than 500 arrays and objects within each other$"):
            print_json(value)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    for text in (print_json([[{}]] * 1000), print_json("[{" * 1000), print_json({"[": "{" * 1000})):
        assert print_json(parse_json(text)) == text
