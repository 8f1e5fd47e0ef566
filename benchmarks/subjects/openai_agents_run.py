"""`openai-agents`: `Runner.run_streamed` with a model of our own, whose events are read in a loop.

It hands a provider's events on as they are, without a message so far; it has no second subscriber and no progress of a
tool, so the yields of the updates happen, and no events.
"""

# pyright: basic, reportMissingImports=false
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, FunctionTool, Model, Runner, set_tracing_disabled
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from benchmarks.subjects.telling import serve
from benchmarks.workloads import ITEMS_A_READ, PIECE, Manner, Workload

SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}


class Scripted(Model):
    """Answers each request of a workload."""

    def __init__(self, workload: Workload, items_a_read: int) -> None:
        self._workload = workload
        self._items_a_read = items_a_read
        self._turns = iter(range(workload.turns))

    async def get_response(self, *_args: Any, **_kwargs: Any) -> Any:
        raise AssertionError("only streams are asked for")

    async def stream_response(self, *_args: Any, **_kwargs: Any) -> Any:
        turn = next(self._turns, None)
        events = text(self._workload.deltas) if turn is None else calls(turn, self._workload.calls)
        for number, event in enumerate(events, start=1):
            if number % self._items_a_read == 0:
                await asyncio.sleep(0)
            yield event


def text(deltas: int) -> Any:
    """An answer of so many pieces of text."""
    for number in range(deltas):
        yield ResponseTextDeltaEvent(
            content_index=0,
            delta=PIECE,
            item_id="i",
            logprobs=[],
            output_index=0,
            sequence_number=number,
            type="response.output_text.delta",
        )
    content = ResponseOutputText(annotations=[], text=PIECE * deltas, type="output_text")
    message = ResponseOutputMessage(
        id="i", content=[content], role="assistant", status="completed", type="message"
    )
    yield completed([message])


def calls(turn: int, number: int) -> Any:
    """An answer of so many tool calls."""
    items = [
        ResponseFunctionToolCall(
            arguments=f'{{"number":{index}}}', call_id=f"{turn}-{index}", name="work", type="function_call"
        )
        for index in range(number)
    ]
    for index, item in enumerate(items):
        yield ResponseOutputItemDoneEvent(
            item=item, output_index=index, sequence_number=index, type="response.output_item.done"
        )
    yield completed(items)


def completed(output: list[Any]) -> Any:
    """The last event of a response."""
    response = Response(
        id="r",
        created_at=0,
        model="m",
        object="response",
        output=output,
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
    )
    return ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")


async def work(workload: Workload, manner: Manner) -> int:
    """The workload. Gives the number of events."""
    set_tracing_disabled(True)

    async def execute(_context: Any, _arguments: str) -> str:
        if manner == "reads":
            await asyncio.sleep(0)
        for _ in range(workload.updates if manner == "each" else 0):
            await asyncio.sleep(0)
        return "done"

    tool = FunctionTool(name="work", description="Works.", params_json_schema=SCHEMA, on_invoke_tool=execute)
    model = Scripted(workload, 1 if manner == "each" else ITEMS_A_READ)
    agent = Agent(name="a", model=model, tools=[tool])
    result = Runner.run_streamed(agent, "Go on.", max_turns=workload.turns + 1)
    heard = 0
    async for _event in result.stream_events():
        heard += 1
        if manner == "each":
            await asyncio.sleep(0)
    return heard


def run(workload: Workload, manner: Manner) -> int:
    """The workload, from the prompt to the result."""
    return asyncio.run(work(workload, manner))


if __name__ == "__main__":
    serve(run, "openai-agents")
