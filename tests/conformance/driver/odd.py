"""What `create` and `setTools` cannot mean, for whoever carries them out."""

from __future__ import annotations

from typing import Any, Final

from .talk import TOOL

ODD_TOOLS: Final[dict[str, tuple[Any, ...]]] = {
    "name": (None, 5, []),
    "label": (None, 5),
    "description": (None, {}),
    "parameters": (5, None, [], "object"),
    "executionMode": ("x", None, [], "Sequential"),
    "outputSchema": (5, None),
    "prepareArguments": ({}, 5, None, {"set": 1}, {"throw": 5}, {"set": {}, "throw": "x"}, {"sett": {}}),
}

ODD_CREATES: Final[dict[str, tuple[Any, ...]]] = {
    "snapshot": (None, "x", 1, 0, {}, "true"),
    "initialState": (None, 5, [], {"zork": 1}, {"thinkingLevel": 5}, {"messages": 5}),
    "options": (None, [], {"toolExecution": "x"}, {"steeringMode": 5}, {"sessionId": 4}),
    "tools": (None, 5, [1], [{}], "a"),
    "hooks": (None, "L", [1]),
    "listeners": (None, "L", [1]),
    "tellListeners": (None, "L", [1]),
}

ODD: Final[tuple[dict[str, Any], ...]] = (
    *({name: value} for name, values in ODD_CREATES.items() for value in values),
    *({"tools": [{**TOOL, name: value}]} for name, values in ODD_TOOLS.items() for value in values),
)
