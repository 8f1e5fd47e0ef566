"""Random schemas: all keywords combined, in the shapes that tools have and in many that none has."""

from __future__ import annotations

from typing import Any

from .chances import KEYS, NUMBERS, Chances

_PATTERNS = (
    "^a",
    "^x",
    "b$",
    "^[a-z]+$",
    r"^\d+$",
    "^.$",
    r"\_",
    r"^\w+$",
    "[12]",
    "^$",
    "(?<q>a)|b",
    r"\p{L}",
    "^..$",
)
_FORMATS = (
    "date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri",
    "iri-reference", "json-pointer", "json-pointer-uri-fragment", "regex", "relative-json-pointer", "time", "uri",
    "uri-reference", "uri-template", "url", "uuid", "unknown",
)  # fmt: skip
KINDS = ("string", "number", "integer", "boolean", "null", "array", "object")


class Schemas(Chances):
    """Makes schemas, one after the other."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._refs: list[str] = []
        self._inside = False

    def schema(self) -> Any:
        """A whole schema, mostly of an object, often with definitions that refer to each other."""
        names = self._some(("A", "B", "C"), 0.25)
        self._refs = [f"#/$defs/{name}" for name in names]
        if self._chance(0.1):
            self._refs.append("#")
        if self._chance(0.05):
            self._refs += [
                "#/$defs/gone",
                "#anchor",
                "#tree",
                "other.json#/x",
                "#/$defs/a%20b",
                "#/$defs/%zz",
            ]
        root = self._object_schema(0) if self._chance(0.85) else self._sub(0)
        if not isinstance(root, dict):
            return {"not": {}}  # a real release compiles objects only
        if names:
            root["$defs"] = {name: self._sub(1) for name in names}
            if self._chance(0.1):
                root["$defs"]["a b"] = self._sub(1)
        if self._chance(0.02):
            root["$id"] = self._pick(("http://e.org/s.json", "urn:x:y", "part"))
        return root

    def _member(self, depth: int) -> Any:
        """A schema for something inside the value. Only there are references made: they seldom go in circles."""
        before, self._inside = self._inside, True
        schema = self._sub(depth + 1)
        self._inside = before
        return schema

    def _sub(self, depth: int) -> Any:
        roll = self._random.random()
        if depth > 3:
            return self._atom_schema()
        if roll < 0.03 * self._wild:
            return self._chance(0.6)
        if roll < 0.12 and self._refs and self._inside:
            node = {"$ref": self._pick(self._refs)}
            if self._chance(0.1):
                node |= self._atom_schema()
            return node
        if roll < 0.45:
            node = self._atom_schema()
        elif roll < 0.6:
            node = self._object_schema(depth)
        elif roll < 0.72:
            node = self._array_schema(depth)
        elif roll < 0.86:
            node = self._union_schema(depth)
        elif roll < 0.86 + 0.11 * self._wild:
            node = self._in_place_schema(depth)
        else:
            node = {}
        if self._chance(0.01):
            node["$anchor"] = "anchor"
        if self._chance(0.01):
            node["$dynamicAnchor"] = "tree"
        if self._chance(0.01) and self._inside:
            node["$dynamicRef"] = "#tree"
        if self._chance(0.01):
            node["$id"] = self._pick(("sub", "http://e.org/t.json"))
        return node

    def _atom_schema(self) -> dict[str, Any]:
        node: dict[str, Any] = {}
        roll = self._random.random()
        if roll < 0.62:
            node["type"] = self._pick(KINDS)
        elif roll < 0.78:
            node["type"] = self._random.sample(KINDS, self._random.randint(0 if self._wild == 1 else 1, 3))
        if self._chance(0.12 * self._wild):
            node["enum"] = [self._anything(1) for _ in range(self._random.choice((0, 1, 2, 3, 9, 23)))]
        if self._chance(0.08 * self._wild):
            node["const"] = self._anything(1)
        kind = node.get("type")
        if kind == "string" or self._chance(0.1):
            self._maybe(
                node,
                0.2,
                minLength=lambda: self._pick((0, 1, 2, 3)),
                maxLength=lambda: self._pick((0, 1, 2, 4)),
            )
            self._maybe(
                node, 0.15, pattern=lambda: self._pick(_PATTERNS), format=lambda: self._pick(_FORMATS)
            )
        if kind in ("number", "integer") or self._chance(0.1):
            for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                self._maybe(node, 0.12, **{keyword: lambda: self._pick(NUMBERS)})
            self._maybe(node, 0.1, multipleOf=lambda: self._pick((1, 2, 0.1, 0.0001, 3, 0.5, 1e-7)))
        self._maybe(node, 0.05, default=lambda: self._anything(1), title=lambda: "T")
        return node

    def _object_schema(self, depth: int) -> dict[str, Any]:
        keys = self._random.sample(KEYS, self._random.randint(0, 4))
        node: dict[str, Any] = {"properties": {key: self._member(depth) for key in keys}}
        if self._chance(0.85):
            node = {"type": "object" if self._chance(0.9) else ["object", "null"]} | node
        if self._chance(0.7):
            node["required"] = self._some(
                [*keys, self._pick(KEYS)] if self._chance(0.3 * self._wild) else keys, 0.6
            )
        if self._chance(0.1 + 0.3 * self._wild):
            node["additionalProperties"] = False if self._chance(0.5) else self._member(depth)
        if self._chance(0.15):
            node["patternProperties"] = {self._pick(_PATTERNS): self._member(depth) for _ in range(2)}
        self._maybe(
            node, 0.05, propertyNames=lambda: self._atom_schema(), minProperties=lambda: self._pick((0, 1, 2))
        )
        self._maybe(node, 0.05, maxProperties=lambda: self._pick((0, 1, 3)))
        self._maybe(node, 0.05, dependentRequired=lambda: {self._pick(KEYS): self._some(KEYS, 0.15)})
        self._maybe(node, 0.05, dependentSchemas=lambda: {self._pick(KEYS): self._sub(depth + 1)})
        self._maybe(node, 0.03, dependencies=lambda: {self._pick(KEYS): self._some(KEYS, 0.15)})
        self._maybe(node, 0.03, dependencies=lambda: {self._pick(KEYS): self._sub(depth + 1)})
        self._maybe(
            node, 0.06, unevaluatedProperties=lambda: False if self._chance(0.6) else self._member(depth)
        )
        if self._chance(0.1 * self._wild):
            node |= self._in_place_schema(depth + 1)
        if self._chance(0.1 * self._wild):
            node |= self._union_schema(depth + 1)
        return node

    def _array_schema(self, depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "array"} if self._chance(0.85) else {}
        if self._chance(0.8):
            node["items"] = self._member(depth)
        if self._chance(0.15):
            node["prefixItems"] = [self._member(depth) for _ in range(self._random.randint(0, 3))]
        elif self._chance(0.08):
            node["items"] = [self._member(depth) for _ in range(self._random.randint(0, 3))]
            self._maybe(node, 0.5, additionalItems=lambda: self._member(depth))
        self._maybe(
            node, 0.12, minItems=lambda: self._pick((0, 1, 2)), maxItems=lambda: self._pick((0, 1, 2))
        )
        self._maybe(node, 0.1, uniqueItems=lambda: self._chance(0.8), contains=lambda: self._member(depth))
        self._maybe(
            node, 0.05, minContains=lambda: self._pick((0, 1, 2)), maxContains=lambda: self._pick((1, 2))
        )
        self._maybe(node, 0.06, unevaluatedItems=lambda: False if self._chance(0.6) else self._member(depth))
        return node

    def _union_schema(self, depth: int) -> dict[str, Any]:
        keyword = self._pick(("anyOf", "anyOf", "oneOf"))
        count = self._random.choice((0, 1, 2, 2, 2, 3, 3, 4) if self._wild == 1 else (2, 3))
        if self._chance(0.25):
            tag = self._pick(KEYS)
            branches = []
            for number in range(count):
                branch = self._object_schema(depth + 1)
                branch["properties"] = {tag: {"const": f"k{number}" if self._chance(0.95) else 1}} | branch[
                    "properties"
                ]
                branch.setdefault("required", []).append(tag)
                branches.append(branch)
            return {keyword: branches}
        if self._chance(0.1):
            return {keyword: [{"const": self._anything(2)} for _ in range(count)]}
        return {keyword: [self._sub(depth + 1) for _ in range(count)]}

    def _in_place_schema(self, depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {}
        self._maybe(
            node, 0.4, allOf=lambda: [self._sub(depth + 1) for _ in range(self._random.randint(1, 2))]
        )
        if self._chance(0.3 * self._wild):
            node["not"] = self._sub(depth + 1)
        if self._chance(0.3):
            node["if"] = self._sub(depth + 1)
            self._maybe(node, 0.7, then=lambda: self._sub(depth + 1))
            if self._chance(0.6):
                node["else"] = self._sub(depth + 1)
        return node
