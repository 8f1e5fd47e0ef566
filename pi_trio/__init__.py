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
    from .agent.hooks import AfterToolCallContext as AfterToolCallContext
    from .agent.hooks import AfterToolCallResult as AfterToolCallResult
    from .agent.hooks import AgentContext as AgentContext
    from .agent.hooks import BeforeToolCallContext as BeforeToolCallContext
    from .agent.hooks import BeforeToolCallResult as BeforeToolCallResult
    from .agent.hooks import Hooks as Hooks
    from .agent.hooks import NextTurn as NextTurn
    from .agent.hooks import RequestContext as RequestContext
    from .agent.hooks import RequestUpdate as RequestUpdate
    from .agent.hooks import TurnContext as TurnContext
    from .agent.hooks import TurnDecision as TurnDecision
    from .agent.lowlevel import AgentLoopStream as AgentLoopStream
    from .agent.lowlevel import open_agent_loop as open_agent_loop
    from .agent.lowlevel import open_agent_loop_continue as open_agent_loop_continue
    from .agent.lowlevel import run_agent_loop as run_agent_loop
    from .agent.lowlevel import run_agent_loop_continue as run_agent_loop_continue
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
    from .events import StreamEvent as StreamEvent
    from .events import ToolExecutionEnd as ToolExecutionEnd
    from .events import ToolExecutionStart as ToolExecutionStart
    from .events import ToolExecutionUpdate as ToolExecutionUpdate
    from .events import TurnEnd as TurnEnd
    from .events import TurnStart as TurnStart
    from .messages import AssistantMessage as AssistantMessage
    from .messages import CustomMessage as CustomMessage
    from .messages import ImageContent as ImageContent
    from .messages import Message as Message
    from .messages import Model as Model
    from .messages import SystemMessage as SystemMessage
    from .messages import TextContent as TextContent
    from .messages import ThinkingContent as ThinkingContent
    from .messages import ToolCall as ToolCall
    from .messages import ToolDeclaration as ToolDeclaration
    from .messages import ToolResult as ToolResult
    from .messages import ToolResultMessage as ToolResultMessage
    from .messages import Usage as Usage
    from .messages import UserMessage as UserMessage
    from .models.default import NoStreamFunctionError as NoStreamFunctionError
    from .models.default import get_default_stream_fn as get_default_stream_fn
    from .models.default import set_default_stream_fn as set_default_stream_fn
    from .models.scripted import ScriptedProvider as ScriptedProvider
    from .models.stream import ModelContext as ModelContext
    from .models.stream import ResponseStream as ResponseStream
    from .models.stream import StreamFn as StreamFn
    from .models.stream import StreamOptions as StreamOptions
    from .profile import Profile as Profile
    from .profile import UnknownProfileError as UnknownProfileError
    from .profile import get_profile as get_profile
    from .tools.tool import Tool as Tool

#: Where each public name lives. `tests/test_public_face.py` holds this against the imports above.
_HOMES = {
    ".abort": ("AbortController", "AbortSignal"),
    ".agent.agent": ("Agent",),
    ".agent.call": ("ToolCallOutcome", "run_tool_call"),
    ".agent.config": ("LoopConfig",),
    ".agent.delivery": ("Listener",),
    ".agent.hooks": (
        "AfterToolCallContext",
        "AfterToolCallResult",
        "AgentContext",
        "BeforeToolCallContext",
        "BeforeToolCallResult",
        "Hooks",
        "NextTurn",
        "RequestContext",
        "RequestUpdate",
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
        "StreamEvent",
        "ToolExecutionEnd",
        "ToolExecutionStart",
        "ToolExecutionUpdate",
        "TurnEnd",
        "TurnStart",
    ),
    ".messages": (
        "AssistantMessage",
        "CustomMessage",
        "ImageContent",
        "Message",
        "Model",
        "SystemMessage",
        "TextContent",
        "ThinkingContent",
        "ToolCall",
        "ToolDeclaration",
        "ToolResult",
        "ToolResultMessage",
        "Usage",
        "UserMessage",
    ),
    ".models.default": ("NoStreamFunctionError", "get_default_stream_fn", "set_default_stream_fn"),
    ".models.scripted": ("ScriptedProvider",),
    ".models.stream": ("ModelContext", "ResponseStream", "StreamFn", "StreamOptions"),
    ".profile": ("Profile", "UnknownProfileError", "get_profile"),
    ".tools.tool": ("Tool",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
