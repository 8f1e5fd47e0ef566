"""`unevaluatedProperties` and `unevaluatedItems`: what is asked of the members that no other keyword looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..js_value import Plain
from .rule import Path, Report, Seen, SubSchema

if TYPE_CHECKING:
    from .schema import Schema


class Leftovers:
    """Both keywords of one schema, or one of them. Not a rule: it depends on what all the rules have seen."""

    __slots__ = ("_items", "_properties")

    def __init__(self, properties: Schema | None, items: Schema | None) -> None:
        self._properties = properties
        self._items = items

    @classmethod
    def of(cls, node: dict[str, Plain], sub: SubSchema) -> Leftovers | None:
        """Those of a schema object, if it has any."""
        properties = items = None
        if "unevaluatedProperties" in node:
            properties = sub(node["unevaluatedProperties"], refused="unknown field")
        if "unevaluatedItems" in node:
            items = sub(node["unevaluatedItems"], refused="unexpected item")
        return None if properties is None and items is None else cls(properties, items)

    def accept(self, value: Plain, seen: Seen) -> bool:
        """Whether the leftovers of `value` pass. They count as seen afterwards."""
        if isinstance(value, dict) and self._properties is not None and not seen.every_key:
            for key, item in value.items():
                if key not in seen.keys and not self._properties.accepts(item):
                    return False
            seen.every_key = True
        if isinstance(value, list) and self._items is not None and not seen.every_item:
            for index in range(seen.items, len(value)):
                if index not in seen.single_items and not self._items.accepts(value[index]):
                    return False
            seen.every_item = True
        return True

    def explain(self, value: Plain, seen: Seen, path: Path, report: Report) -> None:
        if isinstance(value, dict) and self._properties is not None and not seen.every_key:
            for key, item in value.items():
                if key not in seen.keys:
                    self._properties.explain(item, (*path, key), report)
        if isinstance(value, list) and self._items is not None and not seen.every_item:
            for index in range(seen.items, len(value)):
                if index not in seen.single_items:
                    self._items.explain(value[index], (*path, str(index)), report)
