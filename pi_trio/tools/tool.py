"""A tool as the loop sees it: a declaration for the model, and the code behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, Protocol, TypeAlias

import attrs

from ..abort import AbortSignal
from ..jsonvalue import ABSENT, JSON, Absent, freeze
from ..messages import ToolDeclaration, ToolResult

ExecutionMode: TypeAlias = Literal["parallel", "sequential"]


class Delivered(Protocol):
    """A report of progress on its way to the listeners."""

    async def wait(self) -> None:
        """Return when every listener has handled it."""
        ...


#: Reports progress: synchronous, may be called any number of times until `execute` returns. Who wants to know when the
#: report has been delivered waits for what this returns; None where there is nothing to wait for.
UpdateFn: TypeAlias = Callable[[ToolResult], Delivered | None]
#: `execute(tool_call_id, args, signal, on_update)`: a function, or a coroutine function, that gives the
#: call's result.
ExecuteFn: TypeAlias = Callable[
    [str, Any, AbortSignal, UpdateFn], Awaitable[ToolResult | str | None] | ToolResult | str | None
]


def _call_of(tool: Tool) -> ExecuteFn:
    return tool.call


#: The default of `execute` in a subclass whose `call` is the code.
OWN_CALL: Final[ExecuteFn] = attrs.Factory(_call_of, takes_self=True)


@attrs.frozen(kw_only=True, eq=False)
class Tool:
    """A tool with its code. What `execute` gives is a `ToolResult`, or a string, which becomes one.

    Args:
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

    def call(
        self,
        call_id: str,
        args: Any,
        signal: AbortSignal,
        on_update: UpdateFn,
        deps: Any = None,  # noqa: ARG002  (for tools that can do something with it)
    ) -> Awaitable[ToolResult | str | None] | ToolResult | str | None:
        """Execute the tool: what the loop calls.

        Args:
            deps: what the agent was given for its tools. `execute` does not get it; decorated functions do.
        """
        return self.execute(call_id, args, signal, on_update)

    def declaration(self) -> ToolDeclaration:
        """What the model is told about this tool."""
        return ToolDeclaration(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            constrained_sampling=self.constrained_sampling,
        )
