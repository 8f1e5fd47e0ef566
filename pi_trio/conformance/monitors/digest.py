"""A number that stands for a JSON value: equal for equal values, whatever the order of their keys.

A monitor remembers what a run has said, to compare it with what `agent_end` tells. A run may have said a gigabyte, so
only a number is kept of each message. It is good within one process.
"""

from __future__ import annotations

from typing import Any, Final

BLANK: Final = 0
"""Stands for a message that was not seen; it equals every other."""
_NUMBERS: Final = frozenset({int, float})


def digest(value: Any) -> int:
    """The number of a value; never `BLANK`."""
    return hash(_apart(value)) or -1  # which is the hash of nothing


def _apart(value: Any) -> Any:
    """What is hashed for a value. Where Python takes two for equal or hashes them alike, as it does with 1 and true,
    with 0 and an empty text, and with -1 and -2, it is something that tells them apart.
    """
    kind = type(value)
    if kind is str:
        return value or ("",)
    if kind is dict:
        return hash(
            frozenset(
                [(key, each if type(each) is str and each else _apart(each)) for key, each in value.items()]
            )
        )
    if kind is list:
        return hash(tuple([_apart(each) for each in value]))
    if kind is bool:
        return "true or false", value
    if kind is int or kind is float or value is None:
        return (-1,) if value == -1 else value
    if isinstance(value, dict):  # a frozen one, as those that a scenario holds
        return _apart(dict(value))
    return _apart(list(value)) if isinstance(value, list) else value


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON too, where true is no 1."""
    return bool(one == other) and _of_a_kind(one, other)


def _of_a_kind(one: Any, other: Any) -> bool:
    """Whether two that are equal to Python have true and false in the same places."""
    kind = type(one)
    if kind is dict:
        for key, each in one.items():
            kind = type(each)
            if kind is str:
                continue
            if kind in _NUMBERS:
                if type(other[key]) is bool:
                    return False
            elif not _of_a_kind(each, other[key]):
                return False
        return True
    if kind is list:
        return all(map(_of_a_kind, one, other))
    if isinstance(one, dict):
        return _of_a_kind(dict(one), other)
    if isinstance(one, list):
        return _of_a_kind(list(one), other)
    return (kind is bool) is (type(other) is bool)


def same(told: int, known: int) -> bool:
    """Whether two digests may be of the same value."""
    return told == known or BLANK in (told, known)
