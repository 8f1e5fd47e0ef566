"""Coercion as Pi 1.6.0 does it: arguments as a model meant them, before they are checked.

Models send `"42"` for a number, one value for a list of them, `null` for what they leave out. Three passes over the
arguments put this right, each only where the schema asks for it:

1. nulls of optional members that do not take null are dropped;
2. values are converted by the lax rules, through references and unions;
3. what still does not fit its type, or none of its types, is converted by the narrow rules.

Nothing is changed in place: what changes is copied, and so are the containers around it. A value that cannot be
coerced stays as it is, and the check finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Final, TypeAlias

from .checks import SchemaDocument, SchemaError
from .convert import lax, lax_literal, narrow
from .ecma_regex import ecma_regex
from .js_value import Plain, comparable, kinds_of, same

_Node: TypeAlias = dict[str, Plain]

_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "null", "object", "array"))
#: What coercion does not look at, or looks at only to find a value's type and the schemas of what is in it.
_PLAIN: Final = frozenset((
    "type", "enum", "const", "properties", "required", "additionalProperties", "items", "$schema", "title",
    "description", "default", "examples", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties",
    "maxProperties",
))  # fmt: skip


def keeps_valid(schema: Plain) -> bool:
    """Whether coercion surely leaves alone what is valid by `schema` already.

    Mostly it does, and what models send mostly is valid: then one check saves three passes. Surely it does where
    every value has one type, and at most one schema stands for it.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or not _PLAIN.issuperset(schema):
        return False
    kind, declared = schema.get("type"), schema.get("properties", {})
    if not isinstance(kind, str) or kind not in _TYPES or not isinstance(declared, dict):
        return False
    inner = (*declared.values(), schema.get("additionalProperties", True), schema.get("items", True))
    return all(map(keeps_valid, inner))


def coerce(value: Plain, document: SchemaDocument) -> Plain:
    """`value` coerced towards the schema.

    Args:
        value: an adopted value. It is left alone.
        document: the compiled schema.

    Raises:
        RecursionError: value and schema together go too deep.
    """
    return Coercion(document).coerce(value)


class Coercion:
    """The coercion of one value."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._references = document.references
        # Through a reference, or by making a list of it, a value can come back to the same schema unchanged. The
        # second time it is left alone.
        self._entered: set[tuple[int, Hashable]] = set()
        self._returns = 0
        # What references made of a value, kept with it: the branches of a union convert the same children.
        self._known: dict[tuple[int, Hashable], tuple[Plain, Plain]] = {}

    def coerce(self, value: Plain) -> Plain:
        root, base = self._document.node, self._document.base
        value = self._drop_nulls(value, root, base)
        value = self._convert(value, root, base)
        return self._narrow(value, root, base)

    def _passes(self, value: Plain, schema: Plain, base: str) -> bool | None:
        """Whether `value` is valid; None where that has no answer.

        So it is where the schema is none (in a place that checks never reach), or refers to itself without end.
        """
        try:
            return self._document.schema(schema, base).accepts(value)
        except (SchemaError, RecursionError):
            return None

    # -- 1: nulls -----------------------------------------------------------------------------------------------

    def _drop_nulls(self, value: Plain, schema: Plain, base: str) -> Plain:
        if not isinstance(schema, dict) or not isinstance(value, dict | list):
            return value
        base = self._references.base_for(schema, base)
        if isinstance(value, dict):
            kept = {
                key: item for key, item in value.items() if not self._is_left_out(key, item, schema, base)
            }
            return _map_members(kept if len(kept) < len(value) else value, schema, base, self._drop_nulls)
        return _map_items(value, schema, base, self._drop_nulls)

    def _is_left_out(self, key: str, item: Plain, node: _Node, base: str) -> bool:
        declared, required = node.get("properties"), node.get("required")
        if item is not None or not isinstance(declared, dict) or key not in declared:
            return False
        if isinstance(required, list) and key in required:
            return False
        schema = declared[key]
        refers = isinstance(schema, dict) and isinstance(schema.get("$ref"), str)
        return not refers and self._passes(None, schema, base) is False

    # -- 2: the lax rules ---------------------------------------------------------------------------------------

    def _convert(self, value: Plain, schema: Plain, base: str) -> Plain:
        """The first keyword that has a say decides: `$ref`, `const`, `enum`, unions, `allOf`, `type`, members."""
        if not isinstance(schema, dict):
            return value
        base = self._references.base_for(schema, base)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._references.resolve(reference, base)
            return self._convert_again(value, target.node, target.base, keep=True)
        if "const" in schema:
            return lax_literal(schema["const"], value)
        members = schema.get("enum")
        if isinstance(members, list):
            return self._convert_to_member(value, members, schema, base)
        for keyword in ("anyOf", "oneOf"):
            members = schema.get(keyword)
            if isinstance(members, list):
                return self._convert_to_branch(value, members, schema, base)
        members = schema.get("allOf")
        if isinstance(members, list):
            for member in members:
                value = self._convert(value, member, base)
            return self._convert_beside(value, schema, base)
        kind = schema.get("type", _kind_meant(schema))
        if kind == "object":
            return _map_members(value, schema, base, self._convert) if isinstance(value, dict) else value
        if kind == "array":
            return self._convert_array(value, schema, base)
        return lax(value, kind) if isinstance(kind, str) else value

    def _convert_again(self, value: Plain, schema: Plain, base: str, *, keep: bool) -> Plain:
        """Convert at a point through which a value may come back to the same schema."""
        if not isinstance(schema, dict):
            return value
        visit = (id(schema), _identity(value))
        if visit in self._entered:
            self._returns += 1
            return value
        if keep and visit in self._known:
            return self._known[visit][1]
        returns = self._returns
        self._entered.add(visit)
        try:
            converted = self._convert(value, schema, base)
        finally:
            self._entered.discard(visit)
        if keep and self._returns == returns:
            self._known[visit] = (value, converted)
        return converted

    def _convert_to_member(self, value: Plain, members: list[Plain], node: _Node, base: str) -> Plain:
        if any(same(member, value) for member in members):
            return value
        for member in members:
            candidate = lax_literal(member, value)
            if not same(candidate, value) and self._passes(candidate, node, base):
                return candidate
        return value

    def _convert_to_branch(self, value: Plain, branches: list[Plain], node: _Node, base: str) -> Plain:
        """What one branch takes stays as it is; else the first branch's conversion that the whole schema takes."""
        for branch in branches:
            if self._passes(value, branch, base):
                return self._convert_beside(value, node, base)
        for branch in branches:
            candidate = self._convert_beside(self._convert(value, branch, base), node, base)
            if self._passes(candidate, node, base):
                return candidate
        return self._convert_beside(value, node, base)

    def _convert_beside(self, value: Plain, node: _Node, base: str) -> Plain:
        """Convert the members that a schema declares beside its union or `allOf`."""
        return _map_members(value, node, base, self._convert) if isinstance(value, dict) else value

    def _convert_array(self, value: Plain, node: _Node, base: str) -> Plain:
        if isinstance(value, list):
            return _map_items(value, node, base, self._convert)
        items = node.get("items")
        if isinstance(items, list) or isinstance(node.get("prefixItems"), list):
            return value  # one value is no tuple
        return [self._convert_again(value, items, base, keep=False)]

    # -- 3: the narrow rules ------------------------------------------------------------------------------------

    def _narrow(self, value: Plain, schema: Plain, base: str) -> Plain:
        if not isinstance(schema, dict):
            return value
        base = self._references.base_for(schema, base)
        members = schema.get("allOf")
        if isinstance(members, list):
            for member in members:
                value = self._narrow(value, member, base)
        for keyword in ("anyOf", "oneOf"):
            members = schema.get(keyword)
            if isinstance(members, list):
                value = self._narrow_to_branch(value, members, base)
        declared = schema.get("type")
        kinds = [
            kind for kind in (declared if isinstance(declared, list) else [declared]) if isinstance(kind, str)
        ]
        if len(kinds) <= 1 or not set(kinds).intersection(kinds_of(value)):
            for kind in kinds:
                candidate = narrow(value, kind)
                if not same(candidate, value):
                    value = candidate
                    break
        if isinstance(value, dict) and "object" in kinds:
            return _map_members(value, schema, base, self._narrow)
        if isinstance(value, list) and "array" in kinds:
            return _map_items(value, schema, base, self._narrow)
        return value

    def _narrow_to_branch(self, value: Plain, branches: list[Plain], base: str) -> Plain:
        if any(self._passes(value, branch, base) for branch in branches):
            return value
        for branch in branches:
            candidate = self._narrow(value, branch, base)
            if self._passes(candidate, branch, base):
                return candidate
        return value


