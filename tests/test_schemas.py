"""The schemas are those of the classes, valid themselves, and of one mind with the codec."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import pi_trio
from pi_trio.codec import structure, unstructure
from pi_trio.errors import CodecError
from pi_trio.jsontext import parse_json
from pi_trio.schemas import DOCUMENTS, schema, texts

from .strategies import objects

VALIDATORS = {
    title: Draft202012Validator(schema(title, annotation)) for title, annotation in DOCUMENTS.values()
}
TYPES = dict(DOCUMENTS.values())


def spec_folder() -> Path:
    """In a checkout beside the package, in an installed wheel within it."""
    within = Path(next(iter(pi_trio.__path__))) / "_spec"
    return within if within.is_dir() else Path(__file__).parents[1] / "spec"


def test_the_files_are_fresh() -> None:
    folder = spec_folder() / "schemas"
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.json")} == texts()


@pytest.mark.parametrize("text", texts().values(), ids=texts())
def test_each_is_a_schema_and_stands_alone(text: str) -> None:
    document: Any = parse_json(text)
    Draft202012Validator.check_schema(document)
    used = {ref.removeprefix("#/$defs/") for ref in references(document)}
    assert used == set(document["$defs"])


def references(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if "$ref" in part else []
        return own + [ref for item in part.values() for ref in references(item)]
    return [ref for item in part for ref in references(item)] if isinstance(part, list) else []


@pytest.mark.parametrize("title", VALIDATORS)
@settings(max_examples=30)
@given(data=st.data())
def test_what_we_write_is_valid(title: str, data: st.DataObject) -> None:
    value = unstructure(data.draw(objects(TYPES[title])))
    VALIDATORS[title].validate(value)


@pytest.mark.parametrize("title", VALIDATORS)
@settings(max_examples=60)
@given(data=st.data())
def test_schema_and_codec_refuse_the_same(title: str, data: st.DataObject) -> None:
    # One place of a good value is spoilt, or perhaps not: then both must still accept.
    value = copy.deepcopy(unstructure(data.draw(objects(TYPES[title]))))
    spoilt = spoil(value, data)
    refusal: str | None = None
    try:
        structure(spoilt, TYPES[title])
    except CodecError as error:
        refusal = str(error)
    assert VALIDATORS[title].is_valid(spoilt) == (refusal is None), refusal


replacements = st.sampled_from([True, 0, 1.5, "", "text", "user", "start", [], [{}], {}, {"type": "text"}])


def spoil(value: Any, data: st.DataObject) -> Any:
    """Take away or replace one field, at some depth. Not by null, to which the codec is milder."""
    if not value or not isinstance(value, (dict, list)):
        return data.draw(replacements)
    places = sorted(value) if isinstance(value, dict) else range(len(value))
    place = data.draw(st.sampled_from(places))
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    match data.draw(st.sampled_from(["deeper", "replace", "remove"])):
        case "deeper":
            changed[place] = spoil(value[place], data)
        case "replace":
            changed[place] = data.draw(replacements)
        case _:
            del changed[place]
    return changed


@pytest.mark.parametrize("field", ["textSignature", "x"])
def test_null_is_not_absent(field: str) -> None:
    block = {"type": "text", "text": "a", field: None}
    message = {"role": "user", "content": [block], "timestamp": 0}
    assert VALIDATORS["Message"].is_valid(message) is (field == "x")
