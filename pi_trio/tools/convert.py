"""One atom turned into an atom of another type, by the two sets of rules that Pi 1.6.0 applies one after the other.

The lax rules (`lax`, `lax_literal`) come first and turn almost anything they can read. The narrow rules (`narrow`) get
what the lax ones leave alone: types in lists, and schemas that they do not follow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from .js_number import WHITESPACE, as_double, is_whole, number_of, text_of
from .js_value import Plain, is_number, same

_BIG_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,15})n")
_LARGEST: Final = 2**53 - 1


def lax(value: Plain, kind: str) -> Plain:
    """`value` as an atom of the type `kind`; unchanged if it cannot be read as one.

    Fractions are cut off for an integer; `null` is "null", 0 or false; empty text is 0 or null, and so on.
    """
    convert = _LAX.get(kind)
    if convert is None or isinstance(value, dict | list):
        return value
    converted = convert(value)
    return value if isinstance(converted, _Unreadable) else converted


def lax_literal(literal: Plain, value: Plain) -> Plain:
    """`literal` where `value` converts to exactly that, otherwise `value`. Nothing converts to null or a container."""
    if isinstance(literal, bool):
        converted = lax(value, "boolean")
    elif isinstance(literal, str):
        converted = lax(value, "string")
    elif is_number(literal):
        converted = lax(value, "number")
    else:
        return value
    return converted if same(converted, literal) else value


def narrow(value: Plain, kind: str) -> Plain:
    """`value` as an atom of the type `kind` if there is little doubt; otherwise unchanged."""
    if kind in {"number", "integer"}:
        if value is None or isinstance(value, bool):
            return int(value or 0)
        if isinstance(value, str) and value.strip(WHITESPACE):
            number = number_of(value)
            if math.isfinite(number) and (kind == "number" or is_whole(number)):
                return number
    elif kind == "boolean":
        if value is None or value == "false" or same(value, 0):
            return False
        if value == "true" or same(value, 1):
            return True
    elif kind == "string":
        if value is None:
            return ""
        if isinstance(value, bool | int | float):
            return lax(value, "string")
    elif kind == "null" and (value == "" or value is False or same(value, 0)):
        return None
    return value


class _Unreadable:
    """The type of `_UNREADABLE`: null is a value like any other here."""


_UNREADABLE: Final = _Unreadable()
_Atom = None | bool | int | float | str


def _text(value: _Atom) -> str | _Unreadable:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return value if isinstance(value, str) else text_of(value) if math.isfinite(value) else _UNREADABLE


def _number(value: _Atom) -> int | float | _Unreadable:
    if value is None or isinstance(value, bool):
        return int(value or 0)
    if not isinstance(value, str):
        return value if math.isfinite(value) else _UNREADABLE
    number = number_of(value)
    if math.isfinite(number):
        return number
    if value.lower() in {"true", "false"}:
        return int(value.lower() == "true")
    if _BIG_INTEGER.fullmatch(value) and abs(int(value[:-1])) <= _LARGEST:
        return int(value[:-1])
    return _UNREADABLE


def _integer(value: _Atom) -> int | float | _Unreadable:
    number = _number(value)
    if isinstance(number, _Unreadable) or is_whole(number):
        return number
    return as_double(math.trunc(number))


def _boolean(value: _Atom) -> bool | _Unreadable:
    if value is None or isinstance(value, bool):
        return bool(value)
    text = value.lower() if isinstance(value, str) else text_of(value)
    if text in {"false", "0"}:
        return False
    return True if text in {"true", "1"} else _UNREADABLE


def _null(value: _Atom) -> None | _Unreadable:
    if isinstance(value, str):
        empty = value.lower() in {"undefined", "null", "", "0"}
    else:
        empty = value is None or value == 0
    return None if empty else _UNREADABLE


_LAX: Final[Mapping[str, Callable[[_Atom], _Atom | _Unreadable]]] = {
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "null": _null,
}
