"""Values that pydantic would write as it happens, written as they are.

A set has another order in each process, and what is told of a tool is not to change with it: it is written in order.
And where a hint says nothing (`Any`), a number that is no JSON would become null: it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, MutableSet
from collections.abc import Set as AbstractSet
from math import isfinite
from typing import Annotated, Any, Final, get_origin

from pydantic import WrapSerializer
from pydantic_core import PydanticSerializationError

_SETS: Final = (set, frozenset, AbstractSet, MutableSet)
_BARE: Final[dict[Any, Any]] = {
    list: list[Any],
    dict: dict[Any, Any],
    tuple: tuple[Any, ...],
    set: set[Any],
    frozenset: frozenset[Any],
}


def spelled_out(hint: Any) -> Any:
    """A hint with what it leaves out."""
    return _BARE.get(hint, hint) if isinstance(hint, type) else hint


def in_order(hint: Any, cast: Any) -> Any:
    """What a hint was cast to, written in order."""
    # A lambda: the annotation of what it returns would be taken for the schema.
    if hint is Any or hint is object:
        return Annotated[cast, WrapSerializer(lambda value, write: _plain(value, write))]  # noqa: PLW0108
    if get_origin(hint) in _SETS:
        return Annotated[cast, WrapSerializer(lambda value, write: _ordered(write(value)))]
    return cast


def _plain(value: Any, write: Callable[[Any], Any]) -> Any:
    """A value without a type: sets in it are written in order."""
    match value:
        case float() if not isfinite(value):
            raise PydanticSerializationError(f"{value} is no number in JSON")
        case set() | frozenset():
            return _ordered(_plain(one, write) for one in value)
        case list() | tuple():
            return [_plain(one, write) for one in value]
        case dict():
            return {key: _plain(one, write) for key, one in value.items()}
        case _:
            return write(value)


def _ordered(values: Iterable[Any]) -> list[Any]:
    values = list(values)
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=json.dumps)
