"""The keywords about values of one type, as one rule that passes over all other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeGuard

from ..checks import Path
from ..js_value import Plain, is_number
from .arrays import array_rules
from .atoms import number_rules, string_rules
from .dialect import Dialect
from .evaluated import Evaluated
from .foreign import ForeignTest, array_test, number_test, object_test, string_test
from .keywords import Node, texts
from .objects import object_rules
from .rule import AnyRule, Compile, Report, Rule, T


def groups(node: Node, compile_: Compile, dialect: Dialect) -> Iterator[AnyRule]:
    """The four groups of a schema, as far as it has keywords for them."""
    mixed = [] if dialect.passes_over_other_types else texts(node.get("type")) or []
    members = list(object_rules(node, compile_, dialect))
    if members:
        yield Group(_is_object, members, object_test(members) if "object" in mixed else None)
    items = list(array_rules(node, compile_, dialect))
    if items:
        yield Group(_is_array, items, array_test(items) if "array" in mixed else None)
    of_text = list(string_rules(node, dialect))
    if of_text:
        yield Group(_is_string, of_text, string_test(node, dialect) if "string" in mixed else None)
    of_number = list(number_rules(node, dialect))
    if of_number:
        numeric = "number" in mixed or "bigint" in mixed
        yield Group(is_number, of_number, number_test(node, dialect) if numeric else None)


class Group(Rule[Plain], Generic[T]):
    """Rules about values of one kind.

    Args:
        applies: whether a value is of that kind. rules: those about it.
        foreign: decides about all other values, where they are not passed over.
    """

    __slots__ = ("_applies", "_foreign", "_rules")

    def __init__(
        self,
        applies: Callable[[Plain], TypeGuard[T]],
        rules: Sequence[Rule[T]],
        foreign: ForeignTest | None = None,
    ) -> None:
        self._applies = applies
        self._rules = rules
        self._foreign = foreign

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        if self._applies(value):
            for rule in self._rules:
                if not rule.accepts(value, seen):
                    return False
            return True
        return self._foreign is None or self._foreign(value, seen)

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        if self._applies(value):
            for rule in self._rules:
                rule.explain(value, path, report)


def _is_object(value: Plain) -> TypeGuard[dict[str, Plain]]:
    return isinstance(value, dict)


def _is_array(value: Plain) -> TypeGuard[list[Plain]]:
    return isinstance(value, list)


def _is_string(value: Plain) -> TypeGuard[str]:
    return isinstance(value, str)
