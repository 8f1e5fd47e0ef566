"""Whatever is wrong with a function, its hints or the options: one error, where it is decorated, and it says what."""

from __future__ import annotations

import copy
import enum
import pickle
from collections.abc import Callable, Hashable
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import attrs
import pytest
from pydantic import AfterValidator, EmailStr, Field, GetPydanticSchema, InstanceOf

from pi_trio.tools.context import ToolAbortedError, ToolContext
from pi_trio.tools.decorated import tool
from pi_trio.tools.decorator.signature import ToolDefinitionError


@attrs.frozen
class Place:
    name: str


class Thing(enum.Enum):
    ONE = object()


def refuse(_value: Any) -> Any:
    raise TypeError("not this one")


def taking(hint: Any, **options: Any) -> Any:
    def take(value: hint) -> None: ...  # type: ignore[valid-type]

    take.__annotations__["value"] = hint
    return tool(**options)(take)


def giving(hint: Any, **options: Any) -> Any:
    def give() -> hint: ...  # type: ignore[valid-type]

    give.__annotations__["return"] = hint
    return tool(**options)(give)


HINTS = [
    (Annotated[int, Field(ge="x")], "'ge' must be coercible to an integer"),  # type: ignore[arg-type]
    (Annotated[int, Field(json_schema_extra={"x": object()})], "Unable to serialize unknown type"),  # type: ignore[dict-item]
    (InstanceOf[Place], "Error building"),
    (Thing, "Unable to serialize unknown type"),
    ({"a": 1}, "{'a': 1} is no type"),
    ({"type": "str"}, "is no type"),
    (list[{"type": "str"}], "is no type"),  # type: ignore[misc]
    ([int], "Unable to generate pydantic-core schema"),
    (Annotated[int, GetPydanticSchema(lambda *_: 1 / 0)], "division by zero"),  # type: ignore[arg-type, return-value]
]


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Annotated[str, Field(pattern="(")], "cannot be used: Invalid regular expression: /(/"),
        (Literal[()], "Literal[()] cannot be used: "),
    ],
)
def test_a_hint_of_a_text_that_cannot_be_used(hint, problem):
    with pytest.raises(ToolDefinitionError) as caught:
        taking(hint)
    assert problem in str(caught.value)


@pytest.mark.parametrize("make", [taking, giving])
@pytest.mark.parametrize(("hint", "problem"), HINTS)
def test_a_hint_that_cannot_be_used(make, hint, problem):
    with pytest.raises(ToolDefinitionError) as caught:
        make(hint)
    place = "take: parameter value: " if make is taking else "give: what it returns: "
    assert str(caught.value).startswith(f"tool {place}")
    assert problem in str(caught.value)


def test_what_can_be_read_and_not_written():
    taking(Hashable)
    with pytest.raises(ToolDefinitionError, match=r"what it returns: .*Hashable cannot be told as JSON"):
        giving(Hashable)


def test_a_library_that_is_not_there(monkeypatch):
    def absent() -> None:
        raise ImportError("email-validator is not installed")

    monkeypatch.setattr("pydantic.networks.import_email_validator", absent)
    with pytest.raises(ToolDefinitionError, match=r"parameter value: EmailStr .* is not installed"):
        taking(EmailStr)


@pytest.mark.parametrize("output", [{"type": "object"}, {"type": "int"}, 3])
def test_an_output_that_is_no_type(output):
    with pytest.raises(ToolDefinitionError, match=r"^tool give: what it returns: "):
        giving(str, output=output)


def test_a_default_that_a_validator_does_not_take_is_not_told():
    def take(value: Annotated[int, AfterValidator(refuse)] = 3) -> None: ...

    assert tool(take).parameters["properties"] == {"value": {"type": "integer"}}  # type: ignore[call-overload, index]


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ([1], "its schema is no object, but list"),
        ("x", "its schema is no object, but str"),
        (True, "its schema is no object, but bool"),
        ({"properties": [1]}, "the properties of its schema are no object"),
        ({"properties": {"value": 3}}, "its schema has no schema of value"),
        ({"type": "array"}, "its schema is of the type array, but arguments are an object"),
        ({"type": ["array", "null"]}, "but arguments are an object"),
        ({"properties": {"value": {"pattern": "("}}}, "its schema is none: Invalid regular expression"),
    ],
)
def test_a_schema_that_is_none(parameters, problem):
    with pytest.raises(ToolDefinitionError) as caught:
        taking(int, parameters=parameters)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("name", 3),
        ("label", None),
        ("description", 3),
        ("execution_mode", "x"),
        ("abandon_on_cancel", 1),
        ("limiter", 3),
    ],
)
def test_an_option_that_is_none(option, value):
    with pytest.raises(ToolDefinitionError, match=f"{option} cannot be {value!r}$"):
        taking(int, **{option: value})


def test_a_description_of_what_is_no_parameter():
    def find(author: str, context: ToolContext) -> str:
        """Find books.

        Args:
            autor: who wrote them.
            context: not for the model.
        """
        return author

    with pytest.raises(
        ToolDefinitionError, match="its docstring describes autor, which is no parameter; did you mean author"
    ):
        tool(find)
    find.__doc__ = (find.__doc__ or "").replace("autor", "author")
    assert tool(find).description == "Find books."


def test_what_no_model_can_give_comes_another_way():
    class Connection: ...

    def find(conn: Connection) -> str:
        return ""

    find.__annotations__["conn"] = Connection
    with pytest.raises(
        ToolDefinitionError, match=r"Agent\(deps=…\), and a parameter ToolContext\[Connection\]"
    ):
        tool(find)


