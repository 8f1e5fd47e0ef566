"""JSON Schemas of all that is said, made from the data classes.

`spec/schemas/` holds one self-contained document (draft 2020-12) for messages, one for the events of a
provider's stream, one for the events of the agent, and one for the result of a tool. They say what an
implementation writes: a field that is not there is absent, never null. Readers are asked to be milder, as
the codec is. Unknown fields are allowed everywhere.

Run `python -m pi_trio.schemas FOLDER` to write them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import attrs

from .events import AgentEvent, StreamEvent
from .jsontext import print_json
from .messages import Message, Model, ToolResult
from .wire import (
    Wire,
    is_array,
    is_json,
    is_number,
    is_optional,
    is_text_object,
    is_wire,
    known_fields,
    present_type,
    tag_of,
    wire_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENTS: Final[Mapping[str, tuple[str, Any]]] = {
    "message.json": ("Message", Message),
    "stream-event.json": ("StreamEvent", StreamEvent),
    "agent-event.json": ("AgentEvent", AgentEvent),
    "tool-result.json": ("ToolResult", ToolResult),
    "model.json": ("Model", Model),
}
"""The file, title and type of each schema."""


def schema(title: str, annotation: Any) -> dict[str, Any]:
    """The schema of a data class or of a union of some, with all that it refers to under `$defs`."""
    definitions: dict[str, Any] = {}
    root = _of(annotation, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def texts() -> dict[str, str]:
    """The content of each file of `spec/schemas`."""
    return {
        file: print_json(schema(title, annotation), indent=2) + "\n"
        for file, (title, annotation) in DOCUMENTS.items()
    }


def _of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field's type; classes that it meets are added to `definitions`."""
    if is_wire(annotation):
        return _reference(annotation, definitions)
    if is_json(annotation):
        return {}
    if is_text_object(annotation):
        return {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
    if is_array(annotation):
        return {"type": "array", "items": _of(get_args(annotation)[0], definitions)}
    if is_optional(annotation):
        return _of(present_type(annotation), definitions)
    if is_number(annotation):
        return {"type": "number"}
    if members := get_args(annotation):
        tags = [tag for member in members if is_wire(member) and (tag := tag_of(member))]
        return {"oneOf": [_member(member, tags, definitions) for member in members]}
    return {str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}}[annotation]


def _member(member: Any, tags: list[tuple[str, str]], definitions: dict[str, Any]) -> dict[str, Any]:
    """A member of a union. The open one must leave alone what has a class of its own."""
    schema_of_it = _of(member, definitions)
    if is_wire(member) and tag_of(member) is None and tags:
        taken = {"not": {"enum": [value for _, value in tags]}}
        definitions[member.__name__]["properties"][tags[0][0]].update(taken)
    return schema_of_it


def _reference(cls: type[Wire], definitions: dict[str, Any]) -> dict[str, Any]:
    name = cls.__name__
    if name not in definitions:
        definitions[name] = {}  # known from here on, should it refer to itself
        definitions[name] = _definition(cls, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _definition(cls: type[Wire], definitions: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    if tag := tag_of(cls):
        key, value = tag
        properties[key] = {"const": value}
        required.append(key)
    for field in known_fields(cls):
        key = wire_name(field.name)
        properties[key] = _of(field.type, definitions)
        if field.default is attrs.NOTHING:
            required.append(key)
    return {"description": _about(cls), "type": "object", "properties": properties, "required": required}


def _about(cls: type[Wire]) -> str:
    """The first sentence of a class's docstring."""
    words = " ".join((cls.__doc__ or "").split())
    sentence = re.match(r".*?[.](?= |$)", words)
    return sentence[0] if sentence else words


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts().items():
        (folder / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
