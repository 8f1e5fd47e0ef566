"""What the tester is shown: values of the runtime as JSON, with Pi's names.

Values are shown whole. Functions and signals are left out, and a tool of a context is shown as its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...abort import AbortSignal
from ...agent.hooks import AgentContext, TurnContext
from ...agent.state import AgentState
from ...codec import unstructure
from ...events import AgentEnd, AgentEvent
from ...jsonvalue import JSON
from ...messages import Message
from ..protocol import Object

_shown: dict[int, tuple[Message, JSON]] = {}
"""The JSON of messages that were shown, by the identity of each, which it keeps alive."""

_KEPT: Final = 1024


def show_messages(messages: Iterable[Message]) -> list[Any]:
    """Messages, each shown once: a transcript is shown again and again, and only ever becomes longer.

    They are shared between what is shown, so nobody may change them.
    """
    if len(_shown) > _KEPT:
        _shown.clear()
    return [_show(message) for message in messages]


def _show(message: Message) -> JSON:
    known = _shown.get(id(message))
    if known is None:
        known = _shown[id(message)] = (message, unstructure(message))
    return known[1]


def show_event(event: AgentEvent) -> Object:
    """An event."""
    if isinstance(event, AgentEnd):
        return {"type": event.type, "messages": show_messages(event.messages)}
    shown: Object = unstructure(event)
    return shown


def show_context(context: AgentContext) -> Object:
    """A context, its tools as declarations."""
    shown: Object = {
        "messages": show_messages(context.messages),
        "tools": [unstructure(tool.declaration()) for tool in context.tools],
    }
    if context.system_prompt is not None:
        shown["systemPrompt"] = context.system_prompt
    return shown


def show_turn(turn: TurnContext) -> Object:
    """A completed turn."""
    return {
        "message": unstructure(turn.message),
        "toolResults": show_messages(turn.tool_results),
        "context": show_context(turn.context),
        "newMessages": show_messages(turn.new_messages),
    }


def show_state(state: AgentState, *, queued: bool, signal: AbortSignal | None) -> Object:
    """The reply to `state`."""
    shown: Object = {
        "systemPrompt": state.system_prompt,
        "model": unstructure(state.model),
        "thinkingLevel": state.thinking_level,
        "tools": [unstructure(tool.declaration()) for tool in state.tools],
        "messages": show_messages(state.messages),
        "isStreaming": state.is_streaming,
        "pendingToolCalls": list(state.pending_tool_calls),
        "hasQueuedMessages": queued,
    }
    if state.streaming_message is not None:
        shown["streamingMessage"] = unstructure(state.streaming_message)
    if state.error_message is not None:
        shown["errorMessage"] = state.error_message
    if signal is not None:
        shown["signal"] = "aborted" if signal.aborted else "live"
    return shown
