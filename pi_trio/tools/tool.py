"""A tool as the loop sees it: a declaration for the model, and the code behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

import attrs

from ..abort import AbortSignal
from ..jsonvalue import ABSENT, JSON, Absent, freeze
from ..messages import ToolDeclaration, ToolResult

ExecutionMode: TypeAlias = Literal["parallel", "sequential"]
#: Reports progress: synchronous, may be called any number of times until `execute` returns.
UpdateFn: TypeAlias = Callable[[ToolResult], None]
#: `execute(tool_call_id, args, signal, on_update)`: a function, or a coroutine function, that gives the
#: call's result.
ExecuteFn: TypeAlias = Callable[
    [str, Any, AbortSignal, UpdateFn], Awaitable[ToolResult | str | None] | ToolResult | str | None
]


@attrs.frozen(kw_only=True, eq=False)
class Tool:
    """A tool with its code. What `execute` gives is a `ToolResult`, or a string, which becomes one.

    Parameters:
        name: what the model calls it by; the first tool of a name wins.
        description: told to the model.
        parameters: the JSON Schema of the arguments.
        execute: called inline with the call's id, the validated arguments (a plain copy, the tool's own), the run's
            signal, and `on_update`. An exception becomes an error result with its text; its traceback is logged as a
            warning (logger `pi_trio`).
        label: for people.
        execution_mode: "sequential" makes every batch with a call to this tool sequential.
        prepare_arguments: called with the raw arguments before they are validated; synchronous. An exception
            becomes an error result.
        output_schema: the JSON Schema of the result's structured content.
        constrained_sampling: told to the model's provider.
    """

    name: str
    description: str
    parameters: JSON = attrs.field(converter=freeze)
    execute: ExecuteFn
    label: str = ""
    execution_mode: ExecutionMode | None = None
    prepare_arguments: Callable[[JSON], JSON] | None = None
    output_schema: JSON = None
    constrained_sampling: JSON | Absent = ABSENT

    def declaration(self) -> ToolDeclaration:
        """What the model is told about this tool."""
        return ToolDeclaration(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            constrained_sampling=self.constrained_sampling,
        )
