"""Where `$ref` leads: the base URIs, anchors and resources of one schema document.

Base URIs and references are resolved as URLs (WHATWG, with the parser that Node has too); a fragment is an anchor's
name or a JSON Pointer into the resource. Only keywords that hold schemas are searched for `$id` and anchors: an `$id`
inside a constant names nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs
import can_ada

from .fragments import passed, unescaped
from .js_value import Plain, well_formed

#: The base URI of a document that does not name itself.
DEFAULT_BASE: Final = "https://json-schema.invalid/root.json"

_ONE: Final = (
    "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else", "unevaluatedProperties",
    "unevaluatedItems", "additionalItems", "contentSchema", "items",
)  # fmt: skip
_BY_KEY: Final = (
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
)
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")


@attrs.frozen
class Target:
    """What a reference names: a place in the document and the base URI there. `found` is false where it is nothing."""

    node: Plain
    base: str
    found: bool = True


class References:
    """The index of one document.

    Args:
        root: the document, adopted. Its parts are told apart by identity, so it must live as long as the index.
    """

    def __init__(self, root: Plain) -> None:
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Plain] = {DEFAULT_BASE: root}
        self._anchors: dict[str, Plain] = {}
        #: Every `$dynamicAnchor`, by its name: its resource's URI and its schema.
        self.dynamic_anchors: dict[str, dict[str, Plain]] = {}
        self._index(root, DEFAULT_BASE)

    def base_for(self, node: dict[str, Plain], base: str) -> str:
        """The base URI of `node`, which stands where `base` holds."""
        known = self._bases.get(id(node))
        if known is not None:
            return known
        own = node.get("$id")
        return _document(resolved_uri(own, base)) if isinstance(own, str) else base

    def is_resource(self, node: Plain, base: str) -> bool:
        """Whether `node` is what the URI `base` names."""
        return self._resources.get(base) is node

    def resolve(self, reference: str, base: str) -> Target:
        """What `reference` names where `base` holds; a `Target` with the schema `false` if that is nothing."""
        uri = resolved_uri(reference, base)
        document, fragment = _document(uri), unescaped(fragment_of(uri))
        nothing = Target(False, base, found=False)
        if document not in self._resources or fragment is None:
            return nothing
        if not fragment:
            return Target(self._resources[document], document)
        if fragment.startswith("/"):
            return self._follow(self._resources[document], document, fragment) or nothing
        anchor = f"{document}#{fragment}"
        return Target(self._anchors[anchor], document) if anchor in self._anchors else nothing

    def _follow(self, node: Plain, base: str, pointer: str) -> Target | None:
        way = passed(node, pointer)
        if way is None:
            return None
        for place in way:
            base = self._bases.get(id(place), base)
        return Target(way[-1], base)

    def _index(self, node: Plain, base: str) -> None:
        if not isinstance(node, dict) or id(node) in self._bases:
            return
        own = node.get("$id")
        if isinstance(own, str):
            uri = resolved_uri(own, base)
            base = _document(uri)
            self._resources[base] = node
            if fragment_of(uri):
                self._anchors[uri] = node
        self._bases[id(node)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = node.get(keyword)
            if isinstance(name, str):
                self._anchors[f"{base}#{name}"] = node
                if keyword == "$dynamicAnchor":
                    self.dynamic_anchors.setdefault(name, {})[base] = node
        for child in _subschemas(node):
            self._index(child, base)


def resolved_uri(reference: str, base: str) -> str:
    """`reference` as a URI, seen from `base`. One that no URL parser accepts stands for itself."""
    try:
        return (can_ada.parse(well_formed(base)) + well_formed(reference)).href
    except ValueError:
        return _document(base) + reference if reference.startswith("#") else reference


def fragment_of(uri: str) -> str:
    """What follows the first `#`."""
    return uri.partition("#")[2]


def _document(uri: str) -> str:
    return uri.partition("#")[0]


def _subschemas(node: dict[str, Plain]) -> Iterator[Plain]:
    for keyword in _ONE:
        yield node.get(keyword)
    for keyword in _BY_KEY:
        by_key = node.get(keyword)
        if isinstance(by_key, dict):
            yield from by_key.values()
    for keyword in _LISTS:
        listed = node.get(keyword)
        if isinstance(listed, list):
            yield from listed
