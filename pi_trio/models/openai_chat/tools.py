"""Tools as the Chat Completions API takes them: functions with a schema, or custom tools with a grammar."""

from __future__ import annotations

from collections.abc import Iterable

from ...jsonvalue import JSON
from ...messages import ToolDeclaration
from ..constrained_sampling import grammar_of, strict_wish, tool_parameters
from ..dialect import Dialect
from .compat import Compat


def tool_items(tools: Iterable[ToolDeclaration], compat: Compat, dialect: Dialect) -> list[dict[str, JSON]]:
    """The declarations.

    Raises:
        ResponseFailedError: a tool requires a constraint that cannot be had.
    """
    return [_tool_item(tool, compat, dialect) for tool in tools]


def _tool_item(tool: ToolDeclaration, compat: Compat, dialect: Dialect) -> dict[str, JSON]:
    grammar = grammar_of(tool, compat.supports_openai_grammar_tools)
    if grammar is not None:
        told: JSON = {"syntax": grammar.syntax, "definition": grammar.definition}
        format_: JSON = {"type": "grammar", "grammar": told}
        return {
            "type": "custom",
            "custom": {"name": tool.name, "description": tool.description, "format": format_},
        }
    strict = strict_wish(tool, compat.supports_strict_mode, dialect)
    function: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool_parameters(tool, strict, dialect),
    }
    if compat.supports_strict_mode:  # who does not know the field may refuse it
        function["strict"] = strict or False
    return {"type": "function", "function": function}
