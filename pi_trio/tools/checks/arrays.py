"""Rules on the items of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..js_number import text_of
from ..js_value import Plain, comparable
from .rule import Demand, Path, Report, Rule, Seen, SubSchema, number_at, size_rules

if TYPE_CHECKING:
    from .schema import Schema


def array_rules(node: dict[str, Plain], sub: SubSchema) -> Iterator[Rule]:
    """The rules for all keywords on items, in the order in which their faults are told."""
    items, prefix, rest = node.get("items"), node.get("prefixItems"), "items"
    if isinstance(items, list):  # a tuple as older drafts write it
        prefix, rest = items, "additionalItems"
    first = [sub(schema) for schema in prefix] if isinstance(prefix, list) else []
    others = sub(node[rest]) if rest in node else None
    if first or others is not None:
        yield Items(first, others)
    yield from size_rules(node, _is_array, "minItems", "maxItems", "items")
    if node.get("uniqueItems") is True:
        yield Demand(_is_array, _is_unique, "expected unique items")
    if "contains" in node:
        yield Contains(sub(node["contains"]), number_at(node, "minContains"), number_at(node, "maxContains"))


class Items:
    """`prefixItems` and `items`, or the `items` list and `additionalItems` of older drafts."""

    __slots__ = ("_first", "_others")

    def __init__(self, first: list[Schema], others: Schema | None) -> None:
        self._first = first
        self._others = others

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if not isinstance(value, list):
            return True
        for schema, item in zip(self._first, value, strict=False):
            if not schema.accepts(item):
                return False
        others, start = self._others, len(self._first)
        if others is not None:
            for item in value[start:] if start else value:
                if not others.accepts(item):
                    return False
        if seen is not None:
            seen.items = max(seen.items, min(start, len(value)))
            seen.every_item |= others is not None
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                schema = self._first[index] if index < len(self._first) else self._others
                if schema is not None:
                    schema.explain(item, (*path, str(index)), report)


class Contains:
    """`contains` with `minContains` and `maxContains`."""

    __slots__ = ("_complaint", "_least", "_most", "_schema")

    def __init__(self, schema: Schema, least: float | None, most: float | None) -> None:
        self._schema = schema
        self._least = 1 if least is None else least
        self._most = most
        self._complaint = _contains_complaint(self._least, most)

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if not isinstance(value, list):
            return True
        matching = [index for index, item in enumerate(value) if self._schema.accepts(item)]
        if seen is not None:
            seen.single_items.update(matching)
        return len(matching) >= self._least and (self._most is None or len(matching) <= self._most)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if not self.accepts(value, None):
            report.add(path, self._complaint)


def _contains_complaint(least: float, most: float | None) -> str:
    if most is None:
        return f"expected at least {text_of(least)} matching {'item' if least == 1 else 'items'}"
    if least == 0:
        return f"expected at most {text_of(most)} matching {'item' if most == 1 else 'items'}"
    return f"expected between {text_of(least)} and {text_of(most)} matching items"


def _is_array(value: Plain) -> bool:
    return isinstance(value, list)


def _is_unique(value: list[Plain]) -> bool:
    return len({comparable(item) for item in value}) == len(value)
