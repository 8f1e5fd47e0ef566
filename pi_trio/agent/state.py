"""What an agent knows between and during runs, and how each event changes it.

Reduction happens before any listener hears of an event, and stays whatever listeners do. `AgentState` is the
frozen view that `agent.state` gives; the mutable record behind it is `LiveState`.
"""

from __future__ import annotations

import attrs

from ..events import (
    AgentEnd,
    AgentEvent,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
)
from ..messages import AssistantMessage, Message, Model, ThinkingLevel
from ..tools.tool import Tool


@attrs.frozen(kw_only=True)
class AgentState:
    """An agent at one moment.

    Attributes:
        system_prompt: since 1.0.3 replayed from the transcript's system messages.
        is_streaming: from the start of a run to its settlement.
        streaming_message: the message between its start and its end, of any role.
        pending_tool_calls: ids of the calls between start and end, each once (D-07), in order of their start.
        error_message: of the latest failed or aborted turn.
    """

    system_prompt: str
    model: Model
    thinking_level: ThinkingLevel
    tools: tuple[Tool, ...]
    messages: tuple[Message, ...]
    is_streaming: bool
    streaming_message: Message | None
    pending_tool_calls: tuple[str, ...]
    error_message: str | None


@attrs.define(kw_only=True)
class LiveState:
    """The state that events are reduced into."""

    system_prompt: str
    model: Model
    thinking_level: ThinkingLevel
    tools: tuple[Tool, ...]
    messages: list[Message]
    is_streaming: bool = False
    streaming_message: Message | None = None
    pending_tool_calls: dict[str, int] = attrs.field(factory=dict[str, int])
    error_message: str | None = None

    def begin(self) -> None:
        """A run starts."""
        self.is_streaming = True
        self.streaming_message = None
        self.error_message = None

    def settle(self) -> None:
        """The run is over: everything that belongs to a run is gone."""
        self.is_streaming = False
        self.streaming_message = None
        self.pending_tool_calls.clear()

    def reduce(self, event: AgentEvent) -> None:
        """Take an event in."""
        match event:
            case MessageUpdate() | MessageStart():
                self.streaming_message = event.message
            case ToolExecutionUpdate():  # so early because there are many
                pass
            case MessageEnd():
                self.streaming_message = None
                self.messages.append(event.message)
            case ToolExecutionStart(tool_call_id=call_id):
                self.pending_tool_calls[call_id] = self.pending_tool_calls.get(call_id, 0) + 1
            case ToolExecutionEnd(tool_call_id=call_id):
                # D-07: an id stays until the last of its calls has ended.
                if (left := self.pending_tool_calls.get(call_id, 1) - 1) > 0:
                    self.pending_tool_calls[call_id] = left
                else:
                    self.pending_tool_calls.pop(call_id, None)
            case TurnEnd(message=AssistantMessage(error_message=str(text))) if text:
                self.error_message = text
            case AgentEnd():
                self.streaming_message = None
            case _:
                pass
