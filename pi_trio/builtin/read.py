"""`read`: what is in a file, as text or as an image."""

from __future__ import annotations

import math
import os
from typing import Any, Final

from ..abort import AbortSignal
from ..jsonvalue import ABSENT, JSON, Absent
from ..messages import Content, ImageContent, TextContent, ToolResult
from ..tools.js_number import as_double, text_of
from ..tools.tool import Tool, UpdateFn
from .declaring import declare, schema_of
from .dialect import TOOLS_1_6_0, ToolDialect, tool_dialect_of
from .failure import BuiltinToolError, told_as
from .files import Check, check_access, in_thread, pieces, reading
from .images import MAX_ENCODED, SNIFFED_BYTES, mime_type_of, shown
from .line_selection import Selection, count_lines, select_lines
from .paths import resolve_for_reading
from .truncation import MAX_BYTES, MAX_LINES, size_text

_DESCRIPTION: Final = (
    f"Read a file: text, or an image (JPEG, PNG, GIF, WebP). Of a text you get at most {MAX_LINES} lines and "
    f"{MAX_BYTES // 1024} KB at once, and are told how to go on."
)
_PARAMETERS: Final = schema_of(
    path=("string", "The file: an absolute path, or one below the working directory"),
    offset=("number", "The line to begin with; the first one is 1", False),
    limit=("number", "How many lines at most", False),
)
#: More lines than any file has.
_BEYOND: Final = 2**64
_OUTPUT: Final[JSON] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "required": ["type", "data", "mimeType", "note"],
            "properties": {
                "type": {"type": "string", "const": "image"},
                "data": {"type": "string"},
                "mimeType": {"type": "string"},
                "note": {"type": "string"},
            },
        },
    ]
}


def read_tool(cwd: str | os.PathLike[str] = ".", *, dialect: ToolDialect | str = TOOLS_1_6_0) -> Tool:
    """A tool that reads files.

    Its results are Pi's: the text, a note where more of it follows, and how it was truncated, in `details`. Only
    regular files are read, and no more of them is kept than the limits (2000 lines, 50 KiB) let through. They are read
    in a worker thread, which ends soon after an abort or a cancellation.

    Args:
        cwd: relative paths begin here. A relative one is resolved now.
        dialect: the release to follow, or its name.

    Raises:
        UnknownToolDialectError: there is no such release.
    """
    folder, release = os.path.abspath(cwd), tool_dialect_of(dialect)

    async def execute(_call: str, args: Any, signal: AbortSignal, _update: UpdateFn) -> ToolResult:
        return await in_thread(lambda check: _read(args, folder, release, check), signal)

    return declare(
        "read",
        _DESCRIPTION,
        _PARAMETERS,
        execute,
        dialect=release,
        output_schema=_OUTPUT if release.read_structured else None,
    )


def _read(args: dict[str, Any], cwd: str, dialect: ToolDialect, check: Check) -> ToolResult:
    path = resolve_for_reading(args["path"], cwd)
    check()
    with told_as("access", path):
        check_access(path, os.R_OK)
    check()
    with reading(path) as file:
        with told_as("read"):
            head = os.pread(file, SNIFFED_BYTES, 0)
        mime_type = mime_type_of(head, dialect)
        if mime_type is not None:
            return _image(file, mime_type, dialect, check)
        return _text(file, args, dialect, check)


def _image(file: int, mime_type: str, dialect: ToolDialect, check: Check) -> ToolResult:
    content = b""
    for piece in pieces(file, check):
        content += piece
        if len(content) > MAX_ENCODED:
            break  # too large, however it goes on
    image = shown(content, mime_type)
    note = f"Read image file [{mime_type}]" + (f"\n{image.note}" if image.note else "")
    blocks: list[Content] = [TextContent(text=note)]
    structured: JSON = note
    if image.data is not None:
        blocks.append(ImageContent(data=image.data, mime_type=mime_type))
        structured = {"type": "image", "data": image.data, "mimeType": mime_type, "note": note}
    return ToolResult(content=blocks, structured_content=structured if dialect.read_structured else ABSENT)


def _text(file: int, args: dict[str, Any], dialect: ToolDialect, check: Check) -> ToolResult:
    offset, limit = as_double(args.get("offset", 0)), args.get("limit")
    start = max(0, offset - 1) if offset else 0
    end = None if limit is None else as_double(start + as_double(limit))
    last = None if end is None else _bound(end)
    if last is not None and last < 0:  # counted from the end, which is not known before
        last = max(0, count_lines(pieces(file, check)) + last)
        with told_as("read"):
            os.lseek(file, 0, os.SEEK_SET)
    selection = select_lines(pieces(file, check), _bound(start), last)
    check()
    if start >= selection.total_lines:
        lines = f"{selection.total_lines} lines total"
        raise BuiltinToolError(f"Offset {text_of(offset)} is beyond end of file ({lines})")
    text = _told(selection, start, end, args["path"])
    truncation = selection.truncation
    details: JSON | Absent = {"truncation": truncation.as_details()} if truncation.truncated else ABSENT
    return ToolResult(
        content=(TextContent(text=text),),
        details=details,
        structured_content=text if dialect.read_structured else ABSENT,
    )


def _bound(number: float) -> int:
    """The place that this bound of a slice means in JavaScript, where any number is one."""
    return 0 if math.isnan(number) else int(max(-_BEYOND, min(number, _BEYOND)))


def _told(selection: Selection, start: float, end: float | None, path: str) -> str:
    """The text, and how to go on where it goes on."""
    truncation, total = selection.truncation, selection.total_lines
    first = text_of(as_double(start + 1))
    if truncation.first_line_exceeds_limit:
        return (
            f"[Line {first} is {size_text(selection.first_line_bytes)}, exceeds {size_text(MAX_BYTES)} limit. "
            f"Use bash: sed -n '{first}p' {path} | head -c {MAX_BYTES}]"
        )
    if truncation.truncated:
        next_line = as_double(start + truncation.output_lines + 1)
        shown_lines = f"Showing lines {first}-{text_of(as_double(next_line - 1))} of {total}"
        limit = "" if truncation.truncated_by == "lines" else f" ({size_text(MAX_BYTES)} limit)"
        return f"{truncation.content}\n\n[{shown_lines}{limit}. Use offset={text_of(next_line)} to continue.]"
    if end is not None and end < total:
        rest, next_line = as_double(total - end), as_double(end + 1)
        return (
            f"{truncation.content}\n\n"
            f"[{text_of(rest)} more lines in file. Use offset={text_of(next_line)} to continue.]"
        )
    return truncation.content
