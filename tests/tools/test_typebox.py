"""The argument rules of 0.80.2, 0.85.0 and 1.0.3: what they were seen to do, and what holds for every call."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import freeze
from pi_trio.tools.validate import InvalidArguments, validate_arguments

from .odd_calls import OddCallMaker
from .recorded_typebox import RULES, alike, recorded_calls

RELEASES = pytest.mark.parametrize("release", RULES)
NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
SEEDS = st.integers(0, 10_000)


def outcome(call, release):
    try:
        value = validate_arguments(call["name"], call["parameters"], call["arguments"], rules=RULES[release])
    except InvalidArguments as error:
        return {"error": str(error)}
    return {"value": value}


def judged(parameters, arguments, release="1.0.3"):
    return outcome({"name": "t", "parameters": parameters, "arguments": arguments}, release)


@RELEASES
@pytest.mark.parametrize("call", recorded_calls(), ids=lambda call: call["title"])
def test_what_the_releases_were_seen_to_do(call, release):
    mine = outcome(call, release)
    assert alike(mine, call[release]), mine


# --- the copy ---------------------------------------------------------------------------------------------


def containers(value):
    if isinstance(value, dict | list):
        assert type(value) in {dict, list}
        yield id(value)
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)


@RELEASES
@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_a_call_is_not_changed_and_frozen_ones_are_judged_alike(release, seed):
    call = OddCallMaker(seed).call()
    before = copy.deepcopy(call)
    mine = outcome(call, release)
    assert call == before
    frozen = {key: freeze(part) for key, part in call.items()}
    assert print_json(outcome(frozen, release)) == print_json(mine)


@RELEASES
@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_the_result_is_the_callers_own(release, seed):
    call = OddCallMaker(seed).call()
    result = outcome(call, release).get("value")
    mine = list(containers(result))
    assert len(set(mine)) == len(mine)
    assert set(mine).isdisjoint([*containers(call["arguments"]), *containers(call["parameters"])])


# --- what is coerced is valid, and stays so ---------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_what_has_passed_passes_again_unchanged(seed):
    call = OddCallMaker(seed).call()
    if '"$ref"' in print_json(call["parameters"]) or not isinstance(call["arguments"], dict):
        return
    first = outcome(call, "1.0.3")
    if "value" in first and _is_stable(call["parameters"]):
        assert outcome(call | {"arguments": first["value"]}, "1.0.3") == first


def _is_stable(schema):
    """Whether coercion has nothing more to do the second time: several parts of a schema may pull at one value."""
    text = print_json(schema)
    return not any(word in text for word in ('"anyOf"', '"oneOf"', '"allOf"', '"type":['))


# --- the seam ---------------------------------------------------------------------------------------------


@RELEASES
def test_what_the_provider_could_not_read_is_only_known_later(release):
    value = validate_arguments("t", NUMBER, {"n": "1"}, "no JSON", rules=RULES[release])
    assert value == {"n": 1}
    with pytest.raises(InvalidArguments, match="no JSON"):
        validate_arguments("t", NUMBER, {"n": "1"}, "no JSON")


def test_one_schema_is_compiled_for_each_release():
    union = {"properties": {"n": {"anyOf": [{"type": "number"}, {"type": "string"}]}}, "type": "object"}
    values = [judged(union, {"n": "5"}, release)["value"]["n"] for release in RULES]
    assert values == [5, "5", "5"]


# --- what has no answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (None, "null cannot be the schema of arguments"),
        ({"$ref": "#/title", "title": "T"}, '"T" is no schema'),
        ({"$ref": "#/%zz"}, "URI malformed"),
        ({"$ref": "#/%80"}, "URI malformed"),
        ({"$ref": "http://["}, "Invalid URL"),
        ({"properties": {"a": 1}, "required": 5}, "5 is not iterable"),
        ({"items": 5, "properties": {"a": None}, "required": []}, "Cannot read properties of null"),
    ],
)
def test_errors_of_the_releases_own(parameters, text):
    assert text in judged(parameters, {"a": None})["error"]


def test_only_what_a_check_can_reach_must_be_a_schema():
    assert judged({"$defs": {"a": {"pattern": "("}}}, {}) == {"value": {}}


def test_a_pattern_has_one_reading():
    assert "error" in judged({"properties": {"a": {"pattern": r"\_"}}}, {"a": "_"})


# --- references -------------------------------------------------------------------------------------------

LIBRARY = {
    "$id": "http://e.org/root",
    "type": "object",
    "properties": {"a": {"$ref": "leaf"}, "b": {"$ref": "#named"}, "c": {"$ref": "leaf#/$defs/x"}},
    "$defs": {
        "leaf": {
            "$id": "leaf",
            "type": "array",
            "items": {"$ref": "#/$defs/x"},
            "$defs": {"x": {"type": "number"}},
        },
        "named": {"$anchor": "named", "type": "boolean"},
    },
}


@RELEASES
@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"a": [1]}, True),
        ({"a": ["x"]}, False),
        ({"b": True}, True),
        ({"b": 1}, False),
        ({"c": 1}, True),
        ({"c": []}, False),
    ],
)
def test_names(release, arguments, fits):
    assert ("value" in judged(LIBRARY, arguments, release)) is fits


@RELEASES
def test_a_pointer_that_leads_nowhere_from_the_root_may_be_found_deeper(release):
    schema = {
        "properties": {
            "x": {"$ref": "#/$defs/deep"},
            "y": {"properties": {"z": {"$defs": {"deep": {"type": "number"}}}}},
        }
    }
    assert "value" in judged(schema, {"x": 1}, release)
    assert "must be number" in judged(schema, {"x": "1"}, release)["error"]


@RELEASES
def test_an_identifier_that_is_none_only_matters_to_references(release):
    member = {"$id": "sub", "type": "string"}
    assert "value" in judged({"$id": "urn:x:y", "properties": {"a": member}}, {"a": "x"}, release)
    member = {**member, "items": {"$ref": "#"}}
    refused = judged({"$id": "urn:x:y", "properties": {"a": member}}, {"a": "x"}, release)
    assert refused == {"error": "Invalid URL"}


@RELEASES
def test_dynamic_and_recursive_references(release):
    tree = {
        "$id": "tree",
        "$dynamicAnchor": "node",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"kids": {"items": {"$dynamicRef": "#node"}}, "next": {"$recursiveRef": "#"}},
    }
    assert "value" in judged(tree, {"kids": [{"kids": [{}]}], "next": {"next": {}}}, release)
    assert "kids.0.kids.0: must be object" in judged(tree, {"kids": [{"kids": [1]}]}, release)["error"]
    assert "next.next: must be object" in judged(tree, {"next": {"next": 1}}, release)["error"]


# --- values of another type, asked for what they have not ---------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "keywords", "value", "fits"),
    [
        (["object", "array"], {"required": ["length", "0"]}, ["x"], True),
        (["object", "array"], {"patternProperties": {".": {"type": "string"}}}, ["x"], True),
        (["object", "array"], {"additionalProperties": {"type": "string"}}, ["x"], False),
        (["object", "boolean"], {"properties": {"a": {}}, "dependentRequired": {"a": ["b"]}}, True, True),
        (["array", "object"], {"items": [{"type": "number"}]}, {"0": 1}, True),
        (["array", "object"], {"items": [{"type": "number"}]}, {}, False),
        (["array", "string"], {"prefixItems": [{"const": "a"}], "minItems": 2}, "ab", True),
        (["array", "string"], {"contains": {}}, "", False),
        (["array", "boolean"], {"maxItems": 2}, True, False),
        (["array", "boolean"], {"prefixItems": [True], "items": {}}, True, True),
        (["string", "boolean"], {"maxLength": 1}, True, True),
        (["string", "boolean"], {"minLength": 1}, True, False),
        (["string", "boolean"], {"pattern": "^t"}, True, True),
        (["string", "number"], {"format": "regex"}, 5, True),
        (["string", "number"], {"format": "date-time"}, 5, False),
        (["number", "boolean"], {"minimum": 1}, True, True),
        (["number", "array"], {"minimum": 5}, ["7"], True),
        (["number", "object"], {"minimum": 0}, {}, False),
        (["number", "object"], {"multipleOf": 2}, {}, True),
    ],
)
def test_foreign_values(kinds, keywords, value, fits):
    schema = {"type": "object", "properties": {"v": {"type": kinds, **keywords}}}
    assert ("value" in judged(schema, {"v": value}, "0.80.2")) is fits
    assert "value" in judged(schema, {"v": value}, "0.85.0")


# --- too deep, too large ----------------------------------------------------------------------------------

TOO_DEEP = {"error": 'Invalid arguments for tool "t": nested too deeply to be checked'}
TREE = {
    "type": "object",
    "properties": {"n": {"type": "number"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["n"],
}


def tree(height):
    node = {"n": 1}
    for _ in range(height):
        node = {"n": 1, "kids": [node]}
    return node


@RELEASES
def test_a_tree_of_some_height(release):
    assert judged(TREE, tree(40), release) == {"value": tree(40)}
    refused = judged(TREE, {"n": 1, "kids": [tree(30), {}]}, release)["error"]
    assert "  - kids.1.n: must have required properties n\n" in refused


@RELEASES
@pytest.mark.parametrize("height", [400, 20_000])
def test_a_tree_of_any_height(release, height):
    high = tree(height)
    assert judged(TREE, high, release) == TOO_DEEP
    while high:  # piece by piece: so deep a value is not even collected well
        high = high.get("kids", [None])[0]


@RELEASES
@pytest.mark.parametrize("keyword", ["not", "items", "additionalProperties"])
def test_a_schema_of_any_depth(release, keyword):
    schema = {"type": "string"}
    for _ in range(900):
        schema = {keyword: schema}
    assert judged(schema, {}, release) == TOO_DEEP


@RELEASES
@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}, {"properties": {"a": {"$ref": "#/properties/a"}}}],
)
def test_a_schema_that_only_refers_to_itself(release, schema):
    assert judged(schema, {"a": 1}, release) == TOO_DEEP


@RELEASES
def test_a_value_inside_itself(release):
    ring = {}
    ring["ring"] = ring
    assert judged(NUMBER, ring, release) == TOO_DEEP


@RELEASES
def test_a_choice_of_itself_is_explained_in_reasonable_time(release):
    choice = {
        "anyOf": [
            {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next", key]}
            for key in "abcd"
        ]
    }
    value = {"d": 1, "next": 5}
    for _ in range(12):
        value = {"d": 1, "next": value}
    assert judged(choice, value, release)["error"].count("must have required properties") == 8


@RELEASES
def test_large_arrays(release):
    schema = {
        "type": "object",
        "properties": {"xs": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
    }
    numbers = list(range(20_000))
    assert judged(schema, {"xs": list(map(str, numbers))}, release) == {"value": {"xs": numbers}}
    assert judged(schema, {"xs": ["x"] * 5000}, release)["error"].count("must be integer") == 8
