"""Where references lead, which is found by looking through the document.

The search tries every schema object on the way, the outermost first: whether its `$id` or anchor is the one, and
whether a JSON Pointer leads somewhere from it. So a pointer that leads nowhere from the root may be found deeper, and
then the last place counts. Identifiers are compared by the path of their URL alone.

1.0.3 brought order into base URIs, does not look into constants, enters the resource that a reference leads into the
middle of, and lets `$dynamicRef` name any anchor. Below, `strict` is that release and later ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

import attrs
import can_ada

from ..checks import SchemaError
from ..fragments import passed, unescaped
from ..js_value import Plain, well_formed
from .keywords import Node, text_at

#: The base URI of a document that does not name itself.
DEFAULT_BASE: Final = "https://json-schema.invalid/"


@attrs.frozen
class Scope:
    """What compilation is inside of: not where a schema stands in the document, but the way that led to it.

    Attributes:
        base: the base URI; empty if an `$id` on the way is none, which matters only where a reference is resolved.
        resources: the schemas with an `$id`, outermost first.
        dynamic: the schemas with a `$dynamicAnchor`, and those that the resources hold.
        recursive: the schemas with a true `$recursiveAnchor`.
    """

    base: str = DEFAULT_BASE
    resources: tuple[Node, ...] = ()
    dynamic: tuple[Node, ...] = ()
    recursive: tuple[Node, ...] = ()

    def inside(self, node: Node) -> Scope:
        """The scope inside a schema."""
        scope = self._inside_resource(node) if text_at(node, "$id") is not None else self
        if text_at(node, "$dynamicAnchor") is not None:
            scope = attrs.evolve(scope, dynamic=(*scope.dynamic, node))
        if node.get("$recursiveAnchor") is True:
            scope = attrs.evolve(scope, recursive=(*scope.recursive, node))
        return scope

    def _inside_resource(self, node: Node) -> Scope:
        try:
            base = joined_uri(self.base, text_at(node, "$id") or "")
        except SchemaError:
            base = ""
        return attrs.evolve(
            self,
            base=base,
            resources=(*self.resources, node),
            dynamic=(*self.dynamic, *_dynamic_anchors_in(node)),
        )

    def inside_resource(self, node: Plain) -> Scope:
        """The scope inside a resource in the middle of which a reference lands."""
        known = any(node is resource for resource in self.resources)
        if known or not isinstance(node, dict) or text_at(node, "$id") is None:
            return self
        return self._inside_resource(node)


class Resolver:
    """Finds what references name in one document.

    Args:
        root: the document, adopted.
        strict: do it as 1.0.3 does.
    """

    def __init__(self, root: Plain, *, strict: bool) -> None:
        self._root = root
        self._strict = strict

    def resolve(self, reference: str, scope: Scope) -> tuple[Plain, Scope]:
        """What a `$ref` names, and the scope there. What names nothing names the schema `false`.

        Raises:
            SchemaError: a URI, or an escape in one, is malformed.
        """
        start = self._start(scope) if reference.startswith("#") else self._root
        found = self._find(reference, start, scope)
        if found is None:
            return False, scope
        if self._strict and isinstance(found, dict):
            scope = self._scope_at(found, reference, start, scope)
        return found, scope

    def resolve_recursively(self, reference: str, scope: Scope) -> Plain:
        """What a `$recursiveRef` names; errors as above."""
        start = self._start(scope)
        if isinstance(start, dict) and start.get("$recursiveAnchor") is True:
            start = scope.recursive[0]
        found = self._find(reference, start, scope)
        return False if found is None else found

    def resolve_dynamically(self, reference: str, scope: Scope) -> Plain:
        """What a `$dynamicRef` names; errors as above."""
        start = self._start(scope) if reference.startswith("#") else self._root
        found = self._find(reference, start, scope)
        fragment = joined_uri(DEFAULT_BASE, reference).partition("#")[2]
        if found is None:
            if not self._strict or not fragment or fragment.startswith("/"):
                return False
            name: str | None = unquote(fragment)
            found = next(_dynamic_anchors_in(self._root, name), False)
        elif fragment.startswith("/") or not isinstance(found, dict):
            return found
        else:
            name = text_at(found, "$dynamicAnchor")
        return next((bearer for bearer in scope.dynamic if bearer["$dynamicAnchor"] == name), found)

    def _start(self, scope: Scope) -> Plain:
        return scope.resources[-1] if scope.resources else self._root

    def _find(self, reference: str, start: Plain, scope: Scope) -> Plain:
        if not scope.base:
            raise SchemaError("Invalid URL")
        base = scope.base
        if not self._strict:
            own = text_at(start, "$id") if isinstance(start, dict) else None
            base = DEFAULT_BASE if own is None else joined_uri(DEFAULT_BASE, own)
        return _Search(joined_uri(base, reference), strict=self._strict).find(start, base)

    def _scope_at(self, found: Node, reference: str, start: Plain, scope: Scope) -> Scope:
        """The scope at what was found: that of the resource around it, or at least the base URI there."""
        named = joined_uri(scope.base, reference).partition("#")[0]
        if named != scope.base.partition("#")[0] and text_at(found, "$id") is None:
            return scope.inside_resource(self._find(named, self._root, scope))
        if reference.startswith("#") and not (isinstance(self._root, dict) and "$schema" in self._root):
            return attrs.evolve(scope, base=_base_around(found, start, scope.base) or scope.base)
        return scope


class _Search:
    """A search for one URI. None means that it names nothing.

    Args:
        target: the URI.
        strict: search as 1.0.3 does.
    """

    def __init__(self, target: str, *, strict: bool) -> None:
        self._target = target
        self._path = can_ada.parse(target).pathname
        self._fragment = target.partition("#")[2]
        self._strict = strict

    def find(self, value: Plain, base: str) -> Plain:
        """What the URI names in `value`, which stands where `base` holds."""
        found: Plain = None
        if isinstance(value, dict):
            own = text_at(value, "$id")
            base = base if own is None else joined_uri(base, own)
            found = self._named(value, own, base)
            if found is None:
                found = self._pointed_to(value)
            if found is not None:
                return found
        for child in self._children(value):
            deeper = self.find(child, base)
            found = found if deeper is None else deeper
        return found

    def _children(self, value: Plain) -> Iterator[Plain]:
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict):
            yield from (
                child for key, child in value.items() if not (self._strict and key in {"const", "enum"})
            )

    def _named(self, node: Node, own: str | None, base: str) -> Plain:
        if own is not None:
            if self._fragment and own == f"#{self._fragment}":
                return node
            # The older releases apply an identifier to itself once more.
            if can_ada.parse(base if self._strict else joined_uri(base, own)).pathname == self._path:
                found = self._pointed_to(node) if self._fragment else node
                if found is not None:
                    return found
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = text_at(node, keyword)
            if name is not None and joined_uri(base, f"#{name}") == self._target:
                return node
        return None

    def _pointed_to(self, node: Plain) -> Plain:
        if self._target.endswith("#"):
            return node
        pointer = unescaped(self._fragment)
        if pointer is None:
            raise SchemaError("URI malformed")
        if not pointer.startswith("/"):
            return None
        way = passed(node, pointer)
        if way is None:
            return None
        return False if way[-1] is None else way[-1]  # null is found, and no schema


def joined_uri(base: str, reference: str) -> str:
    """`reference` as a URI, seen from `base`.

    Raises:
        SchemaError: no URL parser takes it.
    """
    try:
        return (can_ada.parse(well_formed(base)) + well_formed(reference)).href
    except ValueError:
        raise SchemaError("Invalid URL") from None


def _base_around(target: Node, value: Plain, base: str) -> str | None:
    """The base URI that holds where `target` stands in `value`; None if it stands elsewhere."""
    if value is target:
        return base
    children: Iterator[Plain] = iter(())
    if isinstance(value, list):
        children = iter(value)
    elif isinstance(value, dict):
        own = text_at(value, "$id")
        base = base if own is None else joined_uri(base, own)
        children = iter(value.values())
    return next(filter(None, (_base_around(target, child, base) for child in children)), None)


def _dynamic_anchors_in(value: Plain, name: str | None = None) -> Iterator[Node]:
    """The schemas in a resource, itself left out, that bear a `$dynamicAnchor` (called `name`)."""
    children: Iterator[Plain] = iter(())
    if isinstance(value, dict):
        children = iter(value.values())
    elif isinstance(value, list):
        children = iter(value)
    for child in children:
        if isinstance(child, dict):
            if text_at(child, "$id") is not None:
                continue
            anchor = text_at(child, "$dynamicAnchor")
            if anchor is not None and name in {None, anchor}:
                yield child
        yield from _dynamic_anchors_in(child, name)
