"""Tools whose arguments a provider is to constrain while it samples: by their JSON Schema, or by a grammar.

A declaration wishes for it in `constrained_sampling`. Strict JSON Schema is a dialect: every property is required, no
others are allowed, and much of JSON Schema is not there. A schema that does not fit is sent as it is where strictness
is only preferred, and refused where it is required. A grammar describes one text, which is a call's only argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal, TypeAlias, cast

import attrs

from ..jsontext import print_json
from ..jsonvalue import ABSENT, JSON
from ..messages import ToolDeclaration
from .dialect import Dialect
from .exchange import ResponseFailedError
from .transform import is_blank

#: What strict schemas cannot say, in the order in which it is looked for.
_UNSUPPORTED: Final = (
    "$ref",
    "$defs",
    "definitions",
    "allOf",
    "oneOf",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "prefixItems",
    "not",
    "if",
    "then",
    "else",
)


#: Whether a provider does not take a keyword with that value.
Refuses: TypeAlias = Callable[[str, JSON], bool]


class NotStrictError(Exception):
    """A schema cannot be made strict: why."""


# --- JSON Schema ------------------------------------------------------------------------------------------


def strict_wish(
    tool: ToolDeclaration, supported: bool, dialect: Dialect, refuses: Refuses | None = None
) -> bool | None:
    """Whether the tool is sent as strict; None if it does not ask for it, or asks in vain.

    Args:
        tool: its `constrained_sampling` may ask for `json_schema`.
        supported: whether the model takes strict tools.
        dialect: what is strict in that release.
        refuses: what the provider does not take besides, by keyword and value.

    Raises:
        ResponseFailedError: it requires what cannot be had.
    """
    wish = tool.constrained_sampling
    if not isinstance(wish, dict) or wish.get("type") != "json_schema":
        return None
    required = wish.get("strict") == "require"
    if supported:
        try:
            strict_schema(tool.parameters, dialect, refuses)
        except NotStrictError as error:
            if required:
                raise ResponseFailedError(_refusal(tool, str(error))) from None
            return None
        return True
    if required:
        raise ResponseFailedError(_refusal(tool, "strict tools are unsupported"))
    return None


def _refusal(tool: ToolDeclaration, why: str) -> str:
    return f'Tool "{tool.name}" requires JSON-schema constrained sampling, but {why}.'


def tool_parameters(tool: ToolDeclaration, strict: bool | None, dialect: Dialect) -> JSON:
    """The parameters of a tool as they are sent."""
    return strict_schema(tool.parameters, dialect) if strict else tool.parameters


def strict_schema(schema: JSON, dialect: Dialect, refuses: Refuses | None = None) -> dict[str, JSON]:
    """The schema in the strict dialect, as a copy: optional properties become required ones that may be null.

    Raises:
        NotStrictError: it says something that the dialect cannot say.
    """
    if not isinstance(schema, dict):
        raise NotStrictError("root schema must have type object")
    strict = _strict(schema, dialect, refuses)
    if strict.get("type") != "object":
        raise NotStrictError("root schema must have type object")
    return strict


def _strict(schema: JSON, dialect: Dialect, refuses: Refuses | None) -> dict[str, JSON]:
    if not isinstance(schema, dict):
        raise NotStrictError("boolean schemas are unsupported")
    for key in _UNSUPPORTED:
        if key in schema:
            raise NotStrictError(f"{key} schemas are unsupported")
    if refuses is not None:
        for key, value in schema.items():
            if refuses(key, value):
                raise NotStrictError(f"{key}: {print_json(value)} is unsupported")
    if dialect.strict_schemas_typed and not {"type", "anyOf", "enum"} & schema.keys():
        raise NotStrictError("schemas without a type are unsupported")
    strict = dict(schema)
    if "anyOf" in schema:
        strict["anyOf"] = [
            _strict(_simple(variant), dialect, refuses) for variant in _variants(schema["anyOf"])
        ]
    if "items" in schema:
        if isinstance(schema["items"], list):
            raise NotStrictError("tuple schemas are unsupported")
        strict["items"] = _strict(schema["items"], dialect, refuses)
    if schema.get("type") != "object":
        if "properties" in schema:
            raise NotStrictError("properties require type object")
        return strict
    return _strict_object(strict, dialect, refuses)


def _variants(variants: JSON) -> list[JSON]:
    if not isinstance(variants, list) or not variants:
        raise NotStrictError("anyOf must contain at least one schema")
    return variants


def _simple(variant: JSON) -> JSON:
    """The alternative, if it is neither an object nor an array."""
    if isinstance(variant, dict):
        types = variant.get("type")
        named = types if isinstance(types, list) else [types]
        if "object" in named or "array" in named or "properties" in variant or "items" in variant:
            raise NotStrictError("object and array unions are unsupported")
    return variant


def _strict_object(schema: dict[str, JSON], dialect: Dialect, refuses: Refuses | None) -> dict[str, JSON]:
    if schema.get("additionalProperties", False) is not False:
        raise NotStrictError("schema-valued or true additionalProperties is unsupported")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise NotStrictError("object properties must be a schema map")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
        raise NotStrictError("object required must be a string array")
    if not properties.keys() >= {*cast("list[str]", required)}:
        raise NotStrictError("required contains an unknown property")
    told: dict[str, JSON] = {}
    for key, schema_of in properties.items():
        strict = _strict(schema_of, dialect, refuses)
        told[key] = (
            strict if key in required or _takes_null(strict) else {"anyOf": [strict, {"type": "null"}]}
        )
    if "properties" in schema:
        schema["properties"] = told
    return {**schema, "required": list(told), "additionalProperties": False}


def _takes_null(schema: JSON) -> bool:
    if not isinstance(schema, dict):
        return False
    types, values, variants = schema.get("type"), schema.get("enum"), schema.get("anyOf")
    return (
        types == "null"
        or (isinstance(types, list) and "null" in types)
        or schema.get("const", ABSENT) is None
        or (isinstance(values, list) and None in values)
        or (isinstance(variants, list) and any(map(_takes_null, variants)))
    )


# --- grammars ---------------------------------------------------------------------------------------------


@attrs.frozen
class Grammar:
    """A grammar, in the syntax that it has, and the parameter that gets the text."""

    syntax: Literal["lark", "regex"]
    definition: str
    parameter: str


def grammar_of(tool: ToolDeclaration, supported: bool) -> Grammar | None:
    """The grammar that the tool's input is to follow; None if it has none, or the model takes none.

    Raises:
        ResponseFailedError: the tool wishes for one, and has none that fits.
    """
    wish = tool.constrained_sampling
    if not supported or not isinstance(wish, dict) or wish.get("type") != "grammar":
        return None
    variants = wish.get("variants")
    told = variants if isinstance(variants, dict) else {}
    syntaxes: tuple[Literal["lark", "regex"], ...] = ("lark", "regex")
    for syntax in syntaxes:
        definition = told.get(f"openai_{syntax}")
        if isinstance(definition, str) and not is_blank(definition):
            return Grammar(syntax, definition, _only_text(tool))
    raise ResponseFailedError(_no_grammar(tool, "no supported grammar variant was provided"))


def grammar_parameters(tools: Iterable[ToolDeclaration], supported: bool) -> dict[str, str]:
    """The tools with a grammar, by name, with the parameter that gets the text."""
    grammars = ((tool.name, grammar_of(tool, supported)) for tool in tools)
    return {name: grammar.parameter for name, grammar in grammars if grammar is not None}


def grammar_text(name: str, arguments: JSON, parameter: str) -> str:
    """The input of a call to a tool with a grammar.

    Raises:
        ResponseFailedError: the arguments hold none.
    """
    text = arguments.get(parameter) if isinstance(arguments, dict) else None
    if not isinstance(text, str):
        raise ResponseFailedError(
            f'Grammar tool call "{name}" requires argument "{parameter}" to be a string.'
        )
    return text


def _only_text(tool: ToolDeclaration) -> str:
    """The name of the only parameter, which is a text."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    if schema.get("type") != "object":
        raise ResponseFailedError(
            _no_grammar(tool, "grammar constrained sampling requires an object parameter schema")
        )
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or len(required) != 1 or not isinstance(required[0], str):
        raise ResponseFailedError(
            _no_grammar(tool, "grammar constrained sampling requires exactly one required string property")
        )
    name = required[0]
    parameter = properties.get(name) if isinstance(properties, dict) else None
    if not parameter:
        raise ResponseFailedError(
            _no_grammar(tool, f"grammar constrained sampling requires a properties entry for {name}")
        )
    if not isinstance(parameter, dict) or parameter.get("type") != "string":
        raise ResponseFailedError(
            _no_grammar(tool, f"grammar constrained sampling property {name} must have type string")
        )
    return name


def _no_grammar(tool: ToolDeclaration, why: str) -> str:
    return f'Tool "{tool.name}" cannot use grammar constrained sampling: {why}.'
