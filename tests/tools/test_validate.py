"""Validation from end to end: what Pi was seen to do, and what holds for every call."""

from __future__ import annotations

import copy
import gc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pi_trio.errors import PiTrioError
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import freeze, thaw
from pi_trio.tools.checks import SchemaDocument
from pi_trio.tools.coerce import coerce, keeps_valid
from pi_trio.tools.js_value import adopt
from pi_trio.tools.validate import InvalidArguments, validate_arguments

from .calls import CallMaker
from .recorded import recorded_calls

NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


def outcome(call):
    try:
        value = validate_arguments(
            call["name"], call["parameters"], call["arguments"], call.get("argumentsError")
        )
    except InvalidArguments as error:
        return {"error": str(error)}
    return {"value": value}


def error_of(parameters, arguments, **options):
    with pytest.raises(InvalidArguments) as caught:
        validate_arguments("t", parameters, arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("call", recorded_calls(), ids=lambda call: call["title"])
def test_what_pi_was_seen_to_do(call):
    expected = {key: call[key] for key in ("value", "error") if key in call}
    assert print_json(outcome(call)) == print_json(expected)


# --- the copy ---------------------------------------------------------------------------------------------


def assert_plain(value):
    assert type(value) in {dict, list, str, int, float, bool, type(None)}
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        assert_plain(part)


def containers(value):
    if isinstance(value, dict | list):
        yield id(value)
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_a_call_is_not_changed_and_frozen_ones_are_judged_alike(seed):
    call = CallMaker(seed).call()
    before = copy.deepcopy(call)
    judged = outcome(call)
    assert call == before
    assert print_json(judged) == print_json(
        outcome(thaw(freeze(call)) | {"parameters": freeze(call["parameters"])})
    )
    assert print_json(judged) == print_json(outcome(call | {"arguments": freeze(call["arguments"])}))


@given(st.integers(0, 10_000))
@example(seed=3491)  # a part that a conversion puts at two places
@settings(deadline=None)
def test_the_result_is_the_callers_own(seed):
    call = CallMaker(seed).call()
    judged = outcome(call)
    if "value" in judged:
        assert_plain(judged["value"])
        mine = list(containers(judged["value"]))
        assert len(set(mine)) == len(mine)
        assert set(mine).isdisjoint([*containers(call["arguments"]), *containers(call["parameters"])])


def test_arguments_of_other_python_types():
    value = validate_arguments("t", {"type": "object"}, {"a": (1, 2.0), "b": freeze({"c": [3.0]})})
    assert value == {"a": [1, 2], "b": {"c": [3]}}
    assert_plain(value)
    assert type(value["a"][1]) is int
    assert (
        error_of(NUMBER, {"n": {1}})
        == 'Invalid arguments for tool "t": expected a JSON value, found a Python set'
    )


# --- what is valid already -------------------------------------------------------------------------------


def plain_schemas():
    """Schemas that `keeps_valid` knows, with all keywords that coercion looks at in them."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(("", "a", "true", "1")),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
        ),
        max_leaves=3,
    )
    kinds = st.sampled_from(("string", "number", "integer", "boolean", "null", "array", "object", "object"))
    return values, st.recursive(
        st.booleans() | st.fixed_dictionaries({"type": kinds}),
        lambda inner: st.fixed_dictionaries(
            {"type": kinds},
            optional={
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
                "required": st.lists(st.sampled_from("abc"), max_size=1),
                "additionalProperties": inner,
                "items": inner,
                "enum": st.lists(values, max_size=4),
                "const": values,
            },
        ),
        max_leaves=6,
    )


VALUES, PLAIN_SCHEMAS = plain_schemas()


@given(PLAIN_SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
@settings(deadline=None)
def test_coercion_leaves_alone_what_is_valid_by_a_plain_schema(schema, values):
    document = SchemaDocument(adopt(schema))
    assert keeps_valid(document.node)
    for value in map(adopt, values):
        if document.root.accepts(value):
            assert coerce(value, document) is value


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "string"}},  # makes an array of what is none
        {"type": ["string", "null"]},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "string", "not": {"const": ""}},
        {"type": "object", "additionalProperties": {"$id": "a"}},
    ],
)
def test_where_coercion_may_change_what_is_valid(schema):
    assert not keeps_valid(schema)


# --- a second opinion -------------------------------------------------------------------------------------

#: Where Pi reads a schema otherwise than the draft, or than this library does.
OTHERWISE = (
    "dependencies",
    "additionalItems",
    "multipleOf",
    "pattern",
    "format",
    "$ref",
    "$id",
    "$dynamicRef",
    '"items": [',
)


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=300)
def test_what_passes_is_valid_by_another_validator_too(seed):
    call = CallMaker(seed).call()
    judged = outcome(call)
    text = print_json(call["parameters"], indent=1)
    if "value" in judged and not any(word in text for word in OTHERWISE):
        assert Draft202012Validator(call["parameters"]).is_valid(judged["value"])


# --- the schema -------------------------------------------------------------------------------------------


def test_a_schema_is_compiled_once_for_the_very_object():
    schema = copy.deepcopy(NUMBER)
    assert validate_arguments("t", schema, {"n": "1"}) == {"n": 1}
    schema["properties"]["n"]["type"] = "string"
    assert validate_arguments("t", schema, {"n": "1"}) == {"n": 1}
    assert validate_arguments("t", copy.deepcopy(schema), {"n": "1"}) == {"n": "1"}


def test_schemas_that_come_and_go_are_not_mixed_up():
    for number in range(2000):
        schema = {"properties": {"n": {"const": number}}}
        assert validate_arguments("t", schema, {"n": number}) == {"n": number}
        del schema
        if number % 500 == 0:
            gc.collect()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"properties": {"a": None}}, "A schema must be an object or a boolean, got null"),
        ({"items": {"anyOf": [[1, "x"]]}}, 'A schema must be an object or a boolean, got [1,"x"]'),
        ({"$ref": "#/required", "required": ["a"]}, 'A schema must be an object or a boolean, got ["a"]'),
    ],
)
def test_what_is_no_schema(parameters, text):
    assert error_of(parameters, {}) == text


def test_an_invalid_pattern():
    assert error_of({"properties": {"a": {"pattern": "("}}}, {}).startswith(
        "Invalid regular expression: /(/: "
    )


def test_definitions_that_nothing_refers_to_may_be_nonsense():
    assert validate_arguments("t", {"$defs": {"a": 5, "b": {"pattern": "("}}}, {"x": 1}) == {"x": 1}


def test_errors_are_of_this_package():
    assert issubclass(InvalidArguments, PiTrioError)


# --- too deep, too large ----------------------------------------------------------------------------------

TOO_DEEP = 'Invalid arguments for tool "t": nested too deeply to be checked'
TREE = {
    "type": "object",
    "properties": {"n": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["n"],
}


def tree(height):
    node = {"n": "1"}
    for _ in range(height):
        node = {"n": "1", "children": [node]}
    return node


def test_a_tree_of_some_height():
    value = validate_arguments("t", TREE, tree(40))
    for _ in range(40):
        assert value["n"] == 1
        (value,) = value["children"]
    assert error_of(TREE, {"n": 1, "children": [tree(30), {}]}).splitlines()[1] == "  - children.1.n: missing"


@pytest.mark.parametrize("height", [400, 20_000])
def test_a_tree_of_any_height(height):
    high = tree(height)
    assert error_of(TREE, high) == TOO_DEEP
    while high:  # piece by piece: so deep a value is not even collected well
        high = high.get("children", [None])[0]


def test_a_deep_value_that_no_schema_looks_into():
    deep = []
    for _ in range(300):
        deep = [deep]
    assert validate_arguments("t", {"type": "object"}, {"deep": deep}) == {"deep": deep}
    assert error_of({"type": "string"}, {"deep": deep}).startswith("Validation failed")


def test_a_value_inside_itself():
    ring = {}
    ring["ring"] = ring
    assert error_of(NUMBER, ring) == TOO_DEEP


def test_a_schema_that_is_too_deep():
    schema = {"type": "string"}
    for _ in range(900):
        schema = {"not": schema}
    assert error_of(schema, {}) == TOO_DEEP


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}]},
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}},
    ],
)
def test_a_schema_that_only_refers_to_itself(schema):
    assert error_of(schema, {}) == TOO_DEEP


def test_a_choice_of_itself_does_not_explode():
    choice = {
        "anyOf": [
            {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next", key]}
            for key in "abcd"
        ]
    }
    value = {"d": 1, "next": 5}
    for _ in range(12):
        value = {"d": 1, "next": value}
    assert "next.next.next.next.next.next.next.next.next.next.next.next.next: expected object" in error_of(
        choice, value
    )


def test_large_arrays():
    schema = {"properties": {"xs": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}}
    assert validate_arguments("t", schema, {"xs": [str(n) for n in range(20_000)]}) == {
        "xs": list(range(20_000))
    }
    assert error_of(schema, {"xs": ["x"] * 5000}).count("expected integer") == 5000
