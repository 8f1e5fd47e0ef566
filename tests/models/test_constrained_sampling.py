"""Tools whose arguments are constrained: strict schemas and grammars."""

from __future__ import annotations

import pytest

from pi_trio.messages import ToolDeclaration
from pi_trio.models.constrained_sampling import (
    NotStrictError,
    grammar_of,
    grammar_parameters,
    grammar_text,
    strict_schema,
    strict_wish,
    tool_parameters,
)
from pi_trio.models.dialect import DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError

TEXT = {"type": "string"}
OBJECT = {"type": "object"}


def tool(parameters, wish):
    return ToolDeclaration(name="t", description="", parameters=parameters, constrained_sampling=wish)


def test_a_schema_is_made_strict():
    schema = {
        **OBJECT,
        "properties": {
            "a": TEXT,
            "b": {"type": ["string", "null"]},
            "c": {"enum": [1, None]},
            "d": {"type": "array", "items": {**OBJECT, "properties": {"e": TEXT}, "required": ["e"]}},
        },
        "required": ["d"],
    }
    strict = strict_schema(schema, DIALECT_1_6_0)
    assert strict["required"] == ["a", "b", "c", "d"]
    assert strict["additionalProperties"] is False
    assert strict["properties"]["a"] == {"anyOf": [TEXT, {"type": "null"}]}
    assert strict["properties"]["b"] == schema["properties"]["b"]
    assert strict["properties"]["d"]["items"]["additionalProperties"] is False
    assert "additionalProperties" not in schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (True, "root schema"),
        (TEXT, "root schema"),
        ({**OBJECT, "$ref": "#"}, r"\$ref schemas"),
        ({**OBJECT, "properties": {"a": True}}, "boolean"),
        ({**OBJECT, "properties": {"a": {"const": 1}}}, "without a type"),
        ({**OBJECT, "properties": {"a": {"anyOf": []}}}, "at least one"),
        ({**OBJECT, "properties": {"a": {"anyOf": [OBJECT]}}}, "object and array unions"),
        ({**OBJECT, "properties": {"a": {"type": "array", "items": []}}}, "tuple"),
        ({**OBJECT, "properties": {"a": {"type": "string", "properties": {}}}}, "require type object"),
        ({**OBJECT, "additionalProperties": True}, "additionalProperties"),
        ({**OBJECT, "properties": []}, "schema map"),
        ({**OBJECT, "required": [1]}, "string array"),
        ({**OBJECT, "required": ["a"]}, "unknown property"),
    ],
)
def test_what_cannot_be_strict(schema, why):
    with pytest.raises(NotStrictError, match=why):
        strict_schema(schema, DIALECT_1_6_0)
    prefers, requires = (
        tool(schema, {"type": "json_schema", "strict": wish}) for wish in ("prefer", "require")
    )
    assert strict_wish(prefers, True, DIALECT_1_6_0) is None
    with pytest.raises(ResponseFailedError, match='Tool "t" requires JSON-schema constrained sampling'):
        strict_wish(requires, True, DIALECT_1_6_0)


def test_a_schema_without_types_was_strict_once():
    schema = {**OBJECT, "properties": {"a": {"const": None}}}
    assert strict_schema(schema, DIALECT_1_0_3)["required"] == ["a"]


def test_who_cannot_be_strict():
    requires = tool(OBJECT, {"type": "json_schema", "strict": "require"})
    with pytest.raises(ResponseFailedError, match="strict tools are unsupported"):
        strict_wish(requires, False, DIALECT_1_6_0)
    assert strict_wish(requires, True, DIALECT_1_6_0) is True
    assert strict_wish(tool(OBJECT, False), True, DIALECT_1_6_0) is None
    assert tool_parameters(requires, None, DIALECT_1_6_0) == OBJECT


def grammar(variants, parameters=None):
    schema = {**OBJECT, "properties": {"in": TEXT}, "required": ["in"]} if parameters is None else parameters
    return tool(schema, {"type": "grammar", "variants": variants})


def test_a_grammar():
    made = grammar_of(grammar({"openai_lark": " ", "openai_regex": "a+"}), True)
    assert (made.syntax, made.definition, made.parameter) == ("regex", "a+", "in")
    assert grammar_of(grammar({"openai_lark": "x"}), False) is None
    assert grammar_parameters([grammar({"openai_lark": "x"}), tool(OBJECT, False)], True) == {"t": "in"}
    assert grammar_text("t", {"in": "x"}, "in") == "x"
    with pytest.raises(ResponseFailedError, match='requires argument "in" to be a string'):
        grammar_text("t", {"in": 1}, "in")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        (TEXT, "object parameter schema"),
        (OBJECT, "exactly one required"),
        ({**OBJECT, "required": ["a"]}, "properties entry for a"),
        ({**OBJECT, "required": ["a"], "properties": {"a": {"type": "number"}}}, "must have type string"),
    ],
)
def test_a_grammar_needs_one_text(parameters, why):
    with pytest.raises(ResponseFailedError, match=why):
        grammar_of(grammar({"openai_lark": "x"}, parameters), True)
    with pytest.raises(ResponseFailedError, match="no supported grammar variant"):
        grammar_of(grammar({}), True)
