"""Pi's built-in tools, for agents that work with files and commands.

    agent = Agent(model=..., stream_fn=..., tools=builtin_tools("project"))

What they give the model is what Pi's give it: the same limits, texts and details, for the release of a `ToolDialect`.
What runs, runs inside the call: a worker thread that is waited for, a process group that is killed.
"""

from __future__ import annotations

import os

from ..tools.tool import Tool
from .bash import bash_tool
from .dialect import (
    DIALECTS,
    TOOLS_0_85_0,
    TOOLS_1_0_3,
    TOOLS_1_6_0,
    ToolDialect,
    UnknownToolDialectError,
    tool_dialect_of,
)
from .edit import edit_tool
from .failure import BuiltinToolError
from .mutation_queue import MutationQueue, current_mutation_queue
from .read import read_tool
from .write import write_tool

__all__ = [
    "DIALECTS",
    "TOOLS_0_85_0",
    "TOOLS_1_0_3",
    "TOOLS_1_6_0",
    "BuiltinToolError",
    "MutationQueue",
    "ToolDialect",
    "UnknownToolDialectError",
    "bash_tool",
    "builtin_tools",
    "current_mutation_queue",
    "edit_tool",
    "read_tool",
    "tool_dialect_of",
    "write_tool",
]


def builtin_tools(
    cwd: str | os.PathLike[str] = ".", *, dialect: ToolDialect | str = TOOLS_1_6_0
) -> tuple[Tool, Tool, Tool, Tool]:
    """The four of them: `read`, `bash`, `edit` and `write`, in Pi's order.

    Args:
        cwd: where commands run and relative paths begin. A relative one is resolved now.
        dialect: the release to follow, or its name: `1.0.3`.

    Raises:
        UnknownToolDialectError: there is no such release.
    """
    return (
        read_tool(cwd, dialect=dialect),
        bash_tool(cwd, dialect=dialect),
        edit_tool(cwd, dialect=dialect),
        write_tool(cwd, dialect=dialect),
    )
