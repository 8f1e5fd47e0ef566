"""Whether a schema that somebody has given is one.

The rules that arguments are held to pass over what they do not understand, as Pi does: a `required` that is no list
asks for nothing, and nobody is told. That is right for what comes from anywhere, and wrong for what stands in the
program: so a keyword that JSON Schema knows must have a value that it can have, and a schema must not be its own
condition. Unknown keywords are none of its business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

_TYPES: Final = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})


class NoSchemaError(Exception):
    """It is none; the text says where and why."""


def check_schema(schema: Mapping[str, Any]) -> None:
    """Look at a schema and at all that are in it.

    Raises:
        NoSchemaError: one of them is none.
    """
    for path, part in _parts(schema, "#"):
        for keyword, value in part.items():
            known = _KNOWN.get(keyword)
            if known is not None and not known[0](value):
                raise NoSchemaError(f"{path}/{keyword} is {value!r:.60}, and no {known[1]}")
    if any(name in part for _, part in _parts(schema, "#") for name in ("$id", "id")):
        return  # references have other roots then
    ended: set[int] = set()
    for path, part in _parts(schema, "#"):
        _check_end(schema, part, path, (), ended)


# --- keywords -----------------------------------------------------------------------------------------------


def _is_schema(value: object) -> bool:
    return isinstance(value, (Mapping, bool))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)  # type: ignore[operator, call-overload]


def _is_type(value: object) -> bool:
    types = value if isinstance(value, list) else [value]
    return bool(types) and all(isinstance(one, str) and one in _TYPES for one in types)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _are_schemas(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _are_named_schemas(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_schema, value.values()))


_ONE: Final = (
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "contains",
    "unevaluatedItems",
)
_IN_PLACE: Final = ("not", "if", "then", "else")
_SEVERAL: Final = ("allOf", "anyOf", "oneOf")
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")

_KNOWN: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "type": (_is_type, "type of JSON"),
    "enum": (lambda value: isinstance(value, list), "list"),
    "required": (_are_names, "list of names"),
    "$ref": (lambda value: isinstance(value, str), "reference"),
    "format": (lambda value: isinstance(value, str), "text"),
    "uniqueItems": (lambda value: isinstance(value, bool), "boolean"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "number above 0"),  # type: ignore[operator]
    "items": (lambda value: _is_schema(value) or value == [] or _are_schemas(value), "schema"),
    "prefixItems": (_are_schemas, "list of schemas"),
    **dict.fromkeys(("minimum", "maximum"), (_is_number, "number")),
    # Booleans in draft 4.
    **dict.fromkeys(
        ("exclusiveMinimum", "exclusiveMaximum"),
        (lambda value: isinstance(value, (int, float)), "number"),
    ),
    **dict.fromkeys(
        (
            *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
            *("minContains", "maxContains"),
        ),
        (_is_count, "count"),
    ),
    **dict.fromkeys((*_ONE, *_IN_PLACE), (_is_schema, "schema")),
    **dict.fromkeys(_SEVERAL, (_are_schemas, "list of schemas")),
    **dict.fromkeys(_NAMED, (_are_named_schemas, "schemas by name")),
}


def _parts(schema: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A schema and all that are in it, with their places. What is in the wrong shape is passed over."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for keyword, value in schema.items():
        inside: Iterator[tuple[object, Any]] | Any = ()
        if keyword in _NAMED and isinstance(value, Mapping):
            inside = value.items()
        elif keyword in (*_SEVERAL, "prefixItems", "items") and isinstance(value, list):
            inside = enumerate(value)
        elif keyword in (*_ONE, *_IN_PLACE, "items"):
            yield from _parts(value, f"{path}/{keyword}")
        for name, one in inside:
            yield from _parts(one, f"{path}/{keyword}/{name}")


# --- references ---------------------------------------------------------------------------------------------


def _check_end(
    root: Mapping[str, Any], part: Any, path: str, within: tuple[int, ...], ended: set[int]
) -> None:
    """Whether one comes to an end who follows all that has to be looked at for one and the same value."""
    if not isinstance(part, Mapping) or id(part) in ended:
        return
    if id(part) in within:
        raise NoSchemaError(f"{path} refers to itself for one and the same value")
    within = (*within, id(part))
    for keyword in _IN_PLACE:
        _check_end(root, part.get(keyword), path, within, ended)
    for keyword in _SEVERAL:
        for one in part.get(keyword, ()):
            _check_end(root, one, path, within, ended)
    reference = part.get("$ref", "")
    if reference == "#" or reference.startswith("#/"):
        _check_end(root, _found(root, reference), path, within, ended)
    ended.add(id(part))


def _found(root: Any, reference: str) -> Any:
    place = root
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        try:
            place = place[int(name)] if isinstance(place, list) else place[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise NoSchemaError(f"it refers to {reference}, which is not in it") from None
    return place