#: Takes a value, the schema that stands for it, and the base URI there.
_Change: TypeAlias = Callable[[Plain, Plain, str], Plain]


def _map_members(value: _Node, node: _Node, base: str, change: _Change) -> Plain:
    """`value` with each member changed by every schema that stands for it; `value` itself if that changes none."""
    changed: _Node | None = None
    for key, item in value.items():
        new = item
        for schema in _schemas_of_member(node, key):
            new = change(new, schema, base)
        if new is not item and not same(new, item):
            changed = dict(value) if changed is None else changed
            changed[key] = new
    return value if changed is None else changed


def _map_items(value: list[Plain], node: _Node, base: str, change: _Change) -> Plain:
    """`value` with each item changed by the schema that stands for it; `value` itself if that changes none."""
    prefix, others = node.get("prefixItems"), node.get("items")
    if isinstance(others, list):
        prefix, others = others, None
    first = prefix if isinstance(prefix, list) else []
    changed: list[Plain] | None = None
    for index, item in enumerate(value):
        new = change(item, first[index] if index < len(first) else others, base)
        if new is not item and not same(new, item):
            changed = list(value) if changed is None else changed
            changed[index] = new
    return value if changed is None else changed


def _schemas_of_member(node: _Node, key: str) -> Iterator[Plain]:
    """The schemas of the member `key`: declared, by pattern, or else the one for additional members."""
    declared, patterns = node.get("properties"), node.get("patternProperties")
    found = False
    if isinstance(declared, dict) and key in declared:
        found = True
        yield declared[key]
    if isinstance(patterns, dict):
        for pattern, schema in patterns.items():
            if ecma_regex(pattern).matches(key):
                found = True
                yield schema
    if not found:
        yield node.get("additionalProperties")


def _kind_meant(node: _Node) -> Plain:
    """The type of the values that a schema without `type` is about."""
    if "properties" in node or "patternProperties" in node:
        return "object"
    return "array" if "items" in node or "prefixItems" in node else None


def _identity(value: Plain) -> Hashable:
    """Equal for equal atoms, and for the same array or object."""
    return (object, id(value)) if isinstance(value, dict | list) else comparable(value)
