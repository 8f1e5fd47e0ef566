"""What the model is told of a built-in tool.

Names and types are Pi's, so that models know the tools; what describes them is not.
"""

from __future__ import annotations

from collections.abc import Callable

from ..jsonvalue import ABSENT, JSON
from ..tools.tool import ExecuteFn, Tool
from .dialect import ToolDialect


def schema_of(**parameters: tuple[str, str] | tuple[str, str, bool]) -> JSON:
    """The schema of arguments: for each one its type, its description, and False where it may be left out."""
    return {
        "type": "object",
        "required": [name for name, (*_, required) in parameters.items() if required is not False],
        "properties": {
            name: {"type": kind, "description": text} for name, (kind, text, *_) in parameters.items()
        },
    }


def declare(
    name: str,
    description: str,
    parameters: JSON,
    execute: ExecuteFn,
    *,
    dialect: ToolDialect,
    output_schema: JSON = None,
    prepare_arguments: Callable[[JSON], JSON] | None = None,
) -> Tool:
    """The tool, as the dialect has it."""
    return Tool(
        name=name,
        label=name,
        description=description,
        parameters=parameters,
        execute=execute,
        output_schema=output_schema,
        prepare_arguments=prepare_arguments,
        constrained_sampling={"type": "json_schema", "strict": "prefer"}
        if dialect.strict_sampling
        else ABSENT,
    )
