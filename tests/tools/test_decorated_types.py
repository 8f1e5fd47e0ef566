"""The types of a decorated function's parameters: what the model is told of them, and what the function gets.

The law: a value of a type, told as JSON, passes the validation of every profile and comes back as the same value.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import Doc

from pi_trio.tools.decorated import FunctionTool, tool
from pi_trio.tools.decorator.shadows import Shadows
from pi_trio.tools.decorator.signature import ToolDefinitionError
from pi_trio.tools.validate import InvalidArguments, validate_arguments

from .executing import execute, say

RULES = ("pi-schema", "typebox", "typebox-0.85", "typebox-0.80")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Tree:
    """A tree of numbers."""

    value: int
    children: list[Tree] = field(default_factory=list)


@attrs.frozen
class Link:
    """A chain that is held together by another class."""

    name: str = attrs.field(validator=attrs.validators.max_len(9))
    _next: Ring | None = None


@attrs.define(kw_only=True)
class Ring:
    link: Link
    since: datetime.date | None = None
    strength: int = attrs.field(default=1, init=False)


class Entry(TypedDict):
    key: str
    when: NotRequired[datetime.date]


class Half(TypedDict, total=False):
    a: int
    b: list[Half]


class Point(NamedTuple):
    x: int
    y: int = 0


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(9, ge=0, le=9)


class Dog(BaseModel):
    model_config = ConfigDict(strict=True)

    kind: Literal["dog"]
    born: datetime.date
    friends: list[Cat | Dog] = []


class Box(BaseModel):
    pets: Annotated[Cat | Dog, Field(discriminator="kind")]


WHOLE = st.integers(-(2**53), 2**53)
DATES = st.dates()
LINKS = st.recursive(
    st.builds(Link, st.text(max_size=9)),
    lambda links: st.builds(Link, st.text(max_size=9), st.builds(Ring, link=links, since=st.none() | DATES)),
    max_leaves=4,
)
CATS = st.builds(Cat, lives=st.integers(0, 9))
DOGS = st.recursive(
    st.builds(Dog, kind=st.just("dog"), born=DATES),
    lambda dogs: st.builds(Dog, kind=st.just("dog"), born=DATES, friends=st.lists(CATS | dogs, max_size=2)),
    max_leaves=4,
)
TREES = st.recursive(
    st.builds(Tree, WHOLE), lambda trees: st.builds(Tree, WHOLE, st.lists(trees, max_size=3)), max_leaves=5
)
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(),
    int: WHOLE,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    None: st.none(),
    int | None: WHOLE | st.none(),
    list[int]: st.lists(WHOLE),
    Sequence[str]: st.lists(st.text()),
    set[int]: st.sets(WHOLE),
    frozenset[str]: st.frozensets(st.text()),
    dict[str, bool]: st.dictionaries(st.text(), st.booleans()),
    Mapping[str, list[int]]: st.dictionaries(st.text(), st.lists(WHOLE)),
    tuple[int, str]: st.tuples(WHOLE, st.text()),
    tuple[int, ...]: st.lists(WHOLE).map(tuple),
    datetime.datetime: st.datetimes(timezones=st.just(datetime.UTC)),
    datetime.date: DATES,
    uuid.UUID: st.uuids(),
    decimal.Decimal: st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10**9, max_value=10**9),
    Path: st.sampled_from(["/tmp/a", "b.txt", "."]).map(Path),
    Colour: st.sampled_from(Colour),
    Level: st.sampled_from(Level),
    Literal["a", 1]: st.sampled_from(["a", 1]),
    Tree: TREES,
    list[Tree] | None: st.lists(TREES, max_size=2) | st.none(),
    Link: LINKS,
    dict[str, Link]: st.dictionaries(st.text(), LINKS, max_size=2),
    Ring: st.builds(Ring, link=LINKS, since=st.none() | DATES),
    Entry: st.fixed_dictionaries({"key": st.text()}, optional={"when": DATES}),
    Half: st.just({}) | st.fixed_dictionaries({"a": WHOLE}, optional={"b": st.just([{"a": 1}])}),
    Point: st.builds(Point, WHOLE, WHOLE),
    Cat: CATS,
    Cat | Dog: CATS | DOGS,
    Box: st.builds(Box, pets=CATS | DOGS),
}  # fmt: skip


def taking(hint: Any) -> FunctionTool[Callable[..., Any]]:
    """A tool with one parameter of that type, which answers with what it got."""

    def take(value: Any) -> Any: ...

    take.__annotations__ = {"value": hint}
    return tool(take)


def received(taker: FunctionTool[Callable[..., Any]], value: Any, rules: Any = "pi-schema") -> Any:
    """What the function gets when the model says this."""
    args = validate_arguments("take", taker.parameters, {"value": value}, rules=rules)
    return taker.definition.arguments.bind("take", args, None).arguments["value"]


@pytest.mark.parametrize("hint", VALUES, ids=str)
@settings(derandomize=True, deadline=None, max_examples=25)
@given(data=st.data())
def test_a_value_comes_through(hint, data):
    taker = TAKERS[hint]
    value = data.draw(VALUES[hint])
    told = TypeAdapter(Shadows(answers=False).cast(hint)).dump_python(value, mode="json")
    for rules in RULES:
        got = received(taker, told, rules)
        assert got == value
        assert type(got) is type(value)


TAKERS = {hint: taking(hint) for hint in VALUES}


# --- what the model is told -------------------------------------------------------------------------------


def test_schemas():
    @tool
    def book(
        room: Annotated[int, Field(ge=1, description="the number on the door"), "not this"],
        day: Annotated[datetime.date, "which day"],
        colour: Annotated[Colour, Doc("of the paint")] = Colour.BLUE,
        pet: Cat | None = None,
        tags: list[Literal["quiet", "warm"]] = [],  # noqa: B006
        limit: float = float("inf"),
        at: tuple[int, str] = (1, "x"),
    ) -> str:
        """Book.

        Args:
            room: nor this
            day: nor this
            colour: nor this
            pet: who comes along
        """
        return "booked"

    assert book.parameters == {
        "type": "object",
        "properties": {
            "room": {"type": "integer", "minimum": 1, "description": "the number on the door"},
            "day": {"type": "string", "format": "date", "description": "which day"},
            "colour": {"$ref": "#/$defs/Colour", "description": "of the paint", "default": "blue"},
            "pet": {
                "anyOf": [{"$ref": "#/$defs/Cat"}, {"type": "null"}],
                "description": "who comes along",
                "default": None,
            },
            "tags": {"type": "array", "items": {"enum": ["quiet", "warm"], "type": "string"}, "default": []},
            "limit": {"type": "number"},
            "at": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
                "default": [1, "x"],
            },
        },
        "required": ["room", "day"],
        "additionalProperties": False,
        "$defs": {
            "Colour": {"title": "Colour", "type": "string", "enum": ["red", "blue"]},
            "Cat": {
                "title": "Cat",
                "type": "object",
                "properties": {
                    "kind": {"const": "cat", "type": "string", "default": "cat"},
                    "lives": {"type": "integer", "minimum": 0, "maximum": 9, "default": 9},
                },
            },
        },
    }


def test_an_attrs_class_has_one_name():
    @tool
    def tie(first: Link, second: list[Link]) -> str:
        return "tied"

    schema: Any = tie.parameters
    assert schema["properties"] == {
        "first": {"$ref": "#/$defs/Link"},
        "second": {"type": "array", "items": {"$ref": "#/$defs/Link"}},
    }
    assert schema["$defs"]["Link"] == {
        "title": "Link",
        "description": "A chain that is held together by another class.",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "next": {"anyOf": [{"$ref": "#/$defs/Ring"}, {"type": "null"}]},
        },
        "required": ["name"],
    }
    assert schema["$defs"]["Ring"]["required"] == ["link"]
    assert set(schema["$defs"]["Ring"]["properties"]) == {"link", "since"}


def test_two_classes_of_one_name():
    other = attrs.make_class("Link", {"size": attrs.field(type=int)})

    def tie(one: Link, two: Any) -> Any: ...

    tie.__annotations__ = {"one": Link, "two": other}
    schema: Any = tool(tie).parameters
    one, two = (schema["properties"][name]["$ref"].removeprefix("#/$defs/") for name in ("one", "two"))
    assert set(schema["$defs"][one]["properties"]) == {"name", "next"}
    assert set(schema["$defs"][two]["properties"]) == {"size"}


# --- what does not fit ------------------------------------------------------------------------------------


async def test_what_only_python_knows_is_told_to_the_model():
    @tool
    def tie(link: Link, even: Annotated[int, AfterValidator(lambda n: n // (n % 2 == 0))] = 0) -> str:
        return "tied"

    with pytest.raises(InvalidArguments) as caught:
        await execute(tie, {"link": {"name": "far too long"}})
    assert str(caught.value).startswith('Validation failed for tool "tie":\n  - link: ')
    assert "'name' must be <= 9: 12" in str(caught.value)
    with pytest.raises(ZeroDivisionError):
        await execute(tie, {"link": {"name": "a"}, "even": 3})


@attrs.frozen
class Picky:
    exact: int = attrs.field(default=True, validator=attrs.validators.instance_of(bool))
    one_of: str = attrs.field(default="a", validator=attrs.validators.in_(["a", "b"]))
    silent: int = 0

    def __attrs_post_init__(self) -> None:
        if self.silent:
            raise TypeError


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"exact": 3}, "'exact' must be <class 'bool'> "),
        ({"one_of": "c"}, r"'one_of' must be in \['a', 'b'\] \(got 'c'\)$"),
        ({"silent": 1}, "$"),
    ],
)
async def test_what_an_attrs_class_refuses_is_told_in_its_words(value, problem):
    @tool(parameters={"type": "object"})
    async def pick(things: list[Picky]) -> str:
        return "picked"

    with pytest.raises(InvalidArguments, match=rf"\n  - things\.0: Value error, {problem}"):
        await execute(pick, {"things": [value]})


async def test_where_it_does_not_fit():
    @tool(parameters={"type": "object"})
    async def plant(tree: Tree) -> str:
        return repr(tree)

    with pytest.raises(
        InvalidArguments, match=r"\n  - tree\.children\.0\.value: Input should be a valid integer"
    ):
        await execute(plant, {"tree": {"value": 1, "children": [{"value": "x"}]}})
    assert await say(plant, {"tree": {"value": 1}}) == "Tree(value=1, children=[])"


# --- what cannot be told ----------------------------------------------------------------------------------


class Opaque: ...


@dataclass
class Holder:
    link: Link


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Opaque, "Opaque cannot be told as JSON: Unable to generate pydantic-core schema for"),
        (list[Opaque], "list\\[.*Opaque\\] cannot be told as JSON"),
        (Holder, "Holder cannot be told as JSON: Unable to generate pydantic-core schema for .*Link"),
        (type, "type cannot be told as JSON"),
        (Annotated[int, Field(alias="other")], "its Field gives an alias, but a parameter is called by its own name"),
        (Annotated[int, Field(default=3)], "its Field gives a default: put that in the signature"),
        (attrs.make_class("Torn", {"a": attrs.field(type="Nowhere")}), "Torn cannot be resolved: name 'Nowhere'"),
    ],
    ids=str,
)  # fmt: skip
def test_a_type_that_cannot_be_told(hint, problem):
    with pytest.raises(ToolDefinitionError, match=f"^tool take: parameter value: {problem}"):
        taking(hint)


def test_a_field_is_no_default():
    def take(n: int = Field(ge=3)) -> Any: ...

    with pytest.raises(
        ToolDefinitionError, match="parameter n: a Field is no default; put it into Annotated"
    ):
        tool(take)


Item = TypeVar("Item")
Other = TypeVar("Other")


@attrs.frozen
class Page(Generic[Item]):
    items: list[Item]
    next: Page[Item] | None = None


@attrs.frozen
class Pair(Generic[Item, Other]):
    first: Item
    second: Page[Other]


def test_a_generic_attrs_class_of_certain_types():
    taker = taking(Pair[int, str])
    assert taker.parameters["$defs"].keys() == {"Pair_int__str_", "Page_str_"}
    value = {"first": 1, "second": {"items": ["a"], "next": {"items": []}}}
    assert received(taker, value) == Pair(1, Page(["a"], Page([])))
    with pytest.raises(InvalidArguments, match="first"):
        received(taker, {"first": "a", "second": {"items": []}})


def test_the_same_generic_class_of_several_types():
    def take(numbers: Page[int], texts: Page[str], any_: Page[Any]) -> Page[bool]: ...  # type: ignore[empty-body]

    made = tool(take)
    properties = made.parameters["properties"]
    assert len({one["$ref"] for one in properties.values()}) == 3
    assert made.output_schema["$defs"]["Page_bool_"]["properties"]["items"]["items"] == {"type": "boolean"}
