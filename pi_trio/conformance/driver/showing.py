"""What the tester is shown: values of the runtime as JSON, with Pi's names.

Values are shown whole. Functions and signals are left out, and a tool of a context is shown as its declaration.
"""

from __future__ import annotations

from ...abort import AbortSignal
from ...agent.hooks import AgentContext, TurnContext
from ...agent.state import AgentState
from ...codec import unstructure
from ..protocol import Object


def show_context(context: AgentContext) -> Object:
    """A context, its tools as declarations."""
    shown: Object = {
        "messages": unstructure(context.messages),
        "tools": [unstructure(tool.declaration()) for tool in context.tools],
    }
    if context.system_prompt is not None:
        shown["systemPrompt"] = context.system_prompt
    return shown


def show_turn(turn: TurnContext) -> Object:
    """A completed turn."""
    return {
        "message": unstructure(turn.message),
        "toolResults": unstructure(turn.tool_results),
        "context": show_context(turn.context),
        "newMessages": unstructure(turn.new_messages),
    }


def show_state(state: AgentState, *, queued: bool, signal: AbortSignal | None) -> Object:
    """The reply to `state`."""
    shown: Object = {
        "systemPrompt": state.system_prompt,
        "model": unstructure(state.model),
        "thinkingLevel": state.thinking_level,
        "tools": [unstructure(tool.declaration()) for tool in state.tools],
        "messages": unstructure(state.messages),
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
