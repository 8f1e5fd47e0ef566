"""A pattern in a hint is ECMAScript's, as it is for who validates the model's arguments."""

from __future__ import annotations

import re
from typing import Annotated, Any

import pytest
from pydantic import Field, StringConstraints

from pi_trio.tools.decorated import tool
from pi_trio.tools.validate import InvalidArguments

from .executing import say

PASSWORD = r"^(?=.*\d).{8,}$"


def echo_of(hint: Any) -> Any:
    def echo(value: hint) -> str:  # type: ignore[valid-type]
        return repr(value)

    echo.__annotations__["value"] = hint
    return tool(echo)


@pytest.mark.parametrize(
    ("hint", "schema", "good", "bad"),
    [
        (
            Annotated[str, Field(pattern=PASSWORD, max_length=9, description="secret")],
            {"type": "string", "pattern": PASSWORD, "maxLength": 9, "description": "secret"},
            "abcdefg1",
            ["abcdefgh", "abcdefghi1"],
        ),
        (
            Annotated[str | None, Field(pattern=PASSWORD)],
            {"anyOf": [{"type": "string", "pattern": PASSWORD}, {"type": "null"}]},
            None,
            ["abcdefgh"],
        ),
        (
            list[Annotated[str, StringConstraints(pattern=PASSWORD, min_length=9)]],
            {"type": "array", "items": {"type": "string", "pattern": PASSWORD, "minLength": 9}},
            ["abcdefgh1"],
            [["abcdefgh1", "abcdefghi"]],
        ),
        (Annotated[str, Field(pattern=r"^\W$")], {"type": "string", "pattern": r"^\W$"}, "é", ["e"]),
        (
            Annotated[str, Field(pattern=r"^\d$")],
            {"type": "string", "pattern": r"^\d$"},
            "3",
            ["\u0663", "3\n"],
        ),
    ],
)
async def test_a_pattern(hint, schema, good, bad):
    echo = echo_of(hint)
    assert echo.parameters["properties"]["value"] == schema
    assert await say(echo, {"value": good}) == repr(good)
    for value in bad:
        with pytest.raises(InvalidArguments):
            await say(echo, {"value": value})
        with pytest.raises(InvalidArguments):
            echo.definition.arguments.bind("echo", {"value": value}, None)


def test_the_refusal_says_the_pattern():
    with pytest.raises(InvalidArguments, match=re.escape(f"value: String should match pattern '{PASSWORD}'")):
        echo_of(Annotated[str, Field(pattern=PASSWORD)]).definition.arguments.bind(
            "echo", {"value": "a"}, None
        )


def test_the_patterns_of_other_types_are_pydantics():
    assert echo_of(Annotated[str, Field(pattern=re.compile("^a"))]).parameters["properties"] == {
        "value": {"type": "string", "pattern": "^a"}
    }
