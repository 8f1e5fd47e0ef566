"""Rules that hand the same value on to other schemas: `allOf`, `not`, `if`, `$ref` and `$dynamicRef`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..js_value import Plain
from .rule import Path, Report, Rule, Seen

if TYPE_CHECKING:
    from .schema import Schema


class All:
    """`allOf`."""

    __slots__ = ("_schemas",)

    def __init__(self, schemas: Sequence[Schema]) -> None:
        self._schemas = schemas

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        for schema in self._schemas:
            if not schema.accepts(value, seen):
                return False
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        for schema in self._schemas:
            schema.explain(value, path, report)


class Not:
    """`not`."""

    __slots__ = ("_schema",)

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def accepts(self, value: Plain, _seen: Seen | None) -> bool:
        return not self._schema.accepts(value)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if self._schema.accepts(value):
            report.add(path, "must not match the schema in not")


class Conditional:
    """`if`, with `then` or `else` or both."""

    __slots__ = ("_condition", "_otherwise", "_then")

    def __init__(self, condition: Schema, then: Schema | None, otherwise: Schema | None) -> None:
        self._condition = condition
        self._then = then
        self._otherwise = otherwise

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        own = None if seen is None else Seen()
        branch = self._otherwise
        if self._condition.accepts(value, own):
            branch = self._then
            if seen is not None and own is not None:
                seen.add(own)
        return branch is None or branch.accepts(value, seen)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        branch = self._then if self._condition.accepts(value) else self._otherwise
        if branch is not None:
            branch.explain(value, path, report)


class Reference:
    """`$ref` to a schema that was found.

    Args:
        target: that schema.
        entered: the stack to note `resource` on, where the target lies in another resource and that matters.
        resource: the target's base URI.
    """

    __slots__ = ("_entered", "_resource", "_target")

    def __init__(self, target: Schema, entered: list[str] | None = None, resource: str = "") -> None:
        self._target = target
        self._entered = entered
        self._resource = resource

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if self._entered is None:
            return self._target.accepts(value, seen)
        self._entered.append(self._resource)
        try:
            return self._target.accepts(value, seen)
        finally:
            self._entered.pop()

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if not isinstance(value, dict | list):
            self._target.explain(value, path, report)
            return
        key = (id(self._target), id(value), path)
        known = report.known.get(key)
        if known is None:
            apart = report.apart()
            self._target.explain(value, path, apart)
            known = report.known[key] = apart.faults
        report.faults += known


class DynamicReference:
    """`$dynamicRef`: of the resources entered, the outermost that has the dynamic anchor decides.

    Where the target is no dynamic anchor, nothing is anchored, and the fallback decides, as for a `$ref`. What is
    reported about it is up to the schema (see `Schema.explain`).

    Args:
        fallback: what the reference names where it stands.
        anchored: the schemas that bear the anchor, by their resource.
        entered: the resources that evaluation is in, outermost first.
    """

    __slots__ = ("_anchored", "_entered", "_fallback")

    def __init__(self, fallback: Rule, anchored: Mapping[str, Schema], entered: list[str]) -> None:
        self._fallback = fallback
        self._anchored = anchored
        self._entered = entered

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        for resource in self._entered:
            if resource in self._anchored:
                return self._anchored[resource].accepts(value, seen)
        return self._fallback.accepts(value, seen)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        pass
