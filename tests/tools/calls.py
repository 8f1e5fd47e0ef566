"""Random calls for the comparison with a real release: a schema, and arguments that fit it more or less.

Arguments are grown along the schema and then bent: numbers become text, lists lose their brackets, members go missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .chances import KEYS, NUMBERS, TEXTS
from .schemas import KINDS, Schemas
from .themes import Themes


class CallMaker(Themes, Schemas):
    """Makes calls, one after the other."""

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
            kind = "object" if "properties" in schema else "array" if "items" in schema else self._pick(KINDS)
        make: Callable[[], Any] = {
            "string": lambda: self._pick(TEXTS),
            "number": lambda: self._pick(NUMBERS),
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
            value[self._pick(KEYS)] = self.value(schema.get("additionalProperties"), root, depth + 1)
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
            return self._pick((*NUMBERS, True, False))
        return self._anything(1)
