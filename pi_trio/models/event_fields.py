"""What stands in a provider's event, asked leniently where Pi is lenient, and refused where Pi would fail.

Servers that imitate an API leave things out. A field that is not there is `ABSENT`, and texts show it as
JavaScript's templates do, because ids are made of such texts. A field *of* something that is not there is a malformed
event.
"""

from __future__ import annotations

from typing import TypeAlias

from ..jsonvalue import ABSENT, JSON, Absent, Number
from ..tools.js_value import joined
from .exchange import ResponseFailedError

Value: TypeAlias = JSON | Absent


def field(value: Value, name: str, of: str) -> Value:
    """A field of `value`, which is called `of`; `ABSENT` if it has none.

    Raises:
        ResponseFailedError: there is no `value` to ask.
    """
    if isinstance(value, dict):
        told: Value = value.get(name, ABSENT)
        return told
    if value is None or value is ABSENT:
        raise ResponseFailedError(f"The provider's stream is malformed: no {of} to take {name} from")
    return ABSENT


def optional(value: Value, name: str) -> Value:
    """A field of `value`, if there is either."""
    return value.get(name, ABSENT) if isinstance(value, dict) else ABSENT


def items(value: Value, name: str) -> list[JSON]:
    """The elements of an array that may be left out.

    Raises:
        ResponseFailedError: it is something else.
    """
    if value is None or value is ABSENT:
        return []
    if isinstance(value, list):
        return value
    raise ResponseFailedError(f"The provider's stream is malformed: {name} is no array")


def is_true(value: Value) -> bool:
    """Whether JavaScript takes it for true: all arrays and objects are."""
    return isinstance(value, (list, dict)) or bool(value)


def shown(value: Value) -> str:
    """The value within a text."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return "undefined" if isinstance(value, Absent) else joined([value], "")  # type: ignore[list-item]


def text_or_none(value: Value) -> str | None:
    """The value if it is a text."""
    return value if isinstance(value, str) else None


def count(value: Value) -> Number:
    """A number of tokens; none where no number is told."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
