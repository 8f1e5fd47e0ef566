"""The strict reading of a call's complete arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import FrozenDict
from pi_trio.models.final_arguments import final_arguments

from ..strategies import json_values, strings


@pytest.mark.parametrize("text", ["", "  \n", "{}", " {} "])
def test_nothing(text):
    assert final_arguments(text) == ({}, None)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a":1}', {"a": 1}),
        ('{"a":"line\nbreak\tand\x01"}', {"a": "line\nbreak\tand\x01"}),
        (r'{"p":"C:\Work\q"}', {"p": r"C:\Work\q"}),
        (r'{"p":"\u12"}', {"p": r"\u12"}),
        ('{"a":"bad \\q","b":"good \\n \\u00e9 \\" \\\\"}', {"a": "bad \\q", "b": 'good \n é " \\'}),
        ('{\n\t"a": [\n"\t"]\n}', {"a": ["\t"]}),
    ],
)
def test_what_is_read(text, arguments):
    read, problem = final_arguments(text)
    assert (read, problem) == (arguments, None)
    assert type(read) is FrozenDict


@pytest.mark.parametrize(
    "text",
    ['{"a":"b', '{"a":1} more', '{"a":1,}', "{'a':1}", '{"a":"b\\', '{"a":NaN}', "{" * 600, '"\n'],
)
def test_what_is_refused(text):
    read, problem = final_arguments(text)
    assert read == {}
    complaint, _, received = problem.partition("\n\nReceived arguments:\n")
    assert received == text
    assert complaint


@pytest.mark.parametrize("text", ["[1]", '"text"', "null", "3"])
def test_what_is_no_object(text):
    assert final_arguments(text) == (
        {},
        f"Tool arguments must be a JSON object\n\nReceived arguments:\n{text}",
    )


objects = st.dictionaries(strings, json_values, max_size=4)


@given(objects, st.booleans())
def test_any_arguments_are_read_as_they_were_written(value, ascii_only):
    text = json.dumps(value) if ascii_only else print_json(value)
    assert final_arguments(text) == (value, None)


@given(st.text(st.sampled_from('"\\\n\tabu0{}:,'), max_size=30))
def test_no_text_raises(text):
    arguments, problem = final_arguments(text)
    assert type(arguments) is FrozenDict
    assert problem is None or not arguments
