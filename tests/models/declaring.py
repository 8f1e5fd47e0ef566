"""System messages and declarations of tools, written shortly."""

from __future__ import annotations

from typing import Any

from pi_trio.messages import SystemMessage, ToolDeclaration, ToolRemoval


def declare(name: str, description: str = "", **parameters: Any) -> ToolDeclaration:
    return ToolDeclaration(name=name, description=description, parameters=parameters)


def system(content: str = "", added: Any = None, removed: str = "", **fields: Any) -> SystemMessage:
    removals = [ToolRemoval(name=name) for name in removed] or None
    return SystemMessage(
        content=content, tools_added=added, tools_removed=removals, **{"timestamp": 3, **fields}
    )
