"""A compiled schema, and how it comes to be.

Compilation goes through everything that a check could reach, once: each schema object becomes one `Schema`, so a
schema that refers to itself becomes a ring. What the document does not reach is not looked at, and may be nonsense.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...jsontext import print_json
from ..ecma_regex import PatternError
from ..js_value import Plain
from ..references import DEFAULT_BASE, References, fragment_of, resolved_uri
from .alternatives import Alternatives, Branch
from .arrays import array_rules
from .atoms import Kind, number_rules, string_rules, value_rules
from .in_place import All, Conditional, DynamicReference, Not, Reference
from .objects import object_rules
from .rule import Path, Report, Rule, SchemaError, Seen, SubSchema, refusal
from .unevaluated import Leftovers


class Schema:
    """One schema: all its rules together.

    Its `SchemaDocument` fills it in when it already exists, so that rings can close.
    """

    __slots__ = ("dynamic", "entered", "leftovers", "resource", "rules")

    def __init__(self, *rules: Rule) -> None:
        self.rules: tuple[Rule, ...] = rules
        #: The `unevaluated…` keywords.
        self.leftovers: Leftovers | None = None
        #: Whether one of the rules is a `$dynamicRef`.
        self.dynamic = False
        #: Where to note that evaluation is inside this schema's resource, if it is the top of one and it matters.
        self.entered: list[str] | None = None
        self.resource = ""

    def accepts(self, value: Plain, seen: Seen | None = None) -> bool:
        """Whether `value` is valid. What was looked at in it is added to `seen`, complete if the answer is yes.

        Raises:
            RecursionError: schema and value together go too deep.
        """
        if self.leftovers is not None or self.entered is not None:
            return self._accepts_with_notes(value, seen)
        for rule in self.rules:
            if not rule.accepts(value, seen):
                return False
        return True

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        """Report why `value` is not valid; nothing if it is.

        Args:
            value: a value that stands at `path`.
            path: where faults of the value itself are reported.
            report: takes the faults.
        """
        if self.accepts(value):
            return
        before = len(report.faults)
        for rule in self.rules:
            rule.explain(value, path, report)
            if isinstance(rule, Kind) and len(report.faults) > before:
                return  # the other keywords are about values of the right type
        if len(report.faults) == before and self.leftovers is not None:
            seen = Seen()
            self._rules_accept(value, seen)
            self.leftovers.explain(value, seen, path, report)
        if len(report.faults) == before and self.dynamic:
            report.add(path, "does not match the dynamically referenced schema")

    def _accepts_with_notes(self, value: Plain, seen: Seen | None) -> bool:
        if self.entered is not None:
            self.entered.append(self.resource)
        try:
            if self.leftovers is None:
                return self._rules_accept(value, seen)
            own = Seen()  # siblings of this schema have seen other members, which is none of its business
            if not (self._rules_accept(value, own) and self.leftovers.accept(value, own)):
                return False
            if seen is not None:
                seen.add(own)
            return True
        finally:
            if self.entered is not None:
                self.entered.pop()

    def _rules_accept(self, value: Plain, seen: Seen | None) -> bool:
        return all(rule.accepts(value, seen) for rule in self.rules)


class SchemaDocument:
    """A schema with all that it refers to, compiled. `root` answers for the whole.

    Args:
        root: the document, adopted.

    Raises:
        SchemaError: something in it that a check could reach is no schema, or no pattern.
        RecursionError: it is nested too deeply.
    """

    def __init__(self, root: Plain) -> None:
        self.node = root
        self.base = DEFAULT_BASE
        self.references = References(root)
        self._compiled: dict[int, Schema] = {}
        self._anything = Schema()
        #: Kept only where it matters, see `DynamicReference`.
        self._entered: list[str] | None = [] if _mentions(root, "$dynamicRef") else None
        self.root = self.schema(root, self.base)

    def schema(self, node: Plain, base: str, *, refused: str = "no value is allowed here") -> Schema:
        """The compiled `node`, which stands where the URI `base` holds. If it is `false`, it reports `refused`."""
        if isinstance(node, bool):
            return self._anything if node else Schema(refusal(refused))
        if not isinstance(node, dict):
            raise SchemaError(f"A schema must be an object or a boolean, got {print_json(node)}")
        schema = self._compiled.get(id(node))
        if schema is None:
            schema = self._compiled[id(node)] = Schema()
            self._fill(schema, node, self.references.base_for(node, base))
        return schema

    def _fill(self, schema: Schema, node: dict[str, Plain], base: str) -> None:
        sub = partial(self.schema, base=base)
        try:
            schema.rules = tuple(self._rules(node, base, sub))
        except PatternError as error:
            raise SchemaError(str(error)) from None
        schema.dynamic = isinstance(node.get("$dynamicRef"), str)
        schema.leftovers = Leftovers.of(node, sub)
        if self._entered is not None and self.references.is_resource(node, base):
            schema.entered, schema.resource = self._entered, base

    def _rules(self, node: dict[str, Plain], base: str, sub: SubSchema) -> Iterator[Rule]:
        """All rules of a schema object, in the order in which their faults are told."""
        if "type" in node:
            yield Kind(node["type"])
        yield from value_rules(node)
        yield from string_rules(node)
        yield from number_rules(node)
        yield from object_rules(node, sub)
        yield from array_rules(node, sub)
        members = node.get("allOf")
        if isinstance(members, list):
            yield All([sub(member) for member in members])
        for keyword in ("anyOf", "oneOf"):
            members = node.get(keyword)
            if isinstance(members, list):
                branches = [Branch(sub(member), self.behind(member, base)) for member in members]
                yield Alternatives(branches, exactly_one=keyword == "oneOf")
        if "not" in node:
            yield Not(sub(node["not"]))
        if "if" in node and ("then" in node or "else" in node):
            then, otherwise = (sub(node[key]) if key in node else None for key in ("then", "else"))
            yield Conditional(sub(node["if"]), then, otherwise)
        reference, dynamic = node.get("$ref"), node.get("$dynamicRef")
        if isinstance(reference, str):
            yield self._reference(reference, base)
        if isinstance(dynamic, str):
            yield self._dynamic_reference(dynamic, base)

    def behind(self, node: Plain, base: str) -> Plain:
        """`node`, or what its `$ref` names."""
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(node, dict) and isinstance(reference, str):
            return self.references.resolve(reference, self.references.base_for(node, base)).node
        return node

    def _reference(self, reference: str, base: str) -> Rule:
        target = self.references.resolve(reference, base)
        if not target.found:
            # Only values at this place fail; the rest of the schema works.
            return refusal(f"unresolved reference {reference}")
        entered = self._entered if target.base != base else None
        return Reference(self.schema(target.node, target.base), entered, target.base)

    def _dynamic_reference(self, reference: str, base: str) -> Rule:
        fallback = self._reference(reference, base)
        node = self.references.resolve(reference, base).node
        name = fragment_of(resolved_uri(reference, base))
        anchored: dict[str, Schema] = {}
        if name and isinstance(node, dict) and node.get("$dynamicAnchor") == name:
            for resource, bearer in self.references.dynamic_anchors[name].items():
                anchored[resource] = self.schema(bearer, resource)
        assert self._entered is not None
        return DynamicReference(fallback, anchored, self._entered)


def _mentions(value: Plain, key: str) -> bool:
    if isinstance(value, dict):
        return key in value or any(_mentions(item, key) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, key) for item in value)
