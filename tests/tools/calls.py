"""Random calls for the comparison with a real release: a schema, and arguments that fit it more or less.

Everything follows from a seed. Schemas combine all keywords, in the shapes that tools have and in many that none has;
arguments are grown along the schema and then bent: numbers become text, lists lose their brackets, members go missing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

_KEYS = ("a", "b", "c", "path", "kind", "1", "10", "2", "a/b", "m~n", "é", "", "x1", "y2", "constructor")
_TEXTS = (
    "", " ", "a", "ab", "abc", "xyz", "true", "false", "TRUE", "null", "undefined", "0", "1", "-1", "3.5", " 7 ",
    "1e3", "0x10", "0b11", "12n", "-5n", "1e400", "Infinity", "NaN", "1_0", "42.5", ".5", "5.", "\u00a08", "é", "日本",
    "😀", "a😀", "2024-02-29", "2023-02-29", "12:30:00Z", "2024-01-01T00:00:00Z", "a@b.co", "http://a.b/c?d#e",
    "::1", "1.2.3.4",    "P1D", "/a/b", "[", "9007199254740993", "12345678901234567890", "-0", "\ud800", "line\n",
)  # fmt: skip
_NUMBERS = (
    0, 1, -1, 2, 3, 5, 7, 10, 42, 100, 0.5, 1.5, 3.7, -2.25, 0.1, 0.3, 0.0075, 1e-7, 1e21, 1e300, 123456789.125,
    9007199254740992, 9007199254740993 - 1, 12345678901234567000,
)  # fmt: skip
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
_KINDS = ("string", "number", "integer", "boolean", "null", "array", "object")


class CallMaker:
    """Makes calls, one after the other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._refs: list[str] = []
        self._inside = False
        self._wild = 1.0

    def call(self) -> dict[str, Any]:
        """A call as `validate.mjs` takes it."""
        self._wild = self._pick((0.02, 0.2, 1.0))
        roll = self._random.random()
        if roll < 0.12:
            schema, arguments = self._leftovers(0), self._small_value()
            schema["$defs"] = {"L": self._leftovers(2)}
        elif roll < 0.24:
            schema = self._library() if self._chance(0.6) else self._dynamic_library()
            arguments = {key: self._thing() for key in self._some("abcd", 0.8)}
        else:
            schema = self.schema()
            arguments = self.value(schema, schema, 0)
        call = {"name": "t", "parameters": schema, "arguments": arguments}
        if self._chance(0.01):
            call["argumentsError"] = self._pick(("", "bad JSON"))
        return call

    # -- schemas on a theme: what other keywords have looked at --------------------------------------------------

    def _leftovers(self, depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {}
        for _ in range(self._random.randint(1, 2)):
            node |= self._looker(depth)
        if self._chance(0.6 if depth == 0 else 0.15):
            node["unevaluatedProperties"] = self._pick((False, False, {"type": "string"}, True))
        if self._chance(0.5 if depth == 0 else 0.1):
            node["unevaluatedItems"] = self._pick((False, False, {"type": "string"}, True))
        return node

    def _looker(self, depth: int) -> dict[str, Any]:
        """A keyword that looks at members, or hands the value on to schemas that do."""
        test: Any = self._pick((True, True, {"type": "string"}, {"type": "integer"}, False))
        roll = self._random.randint(0, 17 if depth < 3 else 6)
        if roll <= 2:
            return {"properties": dict.fromkeys(self._some("abc", 0.5), test)}
        if roll == 3:
            return {self._pick(("patternProperties", "dependentSchemas")): {self._pick("abc"): test}}
        if roll == 4:
            return {self._pick(("additionalProperties", "items")): test}
        if roll == 5:
            return {"prefixItems": [test] * self._random.randint(1, 2)}
        if roll == 6:
            return {"contains": test, "minContains": self._pick((0, 1))}
        if roll <= 12:
            keyword = self._pick(("allOf", "anyOf", "anyOf", "oneOf"))
            return {keyword: [self._leftovers(depth + 1) for _ in range(self._random.randint(1, 3))]}
        if roll in {13, 14, 15}:
            return {
                "if": self._leftovers(depth + 1),
                "then": self._leftovers(depth + 1),
                "else": self._leftovers(depth + 1),
            }
        if roll == 16 and depth < 2:
            return {"$ref": "#/$defs/L"}
        return {"not": self._leftovers(depth + 1)}

    def _small_value(self) -> Any:
        items = [self._pick((1, 2, "x", "y", None)) for _ in range(self._random.randint(0, 4))]
        return items if self._chance(0.4) else dict(zip("abcd", items, strict=False))

    # -- schemas on a theme: what has a name ----------------------------------------------------------------------

    def _library(self) -> dict[str, Any]:
        """Resources within resources, with anchors, and references between them of every form."""
        books = {f"b{number}": self._book() for number in range(self._random.randint(1, 3))}
        root = {"$defs": books, "properties": {key: {"$ref": self._name()} for key in "abcd"}}
        return root | self._pick(({}, {}, {"$id": self._uri()}, {"$dynamicAnchor": "tree"}))

    def _dynamic_library(self) -> dict[str, Any]:
        """Resources that mean different things by one dynamic anchor, and lists that ask for it."""

        def bearer() -> dict[str, Any]:
            anchor = (
                {self._pick(("$dynamicAnchor", "$dynamicAnchor", "$anchor")): "tree"}
                if self._chance(0.8)
                else {}
            )
            return anchor | {"type": self._pick(("number", "string", "boolean"))}

        ask = {
            self._pick(("$dynamicRef", "$dynamicRef", "$ref")): self._pick(
                ("#tree", "#tree", "list#tree", "#/$defs/t")
            )
        }
        books = {
            "t": bearer(),
            "l": {"$id": "list", "type": "array", "items": ask, "$defs": {"t": bearer()}},
            "m": {"$id": "more", "$ref": "list", "$defs": {"t": bearer()}},
            "n": {"$id": "other", "$defs": {"t": bearer(), "u": {"anyOf": [ask, {"$ref": "list"}]}}},
        }
        names = ("list", "list", "more", "other#/$defs/u", "#/$defs/l", "#/$defs/m", "#tree", "list#/$defs/t")
        root = {
            "$id": "http://e.org/root",
            "properties": {key: {"$ref": self._pick(names)} for key in "abcd"},
            "$defs": books,
        }
        return (
            root
            if self._chance(0.7)
            else {"$ref": self._pick(("#/$defs/w", "w")), "$defs": {"w": root | {"$id": "w"}}}
        )

    def _book(self) -> dict[str, Any]:
        page = self._page() | {"$defs": {"x": self._page(), "y/z ~": self._page(), "%": self._page()}}
        return page | ({"$id": self._uri()} if self._chance(0.7) else {})

    def _page(self) -> dict[str, Any]:
        page: dict[str, Any] = {"type": self._pick(("number", "string", "array", "boolean"))}
        if page["type"] == "array":
            page["items"] = {self._pick(("$ref", "$dynamicRef", "$dynamicRef")): self._name()}
        if self._chance(0.4):
            page[self._pick(("$anchor", "$dynamicAnchor", "$dynamicAnchor"))] = self._pick(("tree", "leaf"))
        return page

    def _uri(self) -> str:
        return self._pick(
            (
                "http://e.org/a/s.json",
                "t.json",
                "/u",
                "urn:x:y",
                "in/",
                "#leaf",
                "v#leaf",
                "b0",
                "http://e.org/é x",
            )
        )

    def _name(self) -> str:
        fragment = self._pick(
            ("", "", "#", "#tree", "#tree", "#leaf", "#/$defs/b0", "#/$defs/b0/$defs/x", "#/$defs/x",
             "#/$defs/y~1z%20~0",
             "#/$defs/b1", "#/$defs/b0/type", "#/$defs/%", "#/properties/a", "#/$defs/y~1z ~0")
        )  # fmt: skip
        return (self._uri().partition("#")[0] if self._chance(0.4) else "") + fragment

    def _thing(self) -> Any:
        return self._pick(("4", 5, "x", True, [], ["4", "x"], [["4"], True], None))

    # -- schemas ------------------------------------------------------------------------------------------------

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
            node["type"] = self._pick(_KINDS)
        elif roll < 0.78:
            node["type"] = self._random.sample(_KINDS, self._random.randint(0 if self._wild == 1 else 1, 3))
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
                self._maybe(node, 0.12, **{keyword: lambda: self._pick(_NUMBERS)})
            self._maybe(node, 0.1, multipleOf=lambda: self._pick((1, 2, 0.1, 0.0001, 3, 0.5, 1e-7)))
        self._maybe(node, 0.05, default=lambda: self._anything(1), title=lambda: "T")
        return node

    def _object_schema(self, depth: int) -> dict[str, Any]:
        keys = self._random.sample(_KEYS, self._random.randint(0, 4))
        node: dict[str, Any] = {"properties": {key: self._member(depth) for key in keys}}
        if self._chance(0.85):
            node = {"type": "object" if self._chance(0.9) else ["object", "null"]} | node
        if self._chance(0.7):
            node["required"] = self._some(
                [*keys, self._pick(_KEYS)] if self._chance(0.3 * self._wild) else keys, 0.6
            )
        if self._chance(0.1 + 0.3 * self._wild):
            node["additionalProperties"] = False if self._chance(0.5) else self._member(depth)
        if self._chance(0.15):
            node["patternProperties"] = {self._pick(_PATTERNS): self._member(depth) for _ in range(2)}
        self._maybe(
            node, 0.05, propertyNames=lambda: self._atom_schema(), minProperties=lambda: self._pick((0, 1, 2))
        )
        self._maybe(node, 0.05, maxProperties=lambda: self._pick((0, 1, 3)))
        self._maybe(node, 0.05, dependentRequired=lambda: {self._pick(_KEYS): self._some(_KEYS, 0.15)})
        self._maybe(node, 0.05, dependentSchemas=lambda: {self._pick(_KEYS): self._sub(depth + 1)})
        self._maybe(node, 0.03, dependencies=lambda: {self._pick(_KEYS): self._some(_KEYS, 0.15)})
        self._maybe(node, 0.03, dependencies=lambda: {self._pick(_KEYS): self._sub(depth + 1)})
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
            tag = self._pick(_KEYS)
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

    # -- values -------------------------------------------------------------------------------------------------

    def value(self, schema: Any, root: Any, depth: int) -> Any:
        """A value that grows along `schema`, and is bent now and then."""
        return self._bent(self._straight(schema, root, depth))

    def _straight(self, schema: Any, root: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > 6:
            return self._anything(2)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.rpartition("/")[2]
            target = (
                root
                if reference == "#"
                else root.get("$defs", {}).get(name)
                if isinstance(root, dict)
                else None
            )
            return self.value(target, root, depth + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._pick(schema["enum"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if schema.get(keyword) and self._chance(0.8):
                return self._merged(
                    self.value(self._pick(schema[keyword]), root, depth + 1), schema, root, depth
                )
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self._pick(kind) if kind else None
        if kind is None:
            kind = (
                "object" if "properties" in schema else "array" if "items" in schema else self._pick(_KINDS)
            )
        make: Callable[[], Any] = {
            "string": lambda: self._pick(_TEXTS),
            "number": lambda: self._pick(_NUMBERS),
            "integer": lambda: self._random.randint(-3, 12),
            "boolean": lambda: self._chance(0.5),
            "null": lambda: None,
            "array": lambda: self._array(schema, root, depth),
            "object": lambda: self._object(schema, root, depth),
        }[kind]
        return make()

    def _merged(self, value: Any, schema: Any, root: Any, depth: int) -> Any:
        if isinstance(value, dict) and "properties" in schema:
            return self._object(schema, root, depth) | value
        return value

    def _object(self, schema: Any, root: Any, depth: int) -> dict[str, Any]:
        required = [key for key in schema.get("required", ()) if isinstance(key, str)]
        value = {
            key: self.value(member, root, depth + 1)
            for key, member in schema.get("properties", {}).items()
            if self._chance(0.95 if key in required else 0.6)
        }
        if self._chance(0.1 + 0.15 * self._wild):
            value[self._pick(_KEYS)] = self.value(schema.get("additionalProperties"), root, depth + 1)
        items = list(value.items())
        self._random.shuffle(items)
        return dict(items)

    def _array(self, schema: Any, root: Any, depth: int) -> list[Any]:
        items, prefix = schema.get("items"), schema.get("prefixItems", [])
        if isinstance(items, list):
            items, prefix = schema.get("additionalItems"), items
        count = self._random.choice((0, 1, 1, 2, 3))
        return [self.value(prefix[n] if n < len(prefix) else items, root, depth + 1) for n in range(count)]

    def _bent(self, value: Any) -> Any:
        if isinstance(value, dict) and self._chance(0.85):
            return value
        roll = self._random.random()
        if roll < 0.55:
            return value
        if roll < 0.63:
            return None
        if roll < 0.7:
            return [value]
        if roll < 0.75 and isinstance(value, list) and value:
            return value[0]
        if roll < 0.94 and isinstance(value, bool):
            return self._pick((str(value), str(value).lower(), int(value), str(int(value))))
        if roll < 0.94 and isinstance(value, int | float):
            return str(value)
        if roll < 0.94 and isinstance(value, str):
            return self._pick((*_NUMBERS, True, False))
        return self._anything(1)

    def _anything(self, depth: int) -> Any:
        roll = self._random.random()
        if roll < 0.35:
            return self._pick(_TEXTS)
        if roll < 0.65:
            return self._pick(_NUMBERS)
        if roll < 0.77:
            return self._chance(0.5)
        if roll < 0.85 or depth > 2:
            return None
        if roll < 0.93:
            return [self._anything(depth + 1) for _ in range(self._random.randint(0, 2))]
        return {self._pick(_KEYS): self._anything(depth + 1) for _ in range(self._random.randint(0, 2))}

    # -- chance -------------------------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, choices: Any) -> Any:
        return self._random.choice(choices)

    def _some(self, choices: Any, probability: float) -> list[Any]:
        return [choice for choice in choices if self._chance(probability)]

    def _maybe(self, node: dict[str, Any], probability: float, **keywords: Callable[[], Any]) -> None:
        for keyword, make in keywords.items():
            if self._chance(probability * self._wild):
                node[keyword] = make()
