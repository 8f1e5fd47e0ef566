"""The runtime of this project: an `Agent` with a provider that builds its response while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import trio

from benchmarks.subjects.telling import serve
from benchmarks.workloads import ITEMS_A_READ, PIECE, Manner, Workload
from pi_trio import Agent, AssistantMessage, Model, StreamEvent, TextContent, Tool, ToolResult
from pi_trio.events import StreamDone
from pi_trio.jsonvalue import JSON
from pi_trio.models.builder import ResponseBuilder

SCHEMA: JSON = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


class Response:
    """A response that is read, and made at the same time; every so many items it waits for the network."""

    def __init__(self, events: Iterator[StreamEvent], items_a_read: int) -> None:
        self._events = events
        self._items_a_read = items_a_read
        self._items = 0
        self._result: AssistantMessage | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        self._items += 1
        if self._items % self._items_a_read == 0:
            await trio.lowlevel.checkpoint()
        for event in self._events:
            if isinstance(event, StreamDone):
                self._result = event.message
            return event
        raise StopAsyncIteration

    async def result(self) -> AssistantMessage | None:
        return self._result

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        pass


def text(model: Model, deltas: int) -> Iterator[StreamEvent]:
    """An answer of so many pieces of text."""
    builder = ResponseBuilder(model)
    yield builder.start()
    yield builder.text_start()
    for _ in range(deltas):
        yield builder.text_delta(PIECE)
    yield builder.text_end()
    yield builder.done("stop")


def calls(model: Model, turn: int, number: int) -> Iterator[StreamEvent]:
    """An answer of so many tool calls, each of whose arguments come in one piece."""
    builder = ResponseBuilder(model)
    yield builder.start()
    for call in range(number):
        yield builder.toolcall_start(f"{turn}-{call}", "work")
        yield builder.toolcall_delta(f'{{"number":{call}}}')
        yield builder.toolcall_end()
    yield builder.done("toolUse")


async def work(workload: Workload, manner: Manner, **options: Any) -> int:
    """The workload, with options of the agent. Gives the number of events."""
    heard = 0
    turns = iter(range(workload.turns))

    def stream(model: Model, _context: object, _options: object) -> Response:
        turn = next(turns, None)
        events = text(model, workload.deltas) if turn is None else calls(model, turn, workload.calls)
        return Response(events, 1 if manner == "each" else ITEMS_A_READ)

    async def execute(_call_id: str, _args: Any, _signal: object, on_update: Any) -> ToolResult:
        if manner == "reads":
            await trio.lowlevel.checkpoint()
        for step in range(workload.updates):
            on_update(ToolResult(content=(TextContent(text="on the way"),), details={"step": step}))
            if manner == "each":
                await trio.lowlevel.checkpoint()
        return ToolResult(content=(TextContent(text="done"),), details={})

    async def first(_event: object, _signal: object) -> None:
        nonlocal heard
        heard += 1
        await trio.lowlevel.checkpoint()

    def first_plain(_event: object, _signal: object) -> None:
        nonlocal heard
        heard += 1

    async def second(_event: object, _signal: object) -> None:
        await trio.lowlevel.checkpoint()

    def second_plain(_event: object, _signal: object) -> None:
        pass

    tool = Tool(name="work", description="Works.", parameters=SCHEMA, execute=execute)
    agent = Agent(stream_fn=stream, tools=[tool], **options)
    listeners = [first, second] if manner == "each" else [first_plain, second_plain]
    for listener in listeners[: workload.subscribers]:
        agent.subscribe(listener)
    (await agent.prompt("Go on.")).raise_for_error()
    return heard


def run(workload: Workload, manner: Manner) -> int:
    """The workload, from the prompt to the result."""
    return trio.run(work, workload, manner)


if __name__ == "__main__":
    serve(run, "trio", "attrs")
