"""Patterns of texts, in the dialect of JSON Schema.

What the model gives is checked by ECMAScript's rules, and pydantic's engine reads another dialect: it has no
lookahead, for one. So a pattern that a hint spells out for a text is checked by ECMAScript's rules here, too. Those of
compiled expressions, of other types, and inside dataclasses and models are pydantic's own.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import attrs
from pydantic import GetCoreSchemaHandler, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from ..ecma_regex import ecma_regex


@attrs.frozen
class EcmaPattern:
    """In `Annotated`: the text matches somewhere.

    Raises:
        PatternError: the pattern is invalid.
    """

    source: str

    def __attrs_post_init__(self) -> None:
        ecma_regex(self.source)

    @property
    def __name__(self) -> str:
        """How pydantic calls it where it has to name a member of a union."""
        return "pattern"

    def __call__(self, text: str) -> str:
        """The text, if it matches; what pydantic calls."""
        if not ecma_regex(self.source).matches(text):
            raise PydanticCustomError(
                "string_pattern_mismatch", "String should match pattern '{pattern}'", {"pattern": self.source}
            )
        return text

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema: Any = handler(source)
        if schema["type"] == "nullable":
            inner = core_schema.no_info_after_validator_function(self, schema["schema"])
            return {**schema, "schema": inner}
        return core_schema.no_info_after_validator_function(self, schema)


def with_own_patterns(base: Any, notes: Iterable[Any]) -> Iterator[Any]:
    """What `Annotated` says of a type, with these patterns in place of pydantic's."""
    of_text = {base} if base is str else set(get_args(base)) if get_origin(base) in (Union, UnionType) else ()
    if not of_text or not {str} <= of_text <= {str, NoneType}:
        yield from notes
        return
    patterns: list[EcmaPattern] = []
    for note in notes:
        if isinstance(note, FieldInfo) and any(map(_pattern_of, note.metadata)):
            patterns += (EcmaPattern(one) for one in map(_pattern_of, note.metadata) if one)
            rest = copy.copy(note)
            rest.metadata = [one for one in note.metadata if not _pattern_of(one)]
            yield rest
        elif isinstance(note, StringConstraints) and (source := _pattern_of(note)):
            patterns.append(EcmaPattern(source))
            yield dataclasses.replace(note, pattern=None)
        else:
            yield note
    yield from patterns


def _pattern_of(note: Any) -> str | None:
    pattern = getattr(note, "pattern", None)
    return pattern if isinstance(pattern, str) else None
