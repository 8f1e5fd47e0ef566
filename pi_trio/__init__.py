"""The Pi agent protocol in structured concurrency, on trio.

`Agent` runs a model and its tools in turns, and says what happens as a strict stream of events. Everything
here is imported when it is first used, so `import pi_trio` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .abort import AbortController as AbortController
    from .abort import AbortSignal as AbortSignal
    from .agent.agent import Agent as Agent
    from .agent.call import ToolCallOutcome as ToolCallOutcome
    from .agent.call import run_tool_call as run_tool_call
    from .agent.config import LoopConfig as LoopConfig
    from .agent.delivery import Listener as Listener
    from .agent.given import PromptInput as PromptInput
    from .agent.hooks import AfterToolCall as AfterToolCall
    from .agent.hooks import AfterToolCallContext as AfterToolCallContext
    from .agent.hooks import AfterToolCallResult as AfterToolCallResult
    from .agent.hooks import AgentContext as AgentContext
    from .agent.hooks import BeforeToolCall as BeforeToolCall
    from .agent.hooks import BeforeToolCallContext as BeforeToolCallContext
    from .agent.hooks import BeforeToolCallResult as BeforeToolCallResult
    from .agent.hooks import ConvertToLlm as ConvertToLlm
    from .agent.hooks import FinishTurn as FinishTurn
    from .agent.hooks import GetApiKey as GetApiKey
    from .agent.hooks import Hooks as Hooks
    from .agent.hooks import NextTurn as NextTurn
    from .agent.hooks import PrepareNextTurn as PrepareNextTurn
    from .agent.hooks import PrepareNextTurnWithContext as PrepareNextTurnWithContext
    from .agent.hooks import PrepareRequest as PrepareRequest
    from .agent.hooks import RequestContext as RequestContext
    from .agent.hooks import RequestUpdate as RequestUpdate
    from .agent.hooks import ShouldStopAfterTurn as ShouldStopAfterTurn
    from .agent.hooks import TransformContext as TransformContext
    from .agent.hooks import TurnContext as TurnContext
    from .agent.hooks import TurnDecision as TurnDecision
    from .agent.lowlevel import AgentLoopStream as AgentLoopStream
    from .agent.lowlevel import open_agent_loop as open_agent_loop
    from .agent.lowlevel import open_agent_loop_continue as open_agent_loop_continue
    from .agent.lowlevel import run_agent_loop as run_agent_loop
    from .agent.lowlevel import run_agent_loop_continue as run_agent_loop_continue
    from .agent.open_run import OpenRun as OpenRun
    from .agent.queues import QueueMode as QueueMode
    from .agent.result import RunFailedError as RunFailedError
    from .agent.result import RunResult as RunResult
    from .agent.run import AbortMode as AbortMode
    from .agent.state import AgentState as AgentState
    from .errors import AgentBusyError as AgentBusyError
    from .errors import CannotContinueError as CannotContinueError
    from .errors import CodecError as CodecError
    from .errors import PiTrioError as PiTrioError
    from .events import AgentEnd as AgentEnd
    from .events import AgentEvent as AgentEvent
    from .events import AgentStart as AgentStart
    from .events import MessageEnd as MessageEnd
    from .events import MessageStart as MessageStart
    from .events import MessageUpdate as MessageUpdate
    from .events import StreamDone as StreamDone
    from .events import StreamError as StreamError
    from .events import StreamEvent as StreamEvent
    from .events import StreamStart as StreamStart
    from .events import TextDelta as TextDelta
    from .events import TextEnd as TextEnd
    from .events import TextStart as TextStart
    from .events import ThinkingDelta as ThinkingDelta
    from .events import ThinkingEnd as ThinkingEnd
    from .events import ThinkingStart as ThinkingStart
    from .events import ToolCallDelta as ToolCallDelta
    from .events import ToolCallEnd as ToolCallEnd
    from .events import ToolCallStart as ToolCallStart
    from .events import ToolExecutionEnd as ToolExecutionEnd
    from .events import ToolExecutionStart as ToolExecutionStart
    from .events import ToolExecutionUpdate as ToolExecutionUpdate
    from .events import TurnEnd as TurnEnd
    from .events import TurnStart as TurnStart
    from .events import UnknownStreamEvent as UnknownStreamEvent
    from .jsonvalue import ABSENT as ABSENT
    from .jsonvalue import JSON as JSON
    from .jsonvalue import Absent as Absent
    from .jsonvalue import Number as Number
    from .messages.content import Content as Content
    from .messages.content import ImageContent as ImageContent
    from .messages.content import TextContent as TextContent
    from .messages.content import ThinkingContent as ThinkingContent
    from .messages.content import ToolCall as ToolCall
    from .messages.content import UnknownContent as UnknownContent
    from .messages.model import Model as Model
    from .messages.model import ModelCost as ModelCost
    from .messages.model import ThinkingLevel as ThinkingLevel
    from .messages.notes import DeferredHandle as DeferredHandle
    from .messages.notes import Diagnostic as Diagnostic
    from .messages.notes import DiagnosticError as DiagnosticError
    from .messages.roles import AssistantMessage as AssistantMessage
    from .messages.roles import CustomMessage as CustomMessage
    from .messages.roles import Message as Message
    from .messages.roles import StopReason as StopReason
    from .messages.roles import SystemMessage as SystemMessage
    from .messages.roles import ToolResultMessage as ToolResultMessage
    from .messages.roles import UserMessage as UserMessage
    from .messages.tools import NestedToolCallRecord as NestedToolCallRecord
    from .messages.tools import NestedToolCalls as NestedToolCalls
    from .messages.tools import ToolDeclaration as ToolDeclaration
    from .messages.tools import ToolRemoval as ToolRemoval
    from .messages.tools import ToolResult as ToolResult
    from .messages.usage import Usage as Usage
    from .messages.usage import UsageCost as UsageCost
    from .models.builder import OutOfOrderError as OutOfOrderError
    from .models.builder import ResponseBuilder as ResponseBuilder
    from .models.default import NoStreamFunctionError as NoStreamFunctionError
    from .models.default import get_default_stream_fn as get_default_stream_fn
    from .models.default import set_default_stream_fn as set_default_stream_fn
    from .models.dialect import Dialect as Dialect
    from .models.dialect import dialect_of as dialect_of
    from .models.scripted import ScriptedProvider as ScriptedProvider
    from .models.stream import ModelContext as ModelContext
    from .models.stream import ResponseStream as ResponseStream
    from .models.stream import StreamFn as StreamFn
    from .models.stream import StreamOptions as StreamOptions
    from .profile import Profile as Profile
    from .profile import UnknownProfileError as UnknownProfileError
    from .profile import get_profile as get_profile
    from .tools.context import ToolAbortedError as ToolAbortedError
    from .tools.context import ToolContext as ToolContext
    from .tools.decorated import FunctionTool as FunctionTool
    from .tools.decorated import tool as tool
    from .tools.decorator.signature import ToolDefinitionError as ToolDefinitionError
    from .tools.threads import current_tool_thread_limiter as current_tool_thread_limiter
    from .tools.tool import Delivered as Delivered
    from .tools.tool import ExecuteFn as ExecuteFn
    from .tools.tool import ExecutionMode as ExecutionMode
    from .tools.tool import Tool as Tool
    from .tools.tool import UpdateFn as UpdateFn

#: Where each public name lives. `tests/test_public_face.py` holds this against the imports above.
_HOMES = {
    ".abort": ("AbortController", "AbortSignal"),
    ".agent.agent": ("Agent",),
    ".agent.call": ("ToolCallOutcome", "run_tool_call"),
    ".agent.config": ("LoopConfig",),
    ".agent.delivery": ("Listener",),
    ".agent.given": ("PromptInput",),
    ".agent.hooks": (
        "AfterToolCall",
        "AfterToolCallContext",
        "AfterToolCallResult",
        "AgentContext",
        "BeforeToolCall",
        "BeforeToolCallContext",
        "BeforeToolCallResult",
        "ConvertToLlm",
        "FinishTurn",
        "GetApiKey",
        "Hooks",
        "NextTurn",
        "PrepareNextTurn",
        "PrepareNextTurnWithContext",
        "PrepareRequest",
        "RequestContext",
        "RequestUpdate",
        "ShouldStopAfterTurn",
        "TransformContext",
        "TurnContext",
        "TurnDecision",
    ),
    ".agent.lowlevel": (
        "AgentLoopStream",
        "open_agent_loop",
        "open_agent_loop_continue",
        "run_agent_loop",
        "run_agent_loop_continue",
    ),
    ".agent.open_run": ("OpenRun",),
    ".agent.queues": ("QueueMode",),
    ".agent.result": ("RunFailedError", "RunResult"),
    ".agent.run": ("AbortMode",),
    ".agent.state": ("AgentState",),
    ".errors": ("AgentBusyError", "CannotContinueError", "CodecError", "PiTrioError"),
    ".events": (
        "AgentEnd",
        "AgentEvent",
        "AgentStart",
        "MessageEnd",
        "MessageStart",
        "MessageUpdate",
        "StreamDone",
        "StreamError",
        "StreamEvent",
        "StreamStart",
        "TextDelta",
        "TextEnd",
        "TextStart",
        "ThinkingDelta",
        "ThinkingEnd",
        "ThinkingStart",
        "ToolCallDelta",
        "ToolCallEnd",
        "ToolCallStart",
        "ToolExecutionEnd",
        "ToolExecutionStart",
        "ToolExecutionUpdate",
        "TurnEnd",
        "TurnStart",
        "UnknownStreamEvent",
    ),
    ".jsonvalue": ("ABSENT", "Absent", "JSON", "Number"),
    ".messages.content": (
        "Content",
        "ImageContent",
        "TextContent",
        "ThinkingContent",
        "ToolCall",
        "UnknownContent",
    ),
    ".messages.model": (
        "Model",
        "ModelCost",
        "ThinkingLevel",
    ),
    ".messages.notes": (
        "DeferredHandle",
        "Diagnostic",
        "DiagnosticError",
    ),
    ".messages.roles": (
        "AssistantMessage",
        "CustomMessage",
        "Message",
        "StopReason",
        "SystemMessage",
        "ToolResultMessage",
        "UserMessage",
    ),
    ".messages.tools": (
        "NestedToolCallRecord",
        "NestedToolCalls",
        "ToolDeclaration",
        "ToolRemoval",
        "ToolResult",
    ),
    ".messages.usage": (
        "Usage",
        "UsageCost",
    ),
    ".models.builder": ("OutOfOrderError", "ResponseBuilder"),
    ".models.default": ("NoStreamFunctionError", "get_default_stream_fn", "set_default_stream_fn"),
    ".models.dialect": ("Dialect", "dialect_of"),
    ".models.scripted": ("ScriptedProvider",),
    ".models.stream": ("ModelContext", "ResponseStream", "StreamFn", "StreamOptions"),
    ".profile": ("Profile", "UnknownProfileError", "get_profile"),
    ".tools.context": ("ToolAbortedError", "ToolContext"),
    ".tools.decorated": ("FunctionTool", "tool"),
    ".tools.decorator.signature": ("ToolDefinitionError",),
    ".tools.threads": ("current_tool_thread_limiter",),
    ".tools.tool": ("Delivered", "ExecuteFn", "ExecutionMode", "Tool", "UpdateFn"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # type checkers take what is imported above, and cannot read this
    __all__ = ["__version__", *_HOME_OF]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "testing":  # `help(pi_trio.testing)` needs no import of its own, and nobody else pays for it
        return import_module(".testing", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
