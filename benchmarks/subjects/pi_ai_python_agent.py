"""The package `pi-ai-python`, a port of Pi for asyncio: its `Agent`, with the events that Pi has.

Its provider hands on one message that grows, as Pi's real providers do.
"""

# pyright: basic, reportMissingImports=false
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import asyncio
from typing import Any

from pi_agent import Agent, AgentInitialState, AgentTool, AgentToolResult
from pi_ai import (
    AssistantMessage,
    DoneEvent,
    Model,
    StartEvent,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCall,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    create_assistant_message_event_stream,
)
from pi_ai.utils.text import append_text

from benchmarks.subjects.telling import serve
from benchmarks.workloads import ITEMS_A_READ, PIECE, Manner, Workload

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


async def work(workload: Workload, manner: Manner) -> int:
    """The workload. Gives the number of events."""
    heard = 0
    turns = iter(range(workload.turns))
    items_a_read = 1 if manner == "each" else ITEMS_A_READ

    def stream(model: Any, _context: Any, _options: Any) -> Any:
        told = create_assistant_message_event_stream()
        turn = next(turns, None)
        events = text(model, workload.deltas) if turn is None else calls(model, turn, workload.calls)

        async def produce() -> None:
            for number, event in enumerate(events, start=1):
                if number % items_a_read == 0:
                    await asyncio.sleep(0)
                told.push(event)
            told.end()

        told.start(produce())
        return told

    async def execute(_call_id: str, _args: Any, _signal: object, on_update: Any) -> Any:
        if manner == "reads":
            await asyncio.sleep(0)
        for step in range(workload.updates):
            on_update(AgentToolResult([TextContent("on the way")], {"step": step}))
            if manner == "each":
                await asyncio.sleep(0)
        return AgentToolResult([TextContent("done")], {})

    async def first(_event: object, _signal: object) -> None:
        nonlocal heard
        heard += 1
        await asyncio.sleep(0)

    def first_plain(_event: object, _signal: object) -> None:
        nonlocal heard
        heard += 1

    async def second(_event: object, _signal: object) -> None:
        await asyncio.sleep(0)

    def second_plain(_event: object, _signal: object) -> None:
        pass

    model = Model(id="m", name="m", api="a", provider="p", base_url="", reasoning=False, input=["text"])
    tool = AgentTool(name="work", description="Works.", parameters=SCHEMA, execute=execute)
    agent = Agent(initial_state=AgentInitialState(model=model, tools=[tool]), stream_fn=stream)
    listeners = [first, second] if manner == "each" else [first_plain, second_plain]
    for listener in listeners[: workload.subscribers]:
        agent.subscribe(listener)
    await agent.prompt("Go on.")
    if agent.state.error_message:
        raise RuntimeError(agent.state.error_message)
    return heard


def blank(model: Any) -> Any:
    """The message before anything has come."""
    return AssistantMessage([], api=model.api, provider=model.provider, model=model.id, stop_reason="pending")


def text(model: Any, deltas: int) -> Any:
    """An answer of so many pieces of text."""
    message, block = blank(model), TextContent("")
    yield StartEvent(message)
    message.content.append(block)
    yield TextStartEvent(0, message)
    for _ in range(deltas):
        append_text(block, PIECE)
        yield TextDeltaEvent(0, PIECE, message)
    yield TextEndEvent(0, block.text, message)
    message.stop_reason = "stop"
    yield DoneEvent("stop", message)


def calls(model: Any, turn: int, number: int) -> Any:
    """An answer of so many tool calls, each of whose arguments come in one piece."""
    message = blank(model)
    yield StartEvent(message)
    for index in range(number):
        block = ToolCall(id=f"{turn}-{index}", name="work", arguments={})
        message.content.append(block)
        yield ToolCallStartEvent(index, message)
        block.arguments = {"number": index}
        yield ToolCallDeltaEvent(index, f'{{"number":{index}}}', message)
        yield ToolCallEndEvent(index, block, message)
    message.stop_reason = "toolUse"
    yield DoneEvent("toolUse", message)


def run(workload: Workload, manner: Manner) -> int:
    """The workload, from the prompt to the result."""
    return asyncio.run(work(workload, manner))


if __name__ == "__main__":
    serve(run, "pi-ai-python")
