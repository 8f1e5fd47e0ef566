"""From the model's arguments to the function's: the schema that it is told, and the values that the function gets.

By the time a tool runs, the arguments have been validated and coerced by the rules of the profile, against this schema
or against one that was given. What is left is to make Python values of JSON: a date of a text, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from inspect import BoundArguments, Parameter
from typing import Annotated, Any, get_args, get_origin

import attrs
from pydantic.fields import FieldInfo

from ...errors import CodecError
from ...jsonvalue import JSON, FrozenDict, freeze
from ..checks.rule import SchemaError
from ..pi_schema import PiSchemaRules
from ..validate import InvalidArguments
from .given_schema import NoSchemaError, check_schema
from .shadows import Shadows
from .signature import EMPTY, Signature, ToolDefinitionError
from .types import JsonType, Misfit, MisfitError, UnsupportedTypeError, has_description, schemas_of


@attrs.frozen(kw_only=True)
class Arguments:
    """The parameters of one function. Those without a hint take JSON as it is."""

    signature: Signature
    types: Mapping[str, JsonType]

    def bind(self, tool: str, arguments: Any, context: Any) -> BoundArguments:
        """What to call the function with.

        Raises:
            InvalidArguments: something is missing, unknown, or not of its type; the text is for the model.
        """
        if not isinstance(arguments, dict):
            raise _refusal(tool, [Misfit((), "an object was expected")])
        signature = self.signature
        misfits: list[Misfit] = []
        values: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for name, value in arguments.items():
            if name not in signature.parameters:
                rest[name] = value
            elif name in self.types:
                try:
                    values[name] = self.types[name].read(value)
                except MisfitError as error:
                    misfits += (Misfit((name, *one.path), one.message) for one in error.misfits)
            else:
                values[name] = value
        for name, parameter in signature.parameters.items():
            if parameter.default is EMPTY and name not in arguments:
                misfits.append(Misfit((name,), "this is required"))
        misfits += (
            Misfit((name,), "there is no such parameter") for name in rest if not signature.takes(name)
        )
        if misfits:
            raise _refusal(tool, misfits)
        if signature.rest is not None:
            values[signature.rest] = rest
        if signature.context is not None:
            values[signature.context] = context
        bound = BoundArguments(signature.python, values)
        bound.apply_defaults()
        return bound


def read_arguments(
    tool: str,
    signature: Signature,
    described: Mapping[str, str],
    shadows: Shadows,
    schema: Mapping[str, JSON] | None,
) -> tuple[Arguments, FrozenDict]:
    """The parameters of a function, and the schema of its arguments.

    Args:
        described: what the docstring says of parameters.
        schema: a schema that was given; None to make one of the hints.

    Raises:
        ToolDefinitionError: a parameter has no hint, or one that JSON cannot carry; or the schema that was given is not
            about these parameters.
    """
    for name, parameter in signature.parameters.items():
        if isinstance(parameter.default, FieldInfo):
            raise ToolDefinitionError(tool, f"parameter {name}: a Field is no default; put it into Annotated")
    types: dict[str, JsonType] = {}
    for name, hint in signature.hints.items():
        try:
            types[name] = JsonType(hint, shadows, "validation")
        except UnsupportedTypeError as error:
            raise ToolDefinitionError(tool, f"parameter {name}: {error}{_instead(hint)}") from None
    _check_described(tool, signature, described)
    arguments = Arguments(signature=signature, types=types)
    if schema is None:
        schema = _schema(tool, arguments, described)
        given = False
    else:
        _check_given(tool, signature, schema)
        given = True
    try:
        frozen = FrozenDict(schema)
        PiSchemaRules(frozen)
        if given:
            check_schema(frozen)
    except CodecError as error:
        raise ToolDefinitionError(tool, f"its schema is not JSON: {error}") from None
    except (SchemaError, NoSchemaError, RecursionError) as error:
        raise ToolDefinitionError(tool, f"its schema is none: {error}") from None
    return arguments, frozen


def _instead(hint: Any) -> str:
    """How a function gets what no model can give."""
    if not isinstance(hint, type):
        return ""
    context = f"ToolContext[{hint.__name__}]"
    return f". If the agent has it, and not the model: Agent(deps=…), and a parameter {context}, whose deps it is"


def _check_described(tool: str, signature: Signature, described: Mapping[str, str]) -> None:
    known = {*signature.parameters, *signature.taken, signature.context, signature.rest}
    for name in described if signature.rest is None else ():
        bare = name.lstrip("*")
        if bare not in known:
            near = get_close_matches(bare, signature.parameters, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ToolDefinitionError(tool, f"its docstring describes {name}, which is no parameter{hint}")


def _schema(tool: str, arguments: Arguments, described: Mapping[str, str]) -> dict[str, Any]:
    signature = arguments.signature
    if signature.rest is not None:
        raise ToolDefinitionError(tool, f"**{signature.rest} takes anything: give its schema (parameters=)")
    for name in signature.parameters:
        if name not in arguments.types:
            raise ToolDefinitionError(
                tool, f"parameter {name} has no type hint, and there is no schema (parameters=)"
            )
    try:
        found, shared = schemas_of(arguments.types, "validation")
    except Exception as error:  # each of them has a schema by itself
        raise ToolDefinitionError(tool, f"there is no schema of its parameters: {error}") from error
    properties = {
        name: _property(
            found[name], arguments.types[name], parameter, signature.hints[name], described.get(name)
        )
        for name, parameter in signature.parameters.items()
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name, one in signature.parameters.items() if one.default is EMPTY]:
        schema["required"] = required
    schema["additionalProperties"] = False
    if shared:
        schema["$defs"] = shared
    return schema


def _property(
    schema: dict[str, Any], type_: JsonType, parameter: Parameter, hint: Any, described: str | None
) -> dict[str, Any]:
    """The schema of a parameter, described by its hint or else by the docstring, and with its default."""
    if not has_description(hint):
        described = _annotated_text(hint) or described
        if described:
            schema = {**schema, "description": described}
    if parameter.default is not EMPTY:
        with suppress(Exception):  # what JSON cannot say, or a validator refuses, is told by being optional
            schema = {**schema, "default": freeze(type_.write(parameter.default))}
    return schema


def _annotated_text(hint: Any) -> str | None:
    """A text in `Annotated`, or the one of a `Doc`."""
    for note in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        text = getattr(note, "documentation", note)
        if isinstance(text, str):
            return text
    return None


def _check_given(tool: str, signature: Signature, schema: Mapping[str, JSON]) -> None:
    """Whether a schema is one, and speaks of the parameters that there are, as far as it can be seen."""
    if not isinstance(schema, Mapping):
        raise ToolDefinitionError(tool, f"its schema is no object, but {type(schema).__name__}")
    type_ = schema.get("type", "object")
    if type_ != "object" and not (isinstance(type_, (list, tuple)) and "object" in type_):
        raise ToolDefinitionError(tool, f"its schema is of the type {type_}, but arguments are an object")
    properties = schema.get("properties")
    if properties is None:
        return
    if not isinstance(properties, Mapping):
        raise ToolDefinitionError(tool, "the properties of its schema are no object")
    for name, one in properties.items():
        if not isinstance(one, (Mapping, bool)):
            raise ToolDefinitionError(tool, f"its schema has no schema of {name}")
    if unknown := [name for name in properties if not signature.takes(name)]:
        raise ToolDefinitionError(
            tool, f"its schema has {', '.join(unknown)}, which the function does not take"
        )
    missing = [
        name for name, one in signature.parameters.items() if one.default is EMPTY and name not in properties
    ]
    if missing:
        raise ToolDefinitionError(
            tool, f"its schema does not have {', '.join(missing)}, which the function needs"
        )


def _refusal(tool: str, misfits: Iterable[Misfit]) -> InvalidArguments:
    lines = (f"  - {'.'.join(map(str, one.path)) or 'root'}: {one.message}" for one in misfits)
    return InvalidArguments("\n".join((f'Validation failed for tool "{tool}":', *lines)))
