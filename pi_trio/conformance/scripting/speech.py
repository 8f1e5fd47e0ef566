"""What is said in a scenario: content blocks and messages of every role, as they stand on the wire.

All are plain JSON. A scripted message has timestamp 0, and whatever further fields the scenario gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_trio.conformance.protocol import Object

USAGE: Object = {
    "input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}  # fmt: skip
"""The usage that every scripted answer reports."""


def model(name: str, **fields: Any) -> Object:
    """A model description with the id `name`; `fields` replace or add keys."""
    return {
        "id": name, "name": name, "api": "script", "provider": "acme", "baseUrl": "", "reasoning": True,
        "input": ["text"], "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 1000, "maxTokens": 100, **fields,
    }  # fmt: skip


MODEL: Object = model("m1")
"""The model of every scenario that does not say otherwise."""


def text(value: str, **fields: Any) -> Object:
    """A text block."""
    return {"type": "text", "text": value, **fields}


def thinking(value: str, **fields: Any) -> Object:
    """A thinking block."""
    return {"type": "thinking", "thinking": value, **fields}


def image(data: str = "aGk=") -> Object:
    """An image block with base64 `data`."""
    return {"type": "image", "data": data, "mimeType": "image/png"}


def call(call_id: str, name: str, arguments: Any = None, **fields: Any) -> Object:
    """A call of the tool `name`. None stands for a call without arguments."""
    block: Object = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments, **fields}
    return block if arguments is not None else {**block, "arguments": {}}


def user(content: str | Sequence[Object], **fields: Any) -> Object:
    """A user's message; text stays the plain string that Pi allows."""
    given = content if isinstance(content, str) else [*content]
    return {"role": "user", "content": given, "timestamp": 0, **fields}


def system(content: str | Sequence[Object] = "", **fields: Any) -> Object:
    """A system message (with sections, toolsAdded or toolsRemoved among the fields)."""
    given = content if isinstance(content, str) else [*content]
    return {"role": "system", "content": given, "timestamp": 0, **fields}


def custom(role: str, **fields: Any) -> Object:
    """A message of a role that Pi does not know."""
    return {"role": role, **fields, "timestamp": 0}


def assistant(*content: Object | str, stop: str = "stop", **fields: Any) -> Object:
    """A complete answer; a string is a text block."""
    return {
        "role": "assistant", "content": [text(part) if isinstance(part, str) else part for part in content],
        "api": MODEL["api"], "provider": MODEL["provider"], "model": MODEL["id"], "usage": USAGE,
        "stopReason": stop, "timestamp": 0, **fields,
    }  # fmt: skip


def tool_message(call_id: str, name: str, value: str, **fields: Any) -> Object:
    """The message of a tool's result that says `value`."""
    return {
        "role": "toolResult", "toolCallId": call_id, "toolName": name, "content": [text(value)],
        "isError": False, "timestamp": 0, **fields,
    }  # fmt: skip
