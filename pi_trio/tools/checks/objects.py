"""Rules on the members of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..ecma_regex import EcmaRegex, ecma_regex
from ..js_value import Plain, in_key_order, joined
from .rule import Path, Report, Rule, Seen, SubSchema, size_rules

if TYPE_CHECKING:
    from .schema import Schema


def object_rules(node: dict[str, Plain], sub: SubSchema) -> Iterator[Rule]:
    """The rules for all keywords on members, in the order in which their faults are told."""
    required = node.get("required")
    if isinstance(required, list):
        yield Required([key for key in required if isinstance(key, str)])
    declared = {key: sub(schema) for key, schema in _members(node, "properties")}
    if declared:
        yield Declared(declared)
    others = Others(node, sub)
    if others.matter:
        yield others
    yield from size_rules(node, _is_object, "minProperties", "maxProperties", "properties")
    yield from _dependency_rules(node, sub)


class Required:
    """`required`."""

    __slots__ = ("_keys",)

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def accepts(self, value: Plain, _seen: Seen | None) -> bool:
        if isinstance(value, dict):
            for key in self._keys:
                if key not in value:
                    return False
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if isinstance(value, dict):
            for key in self._keys:
                if key not in value:
                    report.add((*path, key), "missing")


class Declared:
    """`properties`."""

    __slots__ = ("_schemas",)

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self._schemas = schemas

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if isinstance(value, dict):
            for key, schema in self._schemas.items():
                if key in value:
                    if not schema.accepts(value[key]):
                        return False
                    if seen is not None:
                        seen.keys.add(key)
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if isinstance(value, dict):
            for key, schema in self._schemas.items():
                if key in value:
                    schema.explain(value[key], (*path, key), report)


class Others:
    """`patternProperties`, `additionalProperties` and `propertyNames`: what is asked of each key that is there."""

    __slots__ = ("_additional", "_declared", "_names", "_patterns", "matter")

    def __init__(self, node: dict[str, Plain], sub: SubSchema) -> None:
        self._declared = frozenset(key for key, _ in _members(node, "properties"))
        self._patterns: list[tuple[EcmaRegex, Schema]] = [
            (ecma_regex(pattern), sub(schema)) for pattern, schema in _members(node, "patternProperties")
        ]
        self._additional: Schema | None = None
        if "additionalProperties" in node:
            self._additional = sub(node["additionalProperties"], refused="unknown field")
        self._names = sub(node["propertyNames"]) if "propertyNames" in node else None
        #: Whether any of the three keywords is there.
        self.matter = bool(self._patterns) or self._additional is not None or self._names is not None

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if isinstance(value, dict):
            for key, item in value.items():
                if self._names is not None and not self._names.accepts(key):
                    return False
                schemas = self._schemas_of(key)
                for schema in schemas:
                    if not schema.accepts(item):
                        return False
                if schemas and seen is not None:
                    seen.keys.add(key)
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                here = (*path, key)
                for schema in self._schemas_of(key):
                    schema.explain(item, here, report)
                if self._names is not None and not self._names.accepts(key):
                    report.add(here, "invalid property name")

    def _schemas_of(self, key: str) -> list[Schema]:
        """The schemas by pattern; where there is none, and the key is not declared, the one for additional members."""
        found = [schema for pattern, schema in self._patterns if pattern.matches(key)]
        if not found and self._additional is not None and key not in self._declared:
            found.append(self._additional)
        return found


class Needs:
    """The keys that `dependentRequired` asks for beside another one."""

    __slots__ = ("_key", "_needed")

    def __init__(self, key: str, needed: list[Plain]) -> None:
        self._key = key
        self._needed = [joined([name], "") for name in needed]

    def accepts(self, value: Plain, _seen: Seen | None) -> bool:
        return isinstance(value, dict) and all(key in value for key in self._needed)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        for key in self._needed:
            if isinstance(value, dict) and key not in value:
                report.add((*path, key), f"required when {self._key} is present")


class Dependent:
    """What is asked of an object that has a certain member.

    Args:
        key: that member's.
        rule: judges the object.
        told: whether its faults are reported.
        looks: whether the members that it looks at count as evaluated.
    """

    __slots__ = ("_key", "_looks", "_rule", "_told")

    def __init__(self, key: str, rule: Schema | Needs, *, told: bool = True, looks: bool = True) -> None:
        self._key = key
        self._rule = rule
        self._told = told
        self._looks = looks

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        if not isinstance(value, dict) or self._key not in value:
            return True
        return self._rule.accepts(value, seen if self._looks else None)

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        if self._told and isinstance(value, dict) and self._key in value:
            self._rule.explain(value, path, report)


def _dependency_rules(node: dict[str, Plain], sub: SubSchema) -> Iterator[Rule]:
    """The rules for `dependentRequired`, `dependentSchemas`, and `dependencies`, which in older drafts is both."""
    new = {
        key: Needs(key, keys) for key, keys in _members(node, "dependentRequired") if isinstance(keys, list)
    }
    old = {
        key: Needs(key, rule) if isinstance(rule, list) else sub(rule)
        for key, rule in _members(node, "dependencies")
    }
    # Of a member that both keywords name, only what the older one says is told.
    for key in in_key_order(dict.fromkeys([*new, *old])):
        yield Dependent(key, old[key] if key in old else new[key], looks=False)
    for key in new.keys() & old.keys():
        yield Dependent(key, new[key], told=False)
    for key, schema in _members(node, "dependentSchemas"):
        yield Dependent(key, sub(schema))


def _members(node: dict[str, Plain], keyword: str) -> Iterator[tuple[str, Plain]]:
    """The keyword's members where it is an object; anything else means nothing."""
    value = node.get(keyword)
    if isinstance(value, dict):
        yield from value.items()


def _is_object(value: Plain) -> bool:
    return isinstance(value, dict)
