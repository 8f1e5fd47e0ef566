"""Tools that a result has brought, as releases without system messages tell of them (0.85.0).

A result names the tools that are there from now on. Those that were never called before are declared behind it, where
the model takes that; all others stand in the request.
"""

from __future__ import annotations

from collections.abc import Callable

from ..messages import AssistantMessage, ToolCall, ToolDeclaration, ToolResultMessage
from .stream import ModelContext


def split_tools(
    context: ModelContext, late: bool, sent: Callable[[str], str] = str
) -> tuple[tuple[ToolDeclaration, ...], dict[str, ToolDeclaration]]:
    """The tools that stand in the request, and by name those that follow a result, if `late` ones may.

    Names are compared as they are `sent`.
    """
    tools = {sent(tool.name): tool for tool in context.tools or ()}
    brought = _brought(context, sent) if late else set()
    immediate = tuple(tool for name, tool in tools.items() if name not in brought)
    return immediate, {name: tool for name, tool in tools.items() if name in brought}


def _brought(context: ModelContext, sent: Callable[[str], str]) -> set[str]:
    """The names that a result tells before any call of them."""
    brought: set[str] = set()
    called: set[str] = set()
    for message in context.messages:
        if isinstance(message, AssistantMessage):
            called.update(sent(block.name) for block in message.content if isinstance(block, ToolCall))
        elif isinstance(message, ToolResultMessage):
            brought.update(name for name in map(sent, message.added_tool_names or ()) if name not in called)
    return brought
