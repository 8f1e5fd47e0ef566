"""Tools of a scenario, what the model is told of them, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pi_trio.conformance.protocol import Object

from .speech import text


def parameters(required: Sequence[str] = (), **properties: Any) -> Object:
    """A JSON Schema of an object; a property given as a string is the name of its type."""
    schemas = {
        name: {"type": given} if isinstance(given, str) else given for name, given in properties.items()
    }
    return {"type": "object", "properties": schemas, **({"required": [*required]} if required else {})}


def tool(name: str, schema: Object | None = None, **fields: Any) -> Object:
    """A tool as `create` takes it; without `schema` it has one optional string argument, s."""
    given = schema or parameters(s="string")
    return {"name": name, "label": name, "description": f"tool {name}", "parameters": given, **fields}


def declaration(given: Mapping[str, Any]) -> Object:
    """What the model is told of a tool, as system messages carry it."""
    return {key: given[key] for key in ("name", "description", "parameters")}


def result(value: str | Sequence[Object], **fields: Any) -> Object:
    """What a tool returns: a text or content blocks, and further fields."""
    return {"content": [text(value)] if isinstance(value, str) else [*value], **fields}
