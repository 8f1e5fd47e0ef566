"""Random schemas on a theme: what other keywords have looked at, and what has a name."""

from __future__ import annotations

from typing import Any

from .chances import Chances


class Themes(Chances):
    """Schemas that are small and odd on purpose."""

    # -- what other keywords have looked at --------------------------------------------------

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

    # -- what has a name ----------------------------------------------------------------------

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
