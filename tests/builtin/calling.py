"""Calls of built-in tools, as the loop makes them, and what came of them as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.builtin import TOOLS_1_6_0, ToolDialect, bash_tool, edit_tool, read_tool, write_tool
from pi_trio.codec import unstructure
from pi_trio.jsonvalue import thaw
from pi_trio.messages import ToolResult
from pi_trio.tools.context import ToolAbortedError
from pi_trio.tools.tool import Tool

MAKERS: Mapping[str, Callable[..., Tool]] = {
    "read": read_tool,
    "write": write_tool,
    "edit": edit_tool,
    "bash": bash_tool,
}


@attrs.define
class Called:
    """What came of a call: a result or the text of an error; and what was reported."""

    result: ToolResult | None = None
    error: str | None = None
    updates: list[ToolResult] = attrs.Factory(list)

    @property
    def text(self) -> str:
        """What the model is told."""
        if self.error is not None:
            return self.error
        assert self.result is not None
        return self.result.text

    def as_json(self) -> dict[str, Any]:
        outcome: Any = {"error": self.error} if self.result is None else unstructure(self.result)
        return {**thaw(outcome), "updates": [thaw(unstructure(one)) for one in self.updates]}


async def call_tool(
    tool: Tool, args: Any, *, signal: AbortSignal | None = None, called: Called | None = None
) -> Called:
    """Call a tool. What it raises as an error is told; Cancelled is raised."""
    called = called or Called()
    if tool.prepare_arguments is not None:
        args = tool.prepare_arguments(args)
    try:
        answer: Any = tool.execute("c", args, signal or AbortController().signal, called.updates.append)
        called.result = await answer
    except (Exception, ToolAbortedError) as error:
        called.error = str(error)
    return called


async def call(
    name: str,
    args: Any,
    cwd: str | os.PathLike[str],
    *,
    dialect: ToolDialect = TOOLS_1_6_0,
    signal: AbortSignal | None = None,
    **options: Any,
) -> Called:
    """Call the built-in tool of that name, made for this call."""
    return await call_tool(MAKERS[name](cwd, dialect=dialect, **options), args, signal=signal)
