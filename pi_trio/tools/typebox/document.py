"""A compiled schema, and how it comes to be.

Compilation goes through everything that a check could reach. What a reference leads to is compiled once for each base
URI, so a schema that refers to itself becomes a ring; the rest of the document may be nonsense.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...jsontext import print_json
from ..checks import Path, SchemaError
from ..ecma_regex import PatternError
from ..js_value import Plain
from .atoms import constant_rules, kind_rules
from .dialect import Dialect
from .evaluated import Evaluated
from .groups import groups
from .in_place import Branches, Conditional, Not, Reference
from .keywords import Node, is_schema, schema_at, schemas_at, text_at
from .references import Resolver, Scope
from .rule import AnyRule, Compile, Demand, Report, Rule
from .unevaluated import LeftoverItems, LeftoverMembers


class Schema(Rule[Plain]):
    """One schema: all its rules together. Its `Document` fills it when it already exists, so that rings can close."""

    __slots__ = ("rules",)

    def __init__(self, *rules: AnyRule) -> None:
        self.rules: list[AnyRule] = [*rules]

    def accepts(self, value: Plain, seen: Evaluated | None = None, /) -> bool:
        for rule in self.rules:
            if not rule.accepts(value, seen):
                return False
        return True

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        for rule in self.rules:
            rule.explain(value, path, report)


class Document:
    """A schema with all that it refers to, compiled.

    Args:
        root: the schema, adopted.
        dialect: the release's ways.

    Raises:
        SchemaError: something in it that a check could reach is no schema, or no pattern.
        RecursionError: it is nested too deeply.
    """

    def __init__(self, root: Plain, dialect: Dialect) -> None:
        self._dialect = dialect
        self._resolver = Resolver(root, strict=dialect.strict_references)
        self._targets: dict[tuple[int, str], Schema] = {}
        self._takes_notes = _has_leftovers(root)
        try:
            self._root = self._target(root, Scope())
        except PatternError as error:
            raise SchemaError(str(error)) from None

    def accepts(self, value: Plain) -> bool:
        """Whether `value` is valid.

        Raises:
            SchemaError: the release has no answer but an error of its own.
            RecursionError: schema and value together go too deep.
        """
        return self._root.accepts(value, Evaluated() if self._takes_notes else None)

    def explain(self, value: Plain) -> Report:
        """Why `value` is not valid. A report without faults means that the release cannot say."""
        report = Report()
        self._root.explain(value, (), report)
        return report

    def _target(self, node: Plain, scope: Scope) -> Schema:
        """The compiled `node`, to which a reference leads that stands in `scope`."""
        key = (id(node), scope.base)
        if key not in self._targets:
            schema = self._targets[key] = Schema()
            schema.rules = self._schema(node, scope).rules
        return self._targets[key]

    def _schema(self, node: Plain, scope: Scope) -> Schema:
        if isinstance(node, bool):
            return Schema() if node else Schema(Demand(lambda _: False, "schema is false"))
        if isinstance(node, list):
            return Schema()  # an object without any keyword, as far as the releases can see
        if not isinstance(node, dict):
            raise SchemaError(f"{print_json(node)} is no schema")
        scope = scope.inside(node)
        rules = list(self._rules(node, scope))
        return Schema(*rules, *_leftover_rules(node, partial(self._schema, scope=scope), tuple(rules)))

    def _rules(self, node: Node, scope: Scope) -> Iterator[AnyRule]:
        """All rules of a schema object but the last, in the order in which they are asked."""
        compile_ = partial(self._schema, scope=scope)
        yield from kind_rules(node)
        yield from groups(node, compile_, self._dialect)
        yield from self._references(node, scope)
        yield from constant_rules(node)
        condition = schema_at(node, "if")
        if condition is not None:
            then, otherwise = (schema_at(node, keyword) for keyword in ("then", "else"))
            yield Conditional(
                compile_(condition),
                compile_(True if then is None else then),
                compile_(True if otherwise is None else otherwise),
            )
        forbidden = schema_at(node, "not")
        if forbidden is not None:
            yield Not(compile_(forbidden))
        yield from _branches(node, compile_)

    def _references(self, node: Node, scope: Scope) -> Iterator[AnyRule]:
        reference, recursive, dynamic = (
            text_at(node, keyword) for keyword in ("$ref", "$recursiveRef", "$dynamicRef")
        )
        if reference is not None:
            yield Reference(self._target(*self._resolver.resolve(reference, scope)))
        # These two take their notes together with the schema that they stand in.
        if recursive is not None:
            yield self._target(self._resolver.resolve_recursively(recursive, scope), scope)
        if dynamic is not None:
            yield self._target(self._resolver.resolve_dynamically(dynamic, scope), scope)


def _branches(node: Node, compile_: Compile) -> Iterator[AnyRule]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        schemas = schemas_at(node, keyword)
        if schemas is None:
            continue
        compiled = [compile_(schema) for schema in schemas]
        if keyword == "allOf":
            yield Branches(compiled, len(compiled))
        elif keyword == "anyOf":
            yield Branches(compiled, 1, complaint="must match a schema in anyOf")
        else:
            yield Branches(compiled, 1, 1, "must match exactly one schema in oneOf")


def _leftover_rules(node: Node, compile_: Compile, others: tuple[AnyRule, ...]) -> Iterator[AnyRule]:
    items, members = schema_at(node, "unevaluatedItems"), schema_at(node, "unevaluatedProperties")
    if items is not None:
        yield LeftoverItems(compile_(items), others)
    if members is not None:
        yield LeftoverMembers(compile_(members), others)


def _has_leftovers(value: Plain) -> bool:
    """Whether an `unevaluated…` keyword stands anywhere, be it in a constant."""
    if isinstance(value, dict):
        if is_schema(value.get("unevaluatedItems")) or is_schema(value.get("unevaluatedProperties")):
            return True
        return any(map(_has_leftovers, value.values()))
    return isinstance(value, list) and any(map(_has_leftovers, value))
