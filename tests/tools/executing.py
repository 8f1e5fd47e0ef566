"""Calls a tool as the loop does, without the loop: validate, execute, and see what comes of it."""

from __future__ import annotations

import inspect
from typing import Any

from pi_trio.abort import AbortSignal
from pi_trio.messages import TextContent, ToolResult
from pi_trio.tools.context import whole
from pi_trio.tools.tool import Tool, UpdateFn
from pi_trio.tools.validate import ArgumentRules, validate_arguments


async def execute(
    tool: Tool,
    arguments: Any = None,
    *,
    call_id: str = "t1",
    signal: AbortSignal | None = None,
    on_update: UpdateFn = lambda _partial: None,
    deps: Any = None,
    rules: ArgumentRules = "pi-schema",
) -> ToolResult | None:
    """What the tool answers; what it raises is raised."""
    args = validate_arguments(tool.name, tool.parameters, arguments or {}, rules=rules)
    answer = tool.call(call_id, args, signal or AbortSignal(), on_update, deps)
    answer = await answer if inspect.isawaitable(answer) else answer
    return None if answer is None else whole(answer)


async def say(tool: Tool, arguments: Any = None, **options: Any) -> str:
    """The text that the model is told."""
    result = await execute(tool, arguments, **options)
    assert result is not None
    assert result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
