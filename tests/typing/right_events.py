"""Events tell their types, and what they carry its text."""

from __future__ import annotations

from typing import assert_type

from pi_trio import (
    Agent,
    AssistantMessage,
    MessageEnd,
    ToolExecutionEnd,
    ToolExecutionUpdate,
    TurnContext,
    TurnDecision,
)


async def chat(agent: Agent, text: str) -> str:
    said: list[str] = []
    async with agent.open_prompt(text) as run:
        async for event in run:
            if event.type == "tool_execution_update":
                assert_type(event, ToolExecutionUpdate)
                said.append(event.partial_result.text)
            elif event.type == "tool_execution_end":
                assert_type(event, ToolExecutionEnd)
                said.append(event.result.text)
            elif isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage):
                said.append(event.message.text)
    return run.result.text + "".join(said)


def decide(turn: TurnContext) -> TurnDecision:
    return TurnDecision(action="end" if turn.message.text else "continue")