def test_a_name_that_is_none():
    with pytest.raises(
        ToolDefinitionError, match=r"^tool without a name: the model has to call it something$"
    ):
        taking(int, name="")


def test_a_function_that_python_knows_nothing_about():
    def one(value: int) -> None: ...
    def two(value: int) -> None: ...

    one.__wrapped__, two.__wrapped__ = two, one  # type: ignore[attr-defined]
    bent: Callable[..., Any] = lambda: ""  # noqa: E731
    bent.__signature__ = 3  # type: ignore[attr-defined]
    for function in (max, one, bent):
        with pytest.raises(ToolDefinitionError, match="its parameters cannot be read: "):
            tool(function)


@pytest.mark.parametrize("text", [":: :", ":param value", "Do.\n\n:raises"])
def test_a_docstring_that_only_looks_like_one_with_sections(text):
    def take(value: int) -> None: ...

    take.__doc__ = text
    assert tool(take).description == text


@pytest.mark.parametrize("error", [ToolDefinitionError("add", "no"), ToolAbortedError()])
def test_the_errors_survive_pickling(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(other), str(other)) == (type(error), str(error))
    assert str(ToolDefinitionError("add", "no")) == "tool add: no"


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Annotated[str, Field(gt=0)], "gt=0 cannot be asked of a str"),
        (Annotated[list[int], Field(le=0)], "le=0 cannot be asked of a list"),
        (Annotated[dict[str, int], Field(ge=0)], "ge=0 cannot be asked of a dict"),
        (Annotated[int, Field(min_length=1)], "min_length=1 cannot be asked of a int"),
        (Annotated[str, Field(min_length=1, multiple_of=2)], "multiple_of=2 cannot be asked of a str"),
        (Annotated[int, Field(pattern="x")], "pattern='x' cannot be asked of a int"),
        (list[Annotated[str, Field(lt=0)]], "lt=0 cannot be asked of a str"),
    ],
)
def test_a_constraint_that_cannot_be_asked_of_its_type(hint, problem):
    """pydantic would raise at every call."""
    with pytest.raises(ToolDefinitionError, match=f"^tool take: parameter value: .*{problem}$"):
        taking(hint)


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[int, Field(gt=0, lt=10, multiple_of=3)],
        Annotated[float | None, Field(ge=0)],
        Annotated[str, Field(min_length=1, max_length=3, pattern="^a")],
        Annotated[list[int], Field(min_length=1)],
        Annotated[dict[str, int], Field(max_length=1)],
        Annotated[set[int], Field(min_length=1)],
        Annotated[Decimal, Field(gt=0, max_digits=3)],
        Annotated[date, Field(gt=date(2020, 1, 1))],
        Annotated[timedelta, Field(gt=timedelta(1))],
        Annotated[int, AfterValidator(refuse)],
    ],
)
def test_a_constraint_that_can(hint):
    taking(hint)


def test_a_function_is_no_type():
    for hint in (lambda: 0, len):
        with pytest.raises(ToolDefinitionError, match=r"is a function, and no type$"):
            taking(hint)


def with_schema(part: Any, **keywords: Any) -> Any:
    def take(value=None) -> None: ...

    return tool(parameters={"type": "object", "properties": {"value": part}, **keywords})(take)


@pytest.mark.parametrize(
    "part",
    [
        {"type": 5},
        {"type": "text"},
        {"type": []},
        {"type": ["string", 5]},
        {"enum": 5},
        {"required": "x"},
        {"required": [5]},
        {"minimum": "x"},
        {"exclusiveMaximum": None},
        {"multipleOf": 0},
        {"minLength": -1},
        {"maxItems": 1.5},
        {"uniqueItems": "x"},
        {"format": 5},
        {"$ref": 5},
        {"allOf": 5},
        {"anyOf": []},
        {"oneOf": [5]},
        {"properties": 5},
        {"properties": {"a": {"items": {"type": 5}}}},
        {"not": {"anyOf": [{"minimum": True}]}},
    ],
    ids=str,
)
def test_a_keyword_that_cannot_have_this_value(part):
    """Arguments would be held to nothing, or to what cannot be."""
    with pytest.raises(
        ToolDefinitionError, match=r"^tool take: (its schema is none: #/properties/value/|.*is no)"
    ):
        with_schema(part)


@pytest.mark.parametrize(
    ("part", "keywords"),
    [
        ({"$ref": "#/properties/value"}, {}),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/properties/value"}]}, {}),
        ({"$ref": "#/$defs/a"}, {"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
        ({}, {"$ref": "#"}),
    ],
)
def test_a_schema_that_has_no_end(part, keywords):
    with pytest.raises(ToolDefinitionError, match=r"refers to itself for one and the same value$"):
        with_schema(part, **keywords)


def test_a_reference_to_nothing():
    with pytest.raises(ToolDefinitionError, match="it refers to #/nope/0, which is not in it"):
        with_schema({"$ref": "#/nope/0"})


@pytest.mark.parametrize(
    ("part", "keywords"),
    [
        ({"items": {"$ref": "#/properties/value"}}, {}),
        ({"properties": {"again": {"$ref": "#"}}}, {}),
        ({"$ref": "#/$defs/a~1b"}, {"$defs": {"a/b": {"type": ["string", "null"]}}}),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}, {"$defs": {"a": True}}),
        ({"$ref": "#anchor"}, {"$defs": {"a": {"$anchor": "anchor"}}}),
        ({"enum": [], "const": {"type": 5}, "default": {"type": 5}, "x-own": 5, "minLength": 1.0}, {}),
        (True, {}),
    ],
)
def test_a_schema_that_is_one(part, keywords):
    with_schema(part, **keywords)
