"""Rules on the value as a whole: its type, `enum` and `const`, and the keywords of strings and numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from ..js_number import is_whole, text_of
from ..js_value import comparable, joined, kinds_of
from .dialect import Dialect
from .keywords import Node, number_at, text_at, texts
from .patterns import unicode_pattern
from .rule import AnyRule, Demand, Rule

#: The types of JSON, and those that no JSON value has. Every other name fits every value.
_KNOWN: Final = frozenset(
    {"string", "number", "integer", "boolean", "null", "array", "object"}
    | {"bigint", "constructor", "function", "symbol", "undefined", "void"}
)
#: A remainder this small is none.
_TOLERANCE: Final = 1e-10


def kind_rules(node: Node) -> Iterator[AnyRule]:
    """The rule for `type`."""
    declared = node.get("type")
    names = [declared] if isinstance(declared, str) else texts(declared)
    if names is None:
        return
    expected = declared if isinstance(declared, str) else f"either {joined(names, ' or ')}"
    fits_all = not _KNOWN.issuperset(names)
    kinds = frozenset(names)
    yield Demand(lambda value: fits_all or not kinds.isdisjoint(kinds_of(value)), f"must be {expected}")


def constant_rules(node: Node) -> Iterator[AnyRule]:
    """The rules for `const` and `enum`."""
    if "const" in node:
        constant = comparable(node["const"])
        yield Demand(lambda value: comparable(value) == constant, "must be equal to constant")
    allowed = node.get("enum")
    if isinstance(allowed, list):
        members = frozenset(map(comparable, allowed))
        yield Demand(lambda value: comparable(value) in members, "must be equal to one of the allowed values")


def string_rules(node: Node, dialect: Dialect) -> Iterator[Rule[str]]:
    """The rules for lengths, `format` and `pattern`. Unknown formats are annotations.

    Raises:
        PatternError: the pattern is invalid under the `u` flag.
    """
    most, least = number_at(node, "maxLength"), number_at(node, "minLength")
    if most is not None:
        complaint = f"must not have more than {text_of(most)} characters"
        yield Demand(partial(dialect.lengths.at_most, most), complaint)
    if least is not None:
        complaint = f"must not have fewer than {text_of(least)} characters"
        yield Demand(partial(dialect.lengths.at_least, least), complaint)
    format_name, pattern = text_at(node, "format"), text_at(node, "pattern")
    if format_name is not None and format_name in dialect.formats:
        yield Demand(dialect.formats[format_name], f'must match format "{format_name}"')
    if pattern is not None:
        yield Demand(unicode_pattern(pattern), f'must match pattern "{pattern}"')


#: Keyword, how a value must stand to the bound, and how the text says it.
_BOUNDS: Final[tuple[tuple[str, Callable[[float, float], bool], str], ...]] = (
    ("exclusiveMaximum", operator.lt, "<"),
    ("exclusiveMinimum", operator.gt, ">"),
    ("maximum", operator.le, "<="),
    ("minimum", operator.ge, ">="),
)


def number_rules(node: Node, dialect: Dialect) -> Iterator[Rule[float]]:
    """The rules for the four bounds and `multipleOf`."""
    for keyword, holds, sign in _BOUNDS:
        bound = number_at(node, keyword)
        if bound is not None:
            yield Demand(partial(_stands, holds, bound), f"must be {sign} {text_of(bound)}")
    step = number_at(node, "multipleOf")
    if step is not None:
        multiple = partial(_is_multiple, step, dialect.negative_multiples)
        yield Demand(multiple, f"must be multiple of {text_of(step)}")


def _stands(holds: Callable[[float, float], bool], bound: float, value: float) -> bool:
    return holds(value, bound)


def _is_multiple(step: float, negative: bool, value: float) -> bool:
    """Whether `value` is a multiple of `step`, give or take a little; below zero often only if `negative`."""
    if step == 0:
        return False
    if is_whole(value) and math.fmod(1 / step, 1) == 0:
        return True
    rest = math.fmod(value, step)
    return min(abs(rest), abs(rest - step), abs(rest + step) if negative else math.inf) < _TOLERANCE
