"""What a decorated function returns, as the result of its call."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import attrs
import pytest
from pydantic import BaseModel, Field

from pi_trio.jsonvalue import ABSENT
from pi_trio.messages import ImageContent, TextContent, ToolResult
from pi_trio.tools.decorated import FunctionTool, tool

from .executing import execute, say

TEXT, IMAGE = TextContent(text="a"), ImageContent(data="AA==", mime_type="image/png")


class Word(str, enum.Enum):  # noqa: UP042
    YES = "yes"


class Point(NamedTuple):
    x: int
    y: int


class Reading(TypedDict):
    degrees: float
    at: datetime.date


@dataclass
class Offer:
    item: str
    price: float | None


@attrs.frozen
class Parcel:
    offer: Offer
    _weight: int = 1


class Order(BaseModel):
    number: int = Field(serialization_alias="orderNumber")
    parcels: list[str] = []


def returning(value: Any, hint: Any = ..., **options: Any) -> FunctionTool[Callable[..., Any]]:
    def give() -> Any:
        return value

    give.__annotations__ = {} if hint is ... else {"return": hint}
    return tool(**options)(give)


# --- text and content -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "value", "content"),
    [
        (str, "said", (TextContent(text="said"),)),
        (..., "said", (TextContent(text="said"),)),
        (Any, [TEXT, IMAGE], (TEXT, IMAGE)),
        (object, (), ()),
        (Word, Word.YES, (TextContent(text="yes"),)),
        (Literal["on", "off"], "on", (TextContent(text="on"),)),
        (str | None, "said", (TextContent(text="said"),)),
        (Annotated[str, "what it says"], "said", (TextContent(text="said"),)),
        (TextContent, TEXT, (TEXT,)),
        (list[TextContent | ImageContent], [TEXT, IMAGE], (TEXT, IMAGE)),
        (tuple[ImageContent, ...], (IMAGE,), (IMAGE,)),
        (Sequence[TextContent] | str | ToolResult, [TEXT], (TEXT,)),
        (ToolResult, ToolResult(content=[TEXT]), (TEXT,)),
    ],
    ids=str,
)
async def test_text_and_content(hint, value, content):
    made = returning(value, hint)
    assert made.output_schema is None
    assert await execute(made) == ToolResult(content=content)


async def test_a_whole_result_is_the_result():
    whole = ToolResult(content=[TEXT], details={"a": 1}, terminate=True, is_error=True)
    for hint in (..., ToolResult, str | ToolResult, Offer | ToolResult, int | ToolResult | None):
        assert await execute(returning(whole, hint)) is whole


async def test_nothing_is_no_answer():
    """The loop makes an error of it (D-12)."""
    for hint in (..., str, str | None, ToolResult | None):
        assert await execute(returning(None, hint)) is None


async def test_a_tool_for_its_effect():
    assert await say(returning(None, None)) == "Done."
    assert await say(returning(None, type(None))) == "Done."
    whole = ToolResult(content=[TEXT])
    with pytest.raises(TypeError, match="Tool give returned str, but is annotated to return None"):
        await execute(returning("said", None))
    assert await execute(returning(whole, ToolResult)) is whole


@pytest.mark.parametrize("value", [3, {"a": 1}, [3], [TEXT, "text"], b"bytes", object()])
async def test_anything_else_has_to_be_annotated(value):
    with pytest.raises(TypeError, match=r"Tool give returned .*: annotate what it returns, or return a text"):
        await execute(returning(value))


# --- structured -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "value", "told", "text"),
    [
        (Offer, Offer("pear", 1.0), {"item": "pear", "price": 1}, '{"item":"pear","price":1}'),
        (Offer | None, None, None, "null"),
        (Parcel, Parcel(Offer("fig", None)), {"offer": {"item": "fig", "price": None}, "weight": 1}, None),
        (
            Reading,
            {"degrees": 1.5, "at": datetime.date(2031, 2, 3)},
            {"degrees": 1.5, "at": "2031-02-03"},
            '{"degrees":1.5,"at":"2031-02-03"}',
        ),
        (Order, Order(number=3), {"orderNumber": 3, "parcels": []}, None),
        (list[Offer], [Offer("pear", 2)], [{"item": "pear", "price": 2}], None),
        (dict[str, Point], {"a": Point(1, 2)}, {"a": [1, 2]}, '{"a":[1,2]}'),
        (dict, {"a": [None]}, {"a": [None]}, '{"a":[null]}'),
        (int, 3, 3, "3"),
        (bool, False, False, "false"),
    ],
    ids=str,
)
async def test_structured(hint, value, told, text):
    result = await execute(returning(value, hint))
    assert result is not None
    assert result.structured_content == told
    (block,) = result.content or ()
    assert isinstance(block, TextContent)
    assert text is None or block.text == text


def test_the_schema_of_what_is_returned():
    assert returning(None, Offer).output_schema == {
        "title": "Offer",
        "type": "object",
        "properties": {"item": {"type": "string"}, "price": {"type": ["number", "null"]}},
        "required": ["item", "price"],
    }
    assert returning(None, Order).output_schema == {
        "title": "Order",
        "type": "object",
        "properties": {
            "orderNumber": {"type": "integer"},
            "parcels": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["orderNumber"],
    }
    schema: Any = returning(None, Offer | ToolResult).output_schema
    assert schema == returning(None, Offer).output_schema
    schema = returning(None, Parcel | None).output_schema
    assert schema["anyOf"] == [{"$ref": "#/$defs/Parcel"}, {"type": "null"}]
    assert set(schema["$defs"]) == {"Parcel", "Offer"}


async def test_an_output_that_the_annotation_does_not_tell():
    made = returning({"item": "pear", "price": "2.5"}, output=Offer)
    assert made.output_schema == returning(None, Offer).output_schema
    result = await execute(made)
    assert result is not None
    assert result.structured_content == {"item": "pear", "price": 2.5}
    assert await say(returning("said", str, output=str)) == '"said"'


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (Offer, {"item": "pear"}, "price: "),
        (Offer, None, "Input should be "),
        (Offer, Offer(3, 4), "Expected `str`"),  # type: ignore[arg-type]
        (list[int], [1, "x"], "1: Input should be a valid integer"),
        (float, float("nan"), "expected a finite number, found nan"),
        (dict[str, float], {"a": float("inf")}, "a: expected a finite number"),
        (bytes, b"\xff", "[\\s\\S]*utf-8"),
    ],
    ids=str,
)
async def test_what_is_not_of_its_type(hint, value, problem):
    with pytest.raises(TypeError, match=f"^Tool give returned what is not of its output type: {problem}"):
        await execute(returning(value, hint))


async def test_details_are_left_to_the_tool():
    result = await execute(returning(3, int))
    assert result is not None
    assert result.details is ABSENT


@attrs.define
class Count:
    """It counts itself."""

    of: str
    inner: list[Count] = attrs.Factory(list)
    number: int = attrs.field(init=False, default=1)
    since: datetime.date = attrs.field(init=False)


async def test_fields_of_an_attrs_class_that_cannot_be_given_are_told():
    @tool
    async def count(seed: Count) -> list[Count]:
        seed.since = datetime.date(2020, 1, 1)
        return [seed]

    result = await execute(count, {"seed": {"of": "a", "inner": [{"of": "b"}]}})
    assert result is not None
    assert result.structured_content == [
        {
            "of": "a",
            "inner": [{"of": "b", "inner": [], "number": 1}],
            "number": 1,
            "since": "2020-01-01",
        }
    ]
    given, answered = count.parameters["$defs"]["Count"], count.output_schema["$defs"]["Count"]  # type: ignore[call-overload, index]
    assert list(given["properties"]) == ["of", "inner"]  # type: ignore[call-overload, index, arg-type]
    assert list(answered["properties"]) == ["of", "inner", "number", "since"]  # type: ignore[call-overload, index, arg-type]
    assert answered["properties"]["since"] == {"type": "string", "format": "date"}  # type: ignore[call-overload, index]


@attrs.define
class Bent:
    """Its converter makes something else of its field than it says."""

    size: int = attrs.field(converter=str)


async def test_a_misfit_is_told_in_plain_words():
    @tool
    async def bend() -> Bent:
        return Bent(3)

    with pytest.raises(TypeError, match=r"not of its output type: Expected `int` .* \[field_name='size'"):
        await execute(bend)
