"""JSON values as JavaScript holds them, and the questions that JavaScript asks of them.

`adopt` takes a value over: a deep copy in plain dicts and lists, in which numbers are doubles and the keys of an
object stand as JavaScript keeps them. Validation works on adopted values alone, schemas included; so what it returns
may be changed freely, and prints, compares and orders as it does in Pi.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from math import isfinite
from typing import Final, TypeAlias, TypeGuard

from ..errors import CodecError
from ..jsonvalue import JSON, kind_of
from .js_number import as_double, is_whole, text_of

#: An adopted value.
Plain: TypeAlias = "None | bool | int | float | str | list[Plain] | dict[str, Plain]"

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
#: Keys that are decimal numbers below this are array indices to JavaScript.
_INDEX_LIMIT: Final = 2**32 - 1


def adopt(value: JSON) -> Plain:
    """A deep copy of `value` as JavaScript would hold it.

    Raises:
        CodecError: something in it is not a JSON value.
        RecursionError: it is nested too deeply.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return as_double(value)
    # One frame a level: loops, not comprehensions.
    if isinstance(value, (dict, Mapping)):
        members: dict[str, Plain] = {}
        for key, item in value.items():
            members[key] = adopt(item)
        return in_key_order(members)
    if isinstance(value, (list, tuple)):
        items: list[Plain] = []
        for item in value:
            items.append(adopt(item))  # noqa: PERF401
        return items
    raise CodecError("", f"expected a JSON value, found {kind_of(value)}")


def in_key_order(members: dict[str, Plain]) -> dict[str, Plain]:
    """The same members in JavaScript's order: array indices first, by number, then the other keys as they came."""
    indices = [key for key in members if key.isdigit() and _is_index(key)]
    if not indices:
        return members
    indices.sort(key=int)
    return {key: members[key] for key in (*indices, *members)}


def is_number(value: Plain) -> TypeGuard[int | float]:
    """Whether `value` is a number: in Python a boolean would pass for one too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(a: Plain, b: Plain) -> bool:
    """JavaScript's `===`: equal atoms of one type, or the very same array or object."""
    if isinstance(a, dict | list) or isinstance(b, dict | list):
        return a is b
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def comparable(value: Plain) -> Hashable:
    """Equal for values that are the same JSON: arrays by their items, objects by their members in any order."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, *map(comparable, value))
    if isinstance(value, dict):
        return (dict, frozenset((key, comparable(item)) for key, item in value.items()))
    return value


def kinds_of(value: Plain) -> tuple[str, ...]:
    """The `type` names of JSON Schema that fit `value`. A number that is not finite has none."""
    if isinstance(value, str):
        return ("string",)
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, dict):
        return ("object",)
    if isinstance(value, list):
        return ("array",)
    if not isfinite(value):
        return ()
    return ("integer", "number") if is_whole(value) else ("number",)


def name_of_kind(value: Plain) -> str:
    """What Pi's error texts call the type of `value`. Whole numbers are integers."""
    kinds = kinds_of(value)
    return kinds[0] if kinds else joined([value], "")


def joined(items: Iterable[Plain], separator: str) -> str:
    """JavaScript's `items.join(separator)`."""
    return separator.join(map(_joint, items))


def utf16_length(text: str) -> int:
    """JavaScript's `text.length`."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def well_formed(text: str) -> str:
    """JavaScript's `text.toWellFormed()`: a replacement character for each lone surrogate."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _joint(item: Plain) -> str:
    if item is None:
        return ""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return item
    if isinstance(item, list):
        return joined(item, ",")
    return "[object Object]" if isinstance(item, dict) else text_of(item)


def _is_index(key: str) -> bool:
    return (
        key.isascii()
        and key.isdigit()
        and (key[0] != "0" or key == "0")
        and len(key) <= 10
        and int(key) < _INDEX_LIMIT
    )
