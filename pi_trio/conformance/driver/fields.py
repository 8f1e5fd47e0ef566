"""Reading what the tester sends: a command's fields, and the values that they hold.

Whatever does not fit is a `DriverError`, whose text says what was expected.
"""

from __future__ import annotations

from typing import Any, Final, cast

from pi_trio.conformance.shown import shown

from ...codec import structure
from ...errors import CodecError
from ...jsonvalue import JSON
from ...messages import ImageContent, Message
from ..protocol import Object
from .asks import DriverError

_CHOICES: Final = {
    "steeringMode": ("one-at-a-time", "all"),
    "followUpMode": ("one-at-a-time", "all"),
    "toolExecution": ("parallel", "sequential"),
    "abortMode": ("signal", "cancel"),
    "executionMode": ("parallel", "sequential"),
}
"""What can have one of a few values: options, and fields of a tool."""

_TYPES: Final[dict[str, tuple[str, type | tuple[type, ...]]]] = {
    "sessionId": ("a string", str),
    "transport": ("a string", str),
    "thinkingLevel": ("a string", str),
    "systemPrompt": ("a string", str),
    "label": ("a string", str),
    "description": ("a string", str),
    "parameters": ("an object", dict),
    "outputSchema": ("an object", dict),
    "thinkingBudgets": ("an object", dict),
    "identity": ("an object", dict),
    "maxRetryDelayMs": ("a number", (int, float)),
}
"""What has a type. A thinking level is any string: the releases know different ones, and none looks at it."""

_OF_TOOL: Final = ("label", "description", "parameters", "executionMode", "outputSchema")
_OF_STATE: Final = ("systemPrompt", "model", "thinkingLevel", "messages")


def read(value: JSON, cls: Any, what: str) -> Any:
    """Structure a value from the tester.

    Raises:
        DriverError: it does not fit; the text says where.
    """
    try:
        return structure(value, cls, what)
    except CodecError as error:
        raise DriverError(str(error)) from None


def read_messages(value: JSON, what: str = "messages") -> tuple[Message, ...]:
    """Messages from the tester."""
    return tuple(read(value, tuple[Message, ...], what))


def object_of(value: Any) -> Object:
    """The value, which must be a JSON object."""
    if not isinstance(value, dict):
        raise DriverError("an object was expected")
    return cast("Object", value)


def option(given: Object, name: str, *, called: str | None = None) -> Any:
    """The field, which must be a value that the option of that name can have.

    Args:
        called: the name of the option, if the field has another one.
    """
    value, called = given.get(name), called or name
    if called in _CHOICES:
        if value not in _CHOICES[called]:
            raise DriverError(f"{called} is {' or '.join(_CHOICES[called])}, not {shown(value)}")
    else:
        kind, types = _TYPES[called]
        if not isinstance(value, types) or isinstance(value, bool):
            raise DriverError(f"{called} is {kind}, not {shown(value)}")
    return value


def flag(command: Object, name: str) -> bool:
    """The field, which must be true or false; without it, false."""
    value = command.get(name, False)
    if not isinstance(value, bool):
        raise DriverError(f"{name} is true or false, not {shown(value)}")
    return value


def initial_state(create: Object) -> Object:
    """The state that an agent begins with, of which each field is still to be read."""
    given = object_of(create.get("initialState", {}))
    if unknown := [name for name in given if name not in _OF_STATE]:
        raise DriverError(f"there is no initial state {', '.join(unknown)}; there is {', '.join(_OF_STATE)}")
    return given


def described_tool(given: JSON) -> Object:
    """The description of a tool, with its fields checked."""
    fields = object_of(given)
    string(fields, "name")
    for name in _OF_TOOL:
        if name in fields:
            option(fields, name)
    if "prepareArguments" in fields:
        behaviour = object_of(fields["prepareArguments"])
        if behaviour.keys() not in ({"set"}, {"throw"}):
            raise DriverError('prepareArguments is {"set": {…}} or {"throw": "text"}')
        if "set" in behaviour:
            object_of(behaviour["set"])
        else:
            string(behaviour, "throw")
    return fields


def string(command: Object, name: str) -> str:
    """The field, which must be a string."""
    value = command.get(name)
    if not isinstance(value, str):
        raise DriverError(f"{name} is a string")
    return value


def strings(command: Object, name: str) -> list[str]:
    """The field, which must be a list of strings; without it, an empty one."""
    value: Any = command.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DriverError(f"{name} is a list of strings")
    return cast("list[str]", value)


def read_prompt(command: Object) -> tuple[str | tuple[Message, ...], tuple[ImageContent, ...]]:
    """What a prompt says: a text, or messages; and the images that go with a text."""
    given: Any = command.get("input")
    images = tuple(read(command.get("images", []), tuple[ImageContent, ...], "images"))
    if isinstance(given, str):
        return given, images
    return read_messages(given, "input") if isinstance(given, list) else (
        read(given, Message, "input"),
    ), images
