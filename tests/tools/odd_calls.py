"""Random calls near the borders of TypeBox, for the comparison with the releases that use it.

Where `calls.py` makes what tools have, this makes what they should not: lists of types with keywords about only one of
them, keywords with malformed values, texts of odd characters, references to anywhere. Everything follows from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

_KINDS = ("string", "number", "integer", "boolean", "null", "array", "object")
_ODD_KINDS: tuple[Any, ...] = (
    "foo", ["foo", "string"], ["undefined"], "void", [], ["string", 1], ["object", "bigint"],
)  # fmt: skip
_TEXTS = (
    "", "a", "ab", "e\u0301", "e\ufe0f", "\U0001f1e6\U0001f1e7", "\U0001f1e6\U0001f1e7\U0001f1e8", "\u0301", "\u200d",
    "\U0001f468\u200d\U0001f469", "a\u1ab0", "a\u20d0", "x\u200d", "\u200d\u200dz", "\ud800", "\udc00", "1", "2.5",
    " 3 ", "true", "null", "-0.3", "0x1F", "Infinity", "1e999", "2024-01-01",
    "urn:uuid:123e4567-e89b-12d3-a456-426614174000", "\U0001f600", "a\U0001f600b", "e\u0301e\u0301",
)  # fmt: skip
_NUMBERS = (
    0, 1, -1, 2, 3, 5, 0.5, -0.5, 0.1, 0.3, -0.3, -0.1, 1e-11, -1e-11, 1.00000000001, -1.00000000001, 10, 1e21,
    123456789.125, 2**53,
)  # fmt: skip
_KEYS = ("a", "b", "c", "0", "1", "x/y", "~", "", "é")
_PATTERNS = ("^a", "b$", "^.$", ".", r"^\w$", r"\p{L}", "[^a]")
_FORMATS = (
    "date", "uuid", "email", "unknown", "uri-template", "relative-json-pointer", "json-pointer", "duration", "time",
)  # fmt: skip
_REFERENCES = ("#", "#/$defs/A", "#/$defs/B", "#/properties/a", "#/nope", "#/items", "#A", "#/anyOf/0")
_MALFORMED: tuple[Any, ...] = (
    None, True, 0, 1, "x", [], {}, ["a"], [None], [{}], {"a": 1}, {"a": {}}, [True], -1, 1.5,
)  # fmt: skip


class OddCallMaker:
    """Makes calls, one after the other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._malformed = 0.0
        self._rare = 1.0
        self._leftovers = self._references = False

    def call(self) -> dict[str, Any]:
        """A call as `validate.mjs` takes it."""
        self._malformed = self._pick((0, 0, 0.02, 0.3))
        self._rare = self._pick((0.25, 1, 1))
        self._leftovers, self._references = self._chance(0.2), self._chance(0.3)
        schema = self._schema(0)
        if self._chance(0.6):
            schema = {"type": "object"} | schema | {"type": "object"}
        if self._references:
            schema["$defs"] = {"A": self._schema(1), "B": self._schema(1)}
        return {"name": "t", "parameters": schema, "arguments": self._value(schema, 0)}

    # -- schemas ------------------------------------------------------------------------------------------------

    def _schema(self, depth: int) -> dict[str, Any]:
        if depth > 3:
            return {"type": self._pick(_KINDS)} if self._chance(0.7) else {}
        node: dict[str, Any] = {}
        roll = self._random.random()
        if roll < 0.45:
            node["type"] = self._pick(_KINDS)
        elif roll < 0.75:
            node["type"] = [self._pick(_KINDS) for _ in range(self._random.randint(1, 3))]
        elif roll < 0.78:
            node["type"] = self._pick(_ODD_KINDS)
        self._about_members(node, depth)
        self._about_items(node, depth)
        self._about_atoms(node)
        self._in_place(node, depth)
        return node

    def _about_members(self, node: dict[str, Any], depth: int) -> None:
        rare = self._rare

        def by_key(keys: Any, most: int = 1) -> dict[str, Any]:
            return {self._pick(keys): self._sub(depth) for _ in range(self._random.randint(0, most))}

        def dependency() -> Any:
            return [self._pick(_KEYS)] if self._chance(0.5) else self._sub(depth)

        self._maybe(node, 0.3, properties=lambda: by_key(_KEYS, 3))
        self._maybe(
            node, 0.2, required=lambda: [self._pick(_KEYS) for _ in range(self._random.randint(0, 2))]
        )
        self._maybe(node, 0.12, additionalProperties=lambda: False if self._chance(0.5) else self._sub(depth))
        self._maybe(node, 0.06 * rare, patternProperties=lambda: by_key(_PATTERNS))
        self._maybe(
            node,
            0.04 * rare,
            propertyNames=lambda: self._pick(({"maxLength": 1}, {"pattern": "^[ab]"}, False, True)),
            minProperties=lambda: self._pick((0, 1, 2)),
            maxProperties=lambda: self._pick((0, 1, 2)),
            dependentRequired=lambda: {self._pick(_KEYS): [self._pick(_KEYS)]},
            dependentSchemas=lambda: by_key(_KEYS),
            dependencies=lambda: {self._pick(_KEYS): dependency()},
        )

    def _about_items(self, node: dict[str, Any], depth: int) -> None:
        rare = self._rare

        def some(most: int) -> list[Any]:
            return [self._sub(depth) for _ in range(self._random.randint(0, most))]

        self._maybe(node, 0.2, items=lambda: self._sub(depth) if self._chance(0.7) else some(3))
        self._maybe(
            node,
            0.08,
            minItems=lambda: self._pick((0, 1, 2)),
            maxItems=lambda: self._pick((0, 1, 2)),
            uniqueItems=lambda: True,
        )
        self._maybe(
            node,
            0.06 * rare,
            prefixItems=lambda: some(2),
            additionalItems=lambda: self._sub(depth),
            contains=lambda: self._sub(depth),
            minContains=lambda: self._pick((0, 1, 2)),
            maxContains=lambda: self._pick((0, 1, 2)),
        )

    def _about_atoms(self, node: dict[str, Any]) -> None:
        self._maybe(
            node, 0.15, minLength=lambda: self._pick((0, 1, 2, 3)), maxLength=lambda: self._pick((0, 1, 2, 3))
        )
        self._maybe(node, 0.07, pattern=lambda: self._pick(("^a", "1", "u", "^.$", r"\p{L}", "true", "^$")))
        self._maybe(node, 0.06, format=lambda: self._pick(_FORMATS))
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            self._maybe(node, 0.08, **{keyword: lambda: self._pick(_NUMBERS)})
        self._maybe(node, 0.1, multipleOf=lambda: self._pick((1, 2, 0.1, 0.3, 0.5, 1e-7, 0)))
        self._maybe(
            node,
            0.06,
            enum=lambda: [self._anything(2) for _ in range(self._random.randint(0, 3))],
            const=lambda: self._anything(2),
        )

    def _in_place(self, node: dict[str, Any], depth: int) -> None:
        def some(least: int, most: int) -> list[Any]:
            return [self._sub(depth) for _ in range(self._random.randint(least, most))]

        self._maybe(node, 0.1, anyOf=lambda: some(0, 3), oneOf=lambda: some(0, 3))
        self._maybe(node, 0.05, allOf=lambda: some(0, 2))
        for keyword in ("not", "if", "then", "else"):
            self._maybe(node, 0.05, **{keyword: lambda: self._sub(depth)})
        if self._leftovers:
            self._maybe(node, 0.1, unevaluatedProperties=lambda: self._sub(depth))
            self._maybe(node, 0.1, unevaluatedItems=lambda: self._sub(depth))
        if self._references:
            self._maybe(node, 0.15, **{"$ref": lambda: self._pick(_REFERENCES)})
            self._maybe(node, 0.03, **{"$anchor": lambda: self._pick(("A", "B"))})

    def _sub(self, depth: int) -> Any:
        return self._chance(0.6) if self._chance(0.06) else self._schema(depth + 1)

    def _maybe(self, node: dict[str, Any], probability: float, **keywords: Callable[[], Any]) -> None:
        for keyword, make in keywords.items():
            if self._chance(probability):
                node[keyword] = self._pick(_MALFORMED) if self._chance(self._malformed) else make()

    # -- values -------------------------------------------------------------------------------------------------

    def _value(self, schema: Any, depth: int) -> Any:
        """A value that grows along `schema`, or not."""
        if not isinstance(schema, dict) or depth > 5 or self._chance(0.2):
            return self._anything(1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches and self._chance(0.6):
                return self._value(self._pick(branches), depth + 1)
        if "const" in schema and self._chance(0.8):
            return schema["const"]
        members = schema.get("enum")
        if isinstance(members, list) and members and self._chance(0.8):
            return self._pick(members)
        kind = schema.get("type")
        kind = self._pick(kind) if isinstance(kind, list) and kind else kind
        match kind if kind in _KINDS else self._pick(_KINDS):
            case "string":
                return self._pick(_TEXTS)
            case "number" | "integer":
                return self._pick(_NUMBERS)
            case "boolean":
                return self._chance(0.5)
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
        return None

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        items, prefix = schema.get("items"), schema.get("prefixItems")
        if isinstance(items, list):
            items, prefix = schema.get("additionalItems"), items
        first = prefix if isinstance(prefix, list) else []
        count = self._random.randint(0, 3)
        return [self._value(first[n] if n < len(first) else items, depth + 1) for n in range(count)]

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        declared, required = schema.get("properties"), schema.get("required")
        members = declared if isinstance(declared, dict) else {}
        value = {key: self._value(member, depth + 1) for key, member in members.items() if self._chance(0.8)}
        for key in required if isinstance(required, list) else []:
            if isinstance(key, str) and self._chance(0.7):
                value.setdefault(key, self._anything(2))
        if self._chance(0.3):
            value[self._pick(_KEYS)] = self._anything(2)
        return value

    def _anything(self, depth: int) -> Any:
        roll = self._random.random()
        if depth > 2 or roll < 0.6:
            return self._pick(
                (
                    None,
                    True,
                    False,
                    *(self._pick(_TEXTS) for _ in "12"),
                    *map(self._pick, (_NUMBERS, _NUMBERS)),
                )
            )
        if roll < 0.8:
            return [self._anything(depth + 1) for _ in range(self._random.randint(0, 4))]
        return {self._pick(_KEYS): self._anything(depth + 1) for _ in range(self._random.randint(0, 3))}

    # -- chance -------------------------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, choices: Any) -> Any:
        return self._random.choice(choices)
