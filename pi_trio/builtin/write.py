"""`write`: a file with the content that the model gives."""

from __future__ import annotations

import os
from typing import Any, Final

from ..abort import AbortSignal
from ..messages import TextContent, ToolResult
from ..tools.js_value import well_formed
from ..tools.tool import Tool, UpdateFn
from .declaring import declare, schema_of
from .dialect import TOOLS_1_6_0, ToolDialect, tool_dialect_of
from .files import Check, in_thread, make_folder, write_whole
from .mutation_queue import current_mutation_queue
from .paths import resolve

_DESCRIPTION: Final = (
    "Write a file, a new one or in place of what is in it. Folders that are missing are made."
)
_PARAMETERS: Final = schema_of(
    path=("string", "The file: an absolute path, or one below the working directory"),
    content=("string", "All that the file is to hold"),
)


def write_tool(cwd: str | os.PathLike[str] = ".", *, dialect: ToolDialect | str = TOOLS_1_6_0) -> Tool:
    """A tool that writes files, one change of a file at a time (`mutation_queue`).

    A file is written in place, as Pi does it, so that its links, owner and mode stay; only regular files are. Writing
    is not broken off by an abort or a cancellation once it has begun. A call that was aborted meanwhile says so,
    although the file is written.

    Args:
        cwd: relative paths begin here. A relative one is resolved now.
        dialect: the release to follow, or its name.

    Raises:
        UnknownToolDialectError: there is no such release.
    """
    folder, release = os.path.abspath(cwd), tool_dialect_of(dialect)

    async def execute(_call: str, args: Any, signal: AbortSignal, _update: UpdateFn) -> ToolResult:
        path = resolve(args["path"], folder)

        def write(check: Check) -> None:
            check()
            make_folder(os.path.dirname(path))
            check()
            write_whole(path, well_formed(args["content"]).encode())
            check()

        async with current_mutation_queue().turn(path):
            await in_thread(write, signal)
        return ToolResult(content=(TextContent(text=f"Successfully wrote to {args['path']}"),))

    return declare("write", _DESCRIPTION, _PARAMETERS, execute, dialect=release)
