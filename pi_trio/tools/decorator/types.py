"""Python types, as JSON: their schemas, and values both ways. This is where pydantic is.

Reading takes JSON as pydantic's JSON mode does, so that a text may be a date or a member of an enumeration, also for
models that are strict. Each type is read by itself, and is told by its parameter where it fails.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin

import attrs
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined

from .constraints import ConstraintError, check_constraints
from .patterns import EcmaPattern
from .shadows import Shadows

#: What pydantic says of a value that is not of its type, around the part that is for others to read.
_UNEXPECTED: Final = re.compile(
    r"(?:Pydantic serializer warnings:)?\s*PydanticSerializationUnexpectedValue\((.*)\)(?=\n|$)"
)

Mode: TypeAlias = Literal["validation", "serialization"]


class UnsupportedTypeError(Exception):
    """A type cannot be used; the text says why."""


@attrs.frozen
class Misfit:
    """What is wrong with a value, and where in it."""

    path: tuple[str | int, ...]
    message: str


class MisfitError(Exception):
    """A value is not of its type."""

    def __init__(self, misfits: Iterable[Misfit]) -> None:
        super().__init__()
        self.misfits = tuple(misfits)

    def __str__(self) -> str:
        return "; ".join(
            f"{'.'.join(map(str, one.path))}: {one.message}" if one.path else one.message
            for one in self.misfits
        )


class JsonType:
    """A Python type that JSON can carry.

    Raises:
        UnsupportedTypeError: it cannot be carried.

    Args:
        mode: which of its schemas will be asked for.
    """

    def __init__(self, hint: Any, shadows: Shadows, mode: Mode) -> None:
        for note in hint.__metadata__ if get_origin(hint) is Annotated else ():
            if isinstance(note, FieldInfo):
                _check_field(note)
        if inspect.isroutine(hint):
            raise UnsupportedTypeError(f"{_in_one_line(repr(hint))} is a function, and no type")
        try:
            self.adapter: TypeAdapter[Any] = TypeAdapter(shadows.cast(hint))
            schema_of(self, mode)  # whether there is one
            check_constraints(self.adapter.core_schema)
        except ConstraintError as error:
            raise UnsupportedTypeError(f"{_shown(hint)}: {error}") from None
        except PydanticUserError as error:
            # What follows is advice for models, not for tools.
            why, _, _ = _first_line(error).partition(" Set `arbitrary_types_allowed")
            raise UnsupportedTypeError(f"{_shown(hint)} cannot be told as JSON: {why.rstrip('.')}") from None
        except (NameError, TypeError) as error:
            raise UnsupportedTypeError(f"{_shown(hint)} cannot be resolved: {error}") from None
        except Exception as error:  # pydantic's own have many types; and a hint may bring code of anybody's
            raise UnsupportedTypeError(f"{_shown(hint)} cannot be used: {_in_one_line(error)}") from error

    def read(self, value: Any) -> Any:
        """The Python value of a JSON value.

        Raises:
            MisfitError: it is not of the type.
        """
        try:
            return self.adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            raise _misfit(error) from error

    def write(self, value: Any) -> Any:
        """The JSON value of a Python value, or of what becomes one.

        Raises:
            MisfitError: it is not of the type, or does not become JSON.
        """
        try:
            value = self.adapter.validate_python(value)
            return self.adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
        except ValidationError as error:
            raise _misfit(error) from error
        except ValueError as error:  # PydanticSerializationError is one
            raise MisfitError([Misfit((), _UNEXPECTED.sub(r"\1", str(error)))]) from error


def schemas_of(types: Mapping[str, JsonType], mode: Mode) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The JSON Schemas of some types, and the definitions (`$defs`) that they share."""
    found, shared = TypeAdapter.json_schemas(
        [(name, mode, one.adapter) for name, one in types.items()], schema_generator=_PlainSchema
    )
    return {name: found[name, mode] for name in types}, shared.get("$defs", {})


def schema_of(one: JsonType, mode: Mode) -> dict[str, Any]:
    """The JSON Schema of one type, complete."""
    return one.adapter.json_schema(mode=mode, schema_generator=_PlainSchema)


def has_description(hint: Any) -> bool:
    """Whether a `Field` in the hint describes it."""
    return any(isinstance(note, FieldInfo) and note.description for note in get_args(hint)[1:])


class _PlainSchema(GenerateJsonSchema):
    """Schemas without the titles that repeat the names of fields, and with `type: [a, b]` where that says it all.

    The rules of 0.80.2 convert a value to the first branch of `anyOf` that it can become, null to 0 for one; a list of
    types they read as everybody does.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def function_after_schema(self, schema: Any) -> dict[str, Any]:
        check = schema["function"]["function"]
        pattern = {"pattern": check.source} if isinstance(check, EcmaPattern) else {}
        return {**super().function_after_schema(schema), **pattern}

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return _with_listed_types(super().nullable_schema(schema))

    def union_schema(self, schema: Any) -> dict[str, Any]:
        return _with_listed_types(super().union_schema(schema))


def _with_listed_types(schema: dict[str, Any]) -> dict[str, Any]:
    branches: list[Any] = schema.get("anyOf", [])
    if not branches or any(
        branch.keys() != {"type"} or not isinstance(branch["type"], str) for branch in branches
    ):
        return schema
    beside = {key: value for key, value in schema.items() if key != "anyOf"}
    return {"type": [branch["type"] for branch in branches], **beside}


def _check_field(field: FieldInfo) -> None:
    """A parameter has its name and its default already."""
    if field.alias is not None or field.validation_alias is not None:
        raise UnsupportedTypeError("its Field gives an alias, but a parameter is called by its own name")
    if field.default is not PydanticUndefined or field.default_factory is not None:
        raise UnsupportedTypeError("its Field gives a default: put that in the signature")


def _misfit(error: ValidationError) -> MisfitError:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return MisfitError(Misfit(tuple(one["loc"]), one["msg"]) for one in details)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _in_one_line(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _shown(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) and not get_args(hint) else str(hint)
