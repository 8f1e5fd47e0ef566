"""What a rule of a schema is, and what passes between rules.

A rule answers twice: `accepts` says whether a value is all right, quickly and for every call; `explain` is asked only
about values that a schema has refused, and reports what is wrong. `Demand` is the rule of most keywords: it looks at
one value alone and has one complaint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import attrs

from ..js_number import text_of
from ..js_value import Plain, is_number, utf16_length

if TYPE_CHECKING:
    from .schema import Schema

#: The way to a value: object keys and array indices, outermost first.
Path: TypeAlias = tuple[str, ...]


class SchemaError(ValueError):
    """What was given as a schema is not one. The text is what the model would be told."""


class Fault(NamedTuple):
    """One thing that is wrong, and where."""

    path: Path
    message: str


class Report:
    """The faults found so far, in order.

    `known` keeps what references have reported for a value: a recursive choice explains every branch, and each branch
    the same children again, which would double the work at every level.
    """

    __slots__ = ("faults", "known")

    def __init__(self, known: dict[tuple[int, int, Path], list[Fault]] | None = None) -> None:
        self.faults: list[Fault] = []
        self.known = {} if known is None else known

    def add(self, path: Path, message: str) -> None:
        self.faults.append(Fault(path, message))

    def apart(self) -> Report:
        """An empty report for a trial, whose faults may be thrown away."""
        return Report(self.known)


@attrs.define
class Seen:
    """Which members of one value some keyword has looked at: what the `unevaluated…` keywords leave alone."""

    keys: set[str] = attrs.Factory(set[str])
    every_key: bool = False
    #: So many items from the front, and some single ones behind them.
    items: int = 0
    single_items: set[int] = attrs.Factory(set[int])
    every_item: bool = False

    def add(self, other: Seen) -> None:
        self.keys |= other.keys
        self.every_key |= other.every_key
        self.items = max(self.items, other.items)
        self.single_items |= other.single_items
        self.every_item |= other.every_item


class SubSchema(Protocol):
    """Compiles a subschema, for the place where it stands."""

    def __call__(self, node: Plain, *, refused: str = ...) -> Schema:
        """The compiled `node`. Where it is `false`, `refused` is what it reports.

        Raises:
            SchemaError: it is no schema.
        """
        ...


class Rule(Protocol):
    """One keyword of a schema, or a few that belong together."""

    def accepts(self, value: Plain, seen: Seen | None, /) -> bool:
        """Whether `value` passes. Note in `seen`, if there is one, which members were looked at."""
        ...

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        """Report what is wrong with `value`, nothing if it passes."""
        ...


class Demand:
    """A keyword that tests one value by itself.

    Args:
        applies: whether the keyword has anything to say about a value.
        test: whether such a value passes.
        complaint: what to report otherwise.
    """

    __slots__ = ("_applies", "_complaint", "_test")

    def __init__(self, applies: Callable[[Plain], bool], test: Callable[..., bool], complaint: str) -> None:
        self._applies = applies
        self._test = test
        self._complaint = complaint

    def accepts(self, value: Plain, _seen: Seen | None) -> bool:
        return not self._applies(value) or self._test(value)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if not self.accepts(value, None):
            report.add(path, self._complaint)


def size_rules(
    node: dict[str, Plain], applies: Callable[[Plain], bool], least: str, most: str, noun: str
) -> Iterator[Demand]:
    """The rules for the keywords `least` and `most` on how long a value is: a string's code points, items, members."""
    bound = number_at(node, least)
    if bound is not None:
        yield Demand(applies, partial(_at_least, bound), f"expected at least {text_of(bound)} {noun}")
    bound = number_at(node, most)
    if bound is not None:
        yield Demand(applies, partial(_at_most, bound), f"expected at most {text_of(bound)} {noun}")


def anything(_value: Plain) -> bool:
    """For a `Demand` on values of every type."""
    return True


def refusal(complaint: str) -> Demand:
    """The rule that no value passes."""
    return Demand(anything, lambda _: False, complaint)


def number_at(node: dict[str, Plain], keyword: str) -> int | float | None:
    """The keyword's value where it is a number; any other value means nothing."""
    value = node.get(keyword)
    return value if is_number(value) else None


def pointer_length(path: Path) -> int:
    """How long `path` is as a JSON Pointer, counted as JavaScript counts."""
    return sum(1 + utf16_length(key) + key.count("~") + key.count("/") for key in path)


def _at_least(bound: float, value: Sized) -> bool:
    return len(value) >= bound


def _at_most(bound: float, value: Sized) -> bool:
    return len(value) <= bound
