"""Messages: what a transcript consists of.

User, assistant, tool result and system messages, their content blocks, token usage, tool declarations, the
result of a tool, and the model. Field by field these are Pi's (1.6.0, with what older releases had besides);
`wire.Wire` says how names, absent fields and unknown fields are treated. A message with another role is a
`CustomMessage`, a content block of another type an `UnknownContent`: both keep everything.

Constructors take lists and plain dicts, and store tuples and frozen JSON. They do not check types; JSON from
outside is checked by the codec.
"""

from __future__ import annotations

from .content import Content, ImageContent, TextContent, ThinkingContent, ToolCall, UnknownContent
from .model import Model, ModelCost, ThinkingLevel
from .notes import DeferredHandle, Diagnostic, DiagnosticError
from .roles import (
    AssistantMessage,
    CustomMessage,
    Message,
    StopReason,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from .tools import NestedToolCallRecord, NestedToolCalls, ToolDeclaration, ToolRemoval, ToolResult
from .usage import Usage, UsageCost

__all__ = [
    "AssistantMessage",
    "Content",
    "CustomMessage",
    "DeferredHandle",
    "Diagnostic",
    "DiagnosticError",
    "ImageContent",
    "Message",
    "Model",
    "ModelCost",
    "NestedToolCallRecord",
    "NestedToolCalls",
    "StopReason",
    "SystemMessage",
    "TextContent",
    "ThinkingContent",
    "ThinkingLevel",
    "ToolCall",
    "ToolDeclaration",
    "ToolRemoval",
    "ToolResult",
    "ToolResultMessage",
    "UnknownContent",
    "Usage",
    "UsageCost",
    "UserMessage",
]
