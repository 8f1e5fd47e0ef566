"""An agent whose model makes some calls once: the tool that they are of, and what the tests of calls look at."""

from __future__ import annotations

from typing import Any

import trio

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.tools.tool import UpdateFn

from .scripting import MODEL, Script, assistant, result, tool

#: A schema that does not take everything.
NUMBERS = {
    "type": "object",
    "properties": {"n": {"type": "number"}, "s": {"type": "string"}},
    "required": ["n"],
}


async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
    """A tool that lets others run, and says which call it was."""
    await trio.lowlevel.checkpoint()
    return result(f"{call_id} worked")


def agent_with(*content: Any, execute: Any, parameters: Any = None, **options: Any) -> Agent:
    """An agent whose model says this once; the tool of its calls is `work`."""
    return Agent(
        model=MODEL,
        tools=[tool("work", execute, parameters)],
        stream_fn=Script(assistant(*content), assistant("done")),
        **options,
    )
