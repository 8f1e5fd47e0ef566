"""Coercion as Pi did it up to 1.0.3: two passes over the arguments, before they are checked.

1. Nulls of optional members that do not take null are dropped (since 0.85.0).
2. Values are converted by the narrow rules where a `type` stands beside them.

References are not followed, so a schema is looked at as it stands. A branch of a union, and the schema of a null, is
compiled for itself: what it refers to outside of itself is not found. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..checks import SchemaError
from ..convert import narrow
from ..js_value import Plain, kinds_of, same
from .dialect import Dialect
from .document import Document
from .keywords import members_of


class Coercion:
    """The coercion towards one schema, and towards its parts.

    Args:
        root: the schema, adopted.
        dialect: the release's ways.
    """

    def __init__(self, root: Plain, dialect: Dialect) -> None:
        self._root = root
        self._dialect = dialect
        # By identity: all schemas are parts of the root, which lives as long as this does.
        self._documents: dict[int, Document | None] = {}

    def coerce(self, value: Plain) -> Plain:
        """`value` coerced towards the schema. It is left alone.

        Raises:
            SchemaError: the release stops with an error of its own.
            RecursionError: value and schema together go too deep.
        """
        if self._dialect.drops_optional_nulls:
            value = self._drop_nulls(value, self._root)
        return self._convert(value, self._root)

    def _document(self, schema: Plain) -> Document | None:
        """`schema` compiled for itself; None if that cannot be done."""
        if not isinstance(schema, dict | list):
            return None
        if id(schema) not in self._documents:
            try:
                document = Document(schema, self._dialect)
            except SchemaError:
                document = None
            self._documents[id(schema)] = document
        return self._documents[id(schema)]

    # -- 1: nulls -----------------------------------------------------------------------------------------------

    def _drop_nulls(self, value: Plain, schema: Plain) -> Plain:
        if isinstance(value, list):
            items = _keyword(schema, "items")
            if isinstance(items, list):
                return [
                    self._drop_nulls(item, items[index]) if index < len(items) and items[index] else item
                    for index, item in enumerate(value)
                ]
            return [self._drop_nulls(item, items) for item in value] if _is_truthy(items) else value
        if not isinstance(value, dict):
            return value
        declared = _keyword(schema, "properties")
        if not _is_truthy(declared):
            return value
        required = _listed(_keyword(schema, "required"))
        kept = dict(value)
        for key, member in (members_of(declared) or {}).items():
            if key not in value:
                continue
            if value[key] is None and key not in required and self._refuses_null(member):
                del kept[key]
            else:
                kept[key] = self._drop_nulls(value[key], member)
        return kept

    def _refuses_null(self, schema: Plain) -> bool:
        if isinstance(_keyword(schema, "$ref"), str):
            return False
        document = self._document(schema)
        return document is not None and not document.accepts(None)

    # -- 2: conversion ------------------------------------------------------------------------------------------

    def _convert(self, value: Plain, schema: Plain) -> Plain:
        members = _keyword(schema, "allOf")
        if isinstance(members, list):
            for member in members:
                value = self._convert(value, member)
        for keyword in ("anyOf", "oneOf"):
            members = _keyword(schema, keyword)
            if isinstance(members, list):
                value = self._convert_to_branch(value, members)
        declared = _keyword(schema, "type")
        kinds = [
            kind for kind in (declared if isinstance(declared, list) else [declared]) if isinstance(kind, str)
        ]
        if len(kinds) <= 1 or not set(kinds).intersection(kinds_of(value)):
            candidates = (narrow(value, kind) for kind in kinds)
            value = next((candidate for candidate in candidates if not same(candidate, value)), value)
        if isinstance(value, dict) and "object" in kinds:
            return self._convert_members(value, schema)
        if isinstance(value, list) and "array" in kinds:
            return self._convert_items(value, schema)
        return value

    def _convert_to_branch(self, value: Plain, branches: list[Plain]) -> Plain:
        documents = [self._document(branch) for branch in branches]
        if self._dialect.unions_keep_what_fits:
            for document in documents:
                if document is not None and document.accepts(value):
                    return value
        for branch, document in zip(branches, documents, strict=True):
            candidate = self._convert(value, branch)
            if document is not None and document.accepts(candidate):
                return candidate
        return value

    def _convert_members(self, value: dict[str, Plain], schema: Plain) -> Plain:
        declared, additional = _keyword(schema, "properties"), _keyword(schema, "additionalProperties")
        members = members_of(declared) or {}
        converted = dict(value)
        for key, member in members.items():
            if key in value:
                converted[key] = self._convert(value[key], member)
        if isinstance(additional, dict | list):
            for key, item in value.items():
                if key not in members:
                    converted[key] = self._convert(item, additional)
        return converted

    def _convert_items(self, value: list[Plain], schema: Plain) -> Plain:
        items = _keyword(schema, "items")
        if isinstance(items, list):
            return [
                self._convert(item, items[index]) if index < len(items) and _is_truthy(items[index]) else item
                for index, item in enumerate(value)
            ]
        return [self._convert(item, items) for item in value] if isinstance(items, dict) else value


def _keyword(schema: Plain, name: str) -> Plain:
    """A keyword of what stands for a schema. Where that is an atom or an array, it has none; null cannot be asked."""
    if schema is None:
        raise SchemaError(f"Cannot read properties of null (reading '{name}')")
    return schema.get(name) if isinstance(schema, dict) else None


def _listed(value: Plain) -> Iterable[Plain]:
    """What JavaScript finds in `value` when it goes through it."""
    if value is None:
        return ()
    if isinstance(value, list | str):
        return value
    raise SchemaError(f"{value} is not iterable")


def _is_truthy(value: Plain) -> bool:
    """What JavaScript's `if` decides: arrays and objects are true even if they are empty."""
    return isinstance(value, dict | list) or bool(value)
