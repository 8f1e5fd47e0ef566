"""Rules on the items of arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import Final, TypeAlias

from ..checks import Path
from ..js_value import Plain, is_number, well_formed
from .dialect import Dialect
from .evaluated import Evaluated
from .keywords import Node, number_at, schema_at, schemas_at
from .rule import AnyRule, Compile, Demand, Report, Rule, accepts_member, faults_of, size_rule

Items: TypeAlias = list[Plain]
ArrayRule: TypeAlias = Rule[Items]


def array_rules(node: Node, compile_: Compile, dialect: Dialect) -> Iterator[ArrayRule]:
    """The rules for all keywords on items, in the order in which they are asked."""
    tuple_, prefix = schemas_at(node, "items"), schemas_at(node, "prefixItems")
    others, additional = schema_at(node, "items"), schema_at(node, "additionalItems")
    contained, notes = schema_at(node, "contains"), dialect.contains_evaluates
    least, most = number_at(node, "minContains"), number_at(node, "maxContains")
    if tuple_ is not None and additional is not None:
        yield Following(compile_(additional), len(tuple_), additional=True)
    if contained is not None and least != 0:
        yield Contains(compile_(contained), least=1, notes=notes, until_found=not notes)
    if tuple_:
        yield Leading([compile_(schema) for schema in tuple_])
    if others is not None:
        yield Following(compile_(others), len(prefix or ()))
    if contained is not None and most is not None:
        yield Contains(compile_(contained), most=most)
    yield from size_rule(node, "maxItems", "items")
    if contained is not None and least is not None:
        yield Contains(compile_(contained), least=least, notes=notes)
    yield from size_rule(node, "minItems", "items")
    if prefix:
        yield Leading([compile_(schema) for schema in prefix])
    if node.get("uniqueItems") is True:
        yield Unique(_is_unique, "must not have duplicate items")


class Leading(Rule[Items]):
    """The first items, each by a schema of its own: `prefixItems`, or a list of `items`."""

    __slots__ = ("schemas",)

    def __init__(self, schemas: list[AnyRule]) -> None:
        self.schemas = schemas

    def accepts(self, value: Items, seen: Evaluated | None, /) -> bool:
        for index, (schema, item) in enumerate(zip(self.schemas, value, strict=False)):
            if not accepts_member(schema, item, seen):
                return False
            if seen is not None:
                seen.indices.add(index)
        return True

    def explain(self, value: Items, path: Path, report: Report, /) -> None:
        for index, (schema, item) in enumerate(zip(self.schemas, value, strict=False)):
            schema.explain(item, (*path, str(index)), report)


class Following(Rule[Items]):
    """All items from the index `start` on: `items`, or `additionalItems`, which reports the first fault alone."""

    __slots__ = ("_schema", "additional", "start")

    def __init__(self, schema: AnyRule, start: int, *, additional: bool = False) -> None:
        self._schema = schema
        self.start = start
        self.additional = additional

    def accepts(self, value: Items, seen: Evaluated | None, /) -> bool:
        for index, item in enumerate(islice(value, self.start, None), self.start):
            if not accepts_member(self._schema, item, seen):
                return False
            if seen is not None:
                seen.indices.add(index)
        return True

    def explain(self, value: Items, path: Path, report: Report, /) -> None:
        for index, item in enumerate(islice(value, self.start, None), self.start):
            faults = faults_of(self._schema, item, (*path, str(index)), report)
            report.take(faults)
            if faults and self.additional:
                return


class Contains(Rule[Items]):
    """`contains`, `minContains` or `maxContains`. Each goes through the items by itself.

    Args:
        schema: what is looked for.
        least: so many items must match at least.
        most: and so many at most.
        notes: items that match have been looked at.
        until_found: look no further than to the first that matches.
    """

    __slots__ = ("_least", "_most", "_notes", "_schema", "until_found")

    def __init__(
        self,
        schema: AnyRule,
        *,
        least: float = 0,
        most: float = inf,
        notes: bool = False,
        until_found: bool = False,
    ) -> None:
        self._schema = schema
        self._least = least
        self._most = most
        self._notes = notes
        self.until_found = until_found

    def accepts(self, value: Items, seen: Evaluated | None, /) -> bool:
        count = 0
        for index, item in enumerate(value):
            if self._schema.accepts(item, seen):
                count += 1
                if seen is not None and self._notes:
                    seen.indices.add(index)
                if self.until_found:
                    break
        return self._least <= count <= self._most

    def explain(self, value: Items, path: Path, report: Report, /) -> None:
        count = sum(not faults_of(self._schema, item, path, report) for item in value)
        if not self._least <= count <= self._most:
            report.add(path, "must contain at least 1 valid item")


class Unique(Demand[Items]):
    """`uniqueItems`."""

    __slots__ = ()


# -- uniqueness ------------------------------------------------------------------------------------------------

_ARRAY: Final = b"\x00"
_FALSE: Final = b"\x02\x00"
_TRUE: Final = b"\x02\x01"
_NULL: Final = b"\x06"
_NUMBER: Final = b"\x07"
_OBJECT: Final = b"\x08"
_STRING: Final = b"\x0a"


def _is_unique(items: Items) -> bool:
    return len(set(map(_digest, items))) == len(items)


def _digest(value: Plain) -> bytes:
    """The bytes by which items are compared. Nothing in them says where an array, object or text ends.

    So `[["a"], "b"]` and `[["a", "b"]]` are duplicates of each other.
    """
    if isinstance(value, list):
        return _ARRAY + b"".join(map(_digest, value))
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return _OBJECT + b"".join(_digest(key) + _digest(value[key]) for key in keys)
    if isinstance(value, str):
        return _STRING + well_formed(value).encode()
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return _NUMBER + struct.pack("<d", value) if is_number(value) else _NULL
