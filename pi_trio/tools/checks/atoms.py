"""Rules on the value as a whole: its type, `enum` and `const`, and the keywords of strings and numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

from ...jsontext import print_json
from ..ecma_regex import ecma_regex
from ..formats import FORMATS
from ..js_number import text_of
from ..js_value import Plain, comparable, is_number, joined, kinds_of, name_of_kind
from .rule import Demand, Path, Report, Rule, Seen, anything, number_at, size_rules

#: An error text names so many values of a list at most.
_LISTED: Final = 20


class Kind:
    """`type`. Names that JSON Schema does not know fit no value."""

    __slots__ = ("_expected", "_names")

    def __init__(self, declared: Plain) -> None:
        names = declared if isinstance(declared, list) else [declared]
        self._names = frozenset(name for name in names if isinstance(name, str))
        self._expected = joined(names, " or ")

    def accepts(self, value: Plain, _seen: Seen | None) -> bool:
        return not self._names.isdisjoint(kinds_of(value))

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if not self.accepts(value, None):
            report.add(path, f"expected {self._expected}, got {name_of_kind(value)}")


def value_rules(node: dict[str, Plain]) -> Iterator[Rule]:
    """The rules for `enum` and `const`."""
    allowed = node.get("enum")
    if isinstance(allowed, list):
        members = frozenset(map(comparable, allowed))
        yield Demand(
            anything, lambda value: comparable(value) in members, f"expected one of {listing(allowed)}"
        )
    if "const" in node:
        constant = comparable(node["const"])
        yield Demand(
            anything, lambda value: comparable(value) == constant, f"expected {print_json(node['const'])}"
        )


def string_rules(node: dict[str, Plain]) -> Iterator[Rule]:
    """The rules for lengths (in code points), `pattern` and `format`. Unknown formats are annotations.

    Raises:
        PatternError: the pattern is invalid.
    """
    yield from size_rules(node, _is_string, "minLength", "maxLength", "characters")
    pattern, format_name = node.get("pattern"), node.get("format")
    if isinstance(pattern, str):
        yield Demand(_is_string, ecma_regex(pattern).matches, f"expected to match {pattern}")
    if isinstance(format_name, str) and format_name in FORMATS:
        yield Demand(_is_string, FORMATS[format_name], f"expected format {format_name}")


#: Keyword, how a value must stand to the bound, and how the text says it.
_BOUNDS: Final[tuple[tuple[str, Callable[[float, float], bool], str], ...]] = (
    ("minimum", operator.ge, ">="),
    ("maximum", operator.le, "<="),
    ("exclusiveMinimum", operator.gt, ">"),
    ("exclusiveMaximum", operator.lt, "<"),
)


def number_rules(node: dict[str, Plain]) -> Iterator[Rule]:
    """The rules for the four bounds and `multipleOf`."""
    for keyword, holds, sign in _BOUNDS:
        bound = number_at(node, keyword)
        if bound is not None:
            yield Demand(is_number, partial(_stands, holds, bound), f"expected {sign} {text_of(bound)}")
    step = number_at(node, "multipleOf")
    if step is not None:
        yield Demand(is_number, partial(_is_multiple, step), f"expected a multiple of {text_of(step)}")


def listing(values: list[Plain]) -> str:
    """`values` as JSON, a long list cut short."""
    if len(values) <= _LISTED:
        return print_json(values)
    return f"{print_json(values[:_LISTED])[:-1]}, ... and {len(values) - _LISTED} more]"


def _is_string(value: Plain) -> bool:
    return isinstance(value, str)


def _stands(holds: Callable[[float, float], bool], bound: float, value: float) -> bool:
    return holds(value, bound)


def _is_multiple(step: float, value: float) -> bool:
    """Whether `value` is a multiple of `step`, as doubles divide or else as their decimal digits do.

    So 0.0075 is a multiple of 0.0001, although the doubles' quotient is 74.99999999999999.
    """
    if step == 0 or not math.isfinite(value):
        return False
    quotient = float(value) / float(step)
    if not math.isfinite(quotient):
        return math.fmod(value, step) == 0
    return quotient.is_integer() or (Fraction(text_of(value)) / Fraction(text_of(step))).denominator == 1
