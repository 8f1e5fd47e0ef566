"""A number that stands for a JSON value: equal for equal values, whatever the order of their keys.

A monitor remembers what a run has said, to compare it with what `agent_end` tells. A run may have said a gigabyte, so
only a number is kept of each message. It is good within one process.
"""

from __future__ import annotations

from typing import Any, Final

BLANK: Final = 0
"""Stands for a message that was not seen; it equals every other."""


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
    return (-1,) if value == -1 else value


def same(told: int, known: int) -> bool:
    """Whether two digests may be of the same value."""
    return told == known or BLANK in (told, known)
