"""Rules on the members of objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ..checks import Path
from ..js_value import Plain
from .dialect import Dialect
from .evaluated import Evaluated
from .keywords import Node, is_schema, members_of, schema_at, schemas_by_key, texts, texts_at
from .patterns import Pattern, plain_pattern, unicode_pattern
from .rule import AnyRule, Compile, Report, Rule, accepts_member, faults_of, size_rule

Members: TypeAlias = dict[str, Plain]
ObjectRule: TypeAlias = Rule[Members]


def object_rules(node: Node, compile_: Compile, dialect: Dialect) -> Iterator[ObjectRule]:
    """The rules for all keywords on members, in the order in which they are asked.

    Raises:
        PatternError: a pattern for keys is invalid.
    """
    required, declared = texts_at(node, "required"), schemas_by_key(node, "properties")
    patterns, names = schemas_by_key(node, "patternProperties"), schema_at(node, "propertyNames")
    if required:
        yield Required(required)
    if "additionalProperties" in node:
        yield from _additional_rule(node, compile_, dialect)
    yield from _dependency_rules(node, compile_)
    if patterns:
        yield Patterns({pattern: compile_(schema) for pattern, schema in patterns.items()})
    if declared:
        yield Declared({key: compile_(schema) for key, schema in declared.items()})
    if names is not None:
        yield Names(compile_(names), tells_faults=dialect.tells_faults_of_others)
    yield from size_rule(node, "minProperties", "properties")
    yield from size_rule(node, "maxProperties", "properties")


class Required(Rule[Members]):
    """`required`."""

    __slots__ = ("_keys",)

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def accepts(self, value: Members, _seen: Evaluated | None, /) -> bool:
        return all(key in value for key in self._keys)

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        missing = [key for key in self._keys if key not in value]
        if missing:
            report.add(path, f"must have required properties {', '.join(missing)}", missing=missing[0])


class Declared(Rule[Members]):
    """`properties`."""

    __slots__ = ("schemas",)

    def __init__(self, schemas: Mapping[str, AnyRule]) -> None:
        self.schemas = schemas

    def accepts(self, value: Members, seen: Evaluated | None, /) -> bool:
        for key, schema in self.schemas.items():
            if key in value:
                if not accepts_member(schema, value[key], seen):
                    return False
                if seen is not None:
                    seen.keys.add(key)
        return True

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        for key, schema in self.schemas.items():
            if key in value:
                schema.explain(value[key], (*path, key), report)


class Patterns(Rule[Members]):
    """`patternProperties`."""

    __slots__ = ("_schemas",)

    def __init__(self, schemas: Mapping[str, AnyRule]) -> None:
        self._schemas = [(unicode_pattern(source), schema) for source, schema in schemas.items()]

    def accepts(self, value: Members, seen: Evaluated | None, /) -> bool:
        for matches, schema in self._schemas:
            for key, item in value.items():
                if matches(key):
                    if not accepts_member(schema, item, seen):
                        return False
                    if seen is not None:
                        seen.keys.add(key)
        return True

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        for matches, schema in self._schemas:
            for key, item in value.items():
                if matches(key):
                    schema.explain(item, (*path, key), report)


def _additional_rule(node: Node, compile_: Compile, dialect: Dialect) -> Iterator[ObjectRule]:
    schema = schema_at(node, "additionalProperties")
    if schema is None:
        return
    required, declared = texts_at(node, "required"), schemas_by_key(node, "properties")
    patterns = schemas_by_key(node, "patternProperties")
    read = unicode_pattern if dialect.unicode_keys else plain_pattern
    expected = None
    if schema is False and patterns is None and required is not None and len(required) == len(declared or ()):
        # Where nothing is optional, members are only counted: which ones there are is for `required` to say.
        expected = len(required) if declared is not None else None
    yield Additional(
        compile_(schema),
        frozenset(declared or ()),
        [read(pattern) for pattern in patterns or ()],
        expected,
        tells_faults=dialect.tells_faults_of_others,
    )


class Additional(Rule[Members]):
    """`additionalProperties`.

    Args:
        schema: for members that are not known. known, patterns: which ones are.
        expected: so many members are right, whatever their names; None to look at each.
        tells_faults: report what is wrong with each member, and not only that some are wrong.
    """

    __slots__ = ("_expected", "_known", "_patterns", "_schema", "_tells_faults")

    def __init__(
        self,
        schema: AnyRule,
        known: frozenset[str],
        patterns: list[Pattern],
        expected: int | None,
        *,
        tells_faults: bool,
    ) -> None:
        self._schema = schema
        self._known = known
        self._patterns = patterns
        self._expected = expected
        self._tells_faults = tells_faults

    def accepts(self, value: Members, seen: Evaluated | None, /) -> bool:
        if self._expected is not None:
            return len(value) == self._expected
        for key, item in self._additional(value):
            if not accepts_member(self._schema, item, seen):
                return False
            if seen is not None:
                seen.keys.add(key)
        return True

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        wrong = False
        for key, item in self._additional(value):
            faults = faults_of(self._schema, item, (*path, key), report)
            if self._tells_faults:
                report.take(faults)
            wrong |= bool(faults)
        if wrong:
            report.add(path, "must not have additional properties")

    def _additional(self, value: Members) -> Iterator[tuple[str, Plain]]:
        for key, item in value.items():
            if key not in self._known and not any(matches(key) for matches in self._patterns):
                yield key, item


class Names(Rule[Members]):
    """`propertyNames`."""

    __slots__ = ("_schema", "_tells_faults")

    def __init__(self, schema: AnyRule, *, tells_faults: bool) -> None:
        self._schema = schema
        self._tells_faults = tells_faults

    def accepts(self, value: Members, seen: Evaluated | None, /) -> bool:
        return all(self._schema.accepts(key, seen) for key in value)

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        wrong: list[str] = []
        for key in value:
            faults = faults_of(self._schema, key, (*path, key), report)
            if self._tells_faults:
                report.take(faults)
            if faults:
                wrong.append(key)
        if wrong:
            report.add(path, f"property names {', '.join(wrong)} are invalid")


def _dependency_rules(node: Node, compile_: Compile) -> Iterator[ObjectRule]:
    old = members_of(node.get("dependencies"))
    if old is not None and all(is_schema(needed) or texts(needed) is not None for needed in old.values()):
        yield Dependencies(
            {key: texts(needed) or compile_(needed) for key, needed in old.items()}, every_fault=False
        )
    keys = members_of(node.get("dependentRequired"))
    if keys is not None and all(texts(needed) is not None for needed in keys.values()):
        yield Dependencies({key: texts(needed) or [] for key, needed in keys.items()})
    schemas = schemas_by_key(node, "dependentSchemas")
    if schemas is not None:
        yield Dependencies({key: compile_(schema) for key, schema in schemas.items()})


class Dependencies(Rule[Members]):
    """`dependentRequired`, `dependentSchemas`, or `dependencies`, which can hold either.

    Args:
        needed: for each key the others that must be there with it, or the schema for the object that has it.
        every_fault: report each key that is missing, and not the first alone.
    """

    __slots__ = ("_every_fault", "needed")

    def __init__(self, needed: Mapping[str, list[str] | AnyRule], *, every_fault: bool = True) -> None:
        self.needed = needed
        self._every_fault = every_fault

    def accepts(self, value: Members, seen: Evaluated | None, /) -> bool:
        for key, needed in self.needed.items():
            if key not in value:
                continue
            if isinstance(needed, list):
                if not all(other in value for other in needed):
                    return False
            elif not needed.accepts(value, seen):
                return False
        return True

    def explain(self, value: Members, path: Path, report: Report, /) -> None:
        for key, needed in self.needed.items():
            if key not in value:
                continue
            if not isinstance(needed, list):
                needed.explain(value, path, report)
                continue
            missing = [other for other in needed if other not in value]
            for _ in missing if self._every_fault else missing[:1]:
                listed = ", ".join(needed)
                report.add(path, f"must have properties {listed} when property {key} is present")
