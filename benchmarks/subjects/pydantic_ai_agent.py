"""`pydantic-ai`: an `Agent` on a `FunctionModel`, whose stream of events is read by one handler.

It has no second subscriber and no progress of a tool; a custom event stands for an update.
"""

# pyright: basic, reportMissingImports=false
# mypy: disable-error-code="import-not-found, misc, untyped-decorator"

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import CustomEvent
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import UsageLimits

from benchmarks.subjects.telling import serve
from benchmarks.workloads import ITEMS_A_READ, PIECE, Manner, Workload


@dataclass(kw_only=True)
class Update(CustomEvent):
    """A tool's progress."""

    step: int
    number: int


async def work(workload: Workload, manner: Manner) -> int:
    """The workload. Gives the number of events."""
    heard = 0
    turns = iter(range(workload.turns))
    items_a_read = 1 if manner == "each" else ITEMS_A_READ

    async def stream(_messages: Any, _info: Any) -> Any:
        turn = next(turns, None)
        items: Any = (
            (PIECE for _ in range(workload.deltas))
            if turn is None
            else (
                {index: DeltaToolCall("work", f'{{"number":{index}}}', tool_call_id=f"{turn}-{index}")}
                for index in range(workload.calls)
            )
        )
        for number, item in enumerate(items, start=1):
            if number % items_a_read == 0:
                await asyncio.sleep(0)
            yield item

    async def handle(_context: Any, events: Any) -> None:
        nonlocal heard
        async for _event in events:
            heard += 1
            if manner == "each":
                await asyncio.sleep(0)

    agent = Agent(FunctionModel(stream_function=stream))

    @agent.tool(name="work")
    async def execute(context: RunContext[Any], number: int) -> str:
        if manner == "reads":
            await asyncio.sleep(0)
        for step in range(workload.updates):
            await context.emit(Update(step=step, number=number))
            if manner == "each":
                await asyncio.sleep(0)
        return "done"

    await agent.run("Go on.", event_stream_handler=handle, usage_limits=UsageLimits(request_limit=None))
    return heard


def run(workload: Workload, manner: Manner) -> int:
    """The workload, from the prompt to the result."""
    return asyncio.run(work(workload, manner))


if __name__ == "__main__":
    serve(run, "pydantic-ai-slim")
