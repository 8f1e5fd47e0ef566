"""Where two lines that ought to be one part, in a few words: the path of the first difference, and what is there."""

from __future__ import annotations

from typing import Any, Final

from pi_trio.conformance.compare import parting
from pi_trio.conformance.protocol import Object
from pi_trio.errors import join, step_text

from .prose import plain, quoted

_WIDTH: Final = 80
"""Characters of a value, at most."""


def parted(expected: Object, got: Object) -> tuple[str, str, str] | None:
    """The path of the first difference, empty for a value as a whole, and what is there in the one and in the other;
    None if two lines are equal.
    """
    found = parting(expected, got)
    if found is None:
        return None
    path, left, right = found
    if isinstance(left, dict) and isinstance(right, dict):  # a key that only one of them has
        ((key, _),) = (left or right).items()
        return join(path, step_text(key)), _value(left, key), _value(right, key)
    if isinstance(left, list) and isinstance(right, list):  # one goes on where the other has ended
        return path, _rest(left), _rest(right)
    return path, quoted(left, _WIDTH), quoted(right, _WIDTH)


def _value(owner: Object, key: str) -> str:
    return quoted(owner[key], _WIDTH) if key in owner else "(absent)"


def _rest(items: list[Any]) -> str:
    return quoted(items, _WIDTH) if items else "(nothing more)"


def alike(one: Object, other: Object) -> bool:
    """Whether two lines say the same thing in different ways, so that the path of the difference tells something."""
    if plain(one) == plain(other):
        return True
    if one.keys() != other.keys():
        return False
    kinds = [
        (line.get("ask"), line.get("key"), (line.get("event") or {}).get("type")) for line in (one, other)
    ]
    return kinds[0] == kinds[1]
