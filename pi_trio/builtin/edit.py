"""`edit`: pieces of a file replaced by others."""

from __future__ import annotations

import os
from typing import Any, Final

from ..abort import AbortSignal
from ..errors import CodecError
from ..jsontext import parse_json
from ..jsonvalue import JSON
from ..messages import TextContent, ToolResult
from ..tools.js_value import well_formed
from ..tools.tool import Tool, UpdateFn
from .declaring import declare
from .dialect import TOOLS_1_6_0, ToolDialect, tool_dialect_of
from .edit_diff import edit_details
from .edit_endings import BOM, with_endings_of, with_newlines
from .edit_matching import Edit, apply_edits
from .failure import BuiltinToolError, code_of
from .files import Check, check_access, in_thread, pieces, reading, write_whole
from .mutation_queue import current_mutation_queue
from .paths import resolve
from .truncation import size_text

_DESCRIPTION: Final = (
    "Replace pieces of a text file. Each oldText has to stand exactly once in the file as it is now, and the pieces "
    "must not overlap: make one edit of what lies close together, and leave out what stays as it is."
)
#: Bytes of the largest file that is edited: for a moment it takes the memory of many copies.
_LARGEST: Final = 32 * 1024 * 1024
_PARAMETERS: Final[JSON] = {
    "type": "object",
    "required": ["path", "edits"],
    "properties": {
        "path": {
            "type": "string",
            "description": "The file: an absolute path, or one below the working directory",
        },
        "edits": {
            "type": "array",
            "description": "What to replace. All of them are about the file as it is before the call",
            "items": {
                "type": "object",
                "required": ["oldText", "newText"],
                "properties": {
                    "oldText": {
                        "type": "string",
                        "description": "The text to replace, as it stands in the file",
                    },
                    "newText": {"type": "string", "description": "What comes in its place"},
                },
            },
        },
    },
}


def edit_tool(cwd: str | os.PathLike[str] = ".", *, dialect: ToolDialect | str = TOOLS_1_6_0) -> Tool:
    """A tool that edits files, one change of a file at a time (`mutation_queue`).

    How texts are found: `edit_matching`. The details of a result are a diff and a patch (`edit_diff`). The file is
    written in place, as by `write`, with its own line endings. An abort or a cancellation leaves it as it was, unless
    writing has begun; that is not broken off. One of more than 32 MiB is not edited.

    Args:
        cwd: relative paths begin here. A relative one is resolved now.
        dialect: the release to follow, or its name.

    Raises:
        UnknownToolDialectError: there is no such release.
    """
    folder, release = os.path.abspath(cwd), tool_dialect_of(dialect)

    async def execute(_call: str, args: Any, signal: AbortSignal, _update: UpdateFn) -> ToolResult:
        if not args["edits"]:
            raise BuiltinToolError("Edit tool input is invalid. edits must contain at least one replacement.")
        path = resolve(args["path"], folder)
        async with current_mutation_queue().turn(path):
            details = await in_thread(lambda check: _edit(path, args, release, check), signal)
        text = f"Successfully replaced {len(args['edits'])} block(s) in {args['path']}."
        return ToolResult(content=(TextContent(text=text),), details=details)

    return declare(
        "edit", _DESCRIPTION, _PARAMETERS, execute, dialect=release, prepare_arguments=arguments_as_meant
    )


def arguments_as_meant(args: JSON) -> JSON:
    """Arguments as some models write them, made what they mean.

    `edits` may be the JSON of the edits, or one edit by itself; and one edit may stand beside the path.
    """
    if not isinstance(args, dict):
        return args
    edits = args.get("edits")
    if isinstance(edits, str):
        edits = _parsed(edits)
    if _is_edit(edits):
        edits = [edits]
    meant = {**args, "edits": edits} if "edits" in args else dict(args)
    if not _is_edit(meant):
        return meant
    one = {"oldText": meant.pop("oldText"), "newText": meant.pop("newText")}
    return {**meant, "edits": [*(edits if isinstance(edits, list) else ()), one]}


def _parsed(text: str) -> JSON:
    try:
        parsed = parse_json(text)
    except CodecError:
        return text
    return parsed if isinstance(parsed, list) or _is_edit(parsed) else text


def _is_edit(value: JSON) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("oldText", "newText"))


def _edit(path: str, args: dict[str, Any], dialect: ToolDialect, check: Check) -> JSON:
    check()
    try:
        check_access(path, os.R_OK | os.W_OK)
    except OSError as error:
        raise BuiltinToolError(
            f"Could not edit file: {args['path']}. Error code: {code_of(error)}."
        ) from error
    check()
    content = _content(path, args["path"], check).decode("utf-8", "replace")
    bom, original = (BOM, content[1:]) if content.startswith(BOM) else ("", content)
    edits = [Edit(with_newlines(one["oldText"]), with_newlines(one["newText"])) for one in args["edits"]]
    edited = apply_edits(with_newlines(original), edits, args["path"], check)
    # Compared before it is written, so that nothing can fail afterwards.
    details = edit_details(edited, args["path"], dialect, check)
    check()
    write_whole(path, well_formed(bom + with_endings_of(original, edited, dialect)).encode())
    check()
    return details


def _content(path: str, name: str, check: Check) -> bytes:
    """Raises: BuiltinToolError: there is too much of it."""
    found: list[bytes] = []
    with reading(path) as file:
        size = os.fstat(file).st_size
        read = 0
        # Those below /proc do not say how large they are.
        for piece in pieces(file, check) if size <= _LARGEST else ():
            found.append(piece)
            read += len(piece)
            if read > _LARGEST:
                break
    if max(size, read) > _LARGEST:
        least = size_text(max(size, read))
        raise BuiltinToolError(
            f"{name} is too large to edit: {least}, of {size_text(_LARGEST)} at most. Use bash, as with sed -i."
        )
    return b"".join(found)
