"""The hooks: what the loop lets its user see and change, and in which words.

A hook may be a plain function or a coroutine function; it is called inline and its answer is awaited. Every
hook gets copies (a frozen snapshot of the context, tuples of messages), with one exception that Pi has too:
the arguments given to `before_tool_call` are the very ones that the tool will get, and may be changed in
place.

An answer's field that is None (or `ABSENT`) leaves things as they are. Errors: a hook of a tool call that
raises makes an error result; any other hook that raises fails the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import attrs
from attrs.validators import instance_of, optional

from ..abort import AbortSignal
from ..jsonvalue import ABSENT
from ..messages import (
    AssistantMessage,
    Message,
    Model,
    ThinkingLevel,
    ToolCall,
    ToolResult,
    ToolResultMessage,
)
from ..tools.tool import Tool

T = TypeVar("T")
MaybeAwaitable: TypeAlias = T | Awaitable[T]


def _messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple(messages)


def _tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    return tuple(tools)


@attrs.frozen(kw_only=True)
class AgentContext:
    """What the next request is made from.

    Attributes:
        messages: the transcript.
        tools: those that can run.
        system_prompt: up to 0.85.0 only; later the prompt is part of the transcript.
    """

    messages: tuple[Message, ...] = attrs.field(converter=_messages)
    tools: tuple[Tool, ...] = attrs.field(converter=_tools, default=())
    system_prompt: str | None = None


@attrs.frozen(kw_only=True)
class TurnContext:
    """A completed turn.

    Attributes:
        message: its answer.
        tool_results: the results of its calls, in the order of the calls.
        context: what the next request would be made from.
        new_messages: all that this run has added so far, its prompts first.
    """

    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...]
    context: AgentContext
    new_messages: tuple[Message, ...]


@attrs.frozen(kw_only=True)
class BeforeToolCallContext:
    """A call about to run. `tool_call` is as the model made it; `args` are the validated arguments, changeable."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: Any
    context: AgentContext


@attrs.frozen(kw_only=True)
class BeforeToolCallResult:
    """A truthy `block` refuses the call with `reason`; `terminate` (exactly True) asks to end the run
    after the batch.
    """

    block: Any = None
    reason: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    terminate: Any = None


@attrs.frozen(kw_only=True)
class AfterToolCallContext:
    """A call that has run, before it ends. `is_error` says whether `result` is an error."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: Any
    result: ToolResult
    is_error: bool
    context: AgentContext


@attrs.frozen(kw_only=True)
class AfterToolCallResult:
    """Replacements for fields of the result; None and `ABSENT` keep the old value."""

    content: Any = ABSENT
    details: Any = ABSENT
    is_error: Any = ABSENT
    terminate: Any = ABSENT
    usage: Any = ABSENT
    structured_content: Any = ABSENT


@attrs.frozen(kw_only=True)
class NextTurn:
    """What `prepare_next_turn` changes, from this turn on; `messages` (1.0.3) are said at its start."""

    context: AgentContext | None = None
    model: Model | None = None
    thinking_level: ThinkingLevel | None = None
    messages: Sequence[Message] | None = None


@attrs.frozen(kw_only=True)
class RequestContext:
    """What `prepare_request` sees: the next request, before its messages are transformed."""

    context: AgentContext
    model: Model
    thinking_level: ThinkingLevel


@attrs.frozen(kw_only=True)
class RequestUpdate:
    """What `prepare_request` changes, for this request and all later ones of the run."""

    context: AgentContext | None = None
    model: Model | None = None
    thinking_level: ThinkingLevel | None = None


@attrs.frozen(kw_only=True)
class TurnDecision:
    """What `finish_turn` decides: "end" ends the run, "continue" asks for one more turn, anything else nothing."""

    action: Literal["end", "continue"] | None = None


TransformContext: TypeAlias = Callable[[tuple[Message, ...], AbortSignal], MaybeAwaitable[Sequence[Message]]]
ConvertToLlm: TypeAlias = Callable[[tuple[Message, ...]], MaybeAwaitable[Sequence[Message]]]
GetApiKey: TypeAlias = Callable[[str], MaybeAwaitable[str | None]]
BeforeToolCall: TypeAlias = Callable[
    [BeforeToolCallContext, AbortSignal], MaybeAwaitable[BeforeToolCallResult | None]
]
AfterToolCall: TypeAlias = Callable[
    [AfterToolCallContext, AbortSignal], MaybeAwaitable[AfterToolCallResult | None]
]
PrepareNextTurn: TypeAlias = Callable[[AbortSignal], MaybeAwaitable[NextTurn | None]]
PrepareNextTurnWithContext: TypeAlias = Callable[[TurnContext, AbortSignal], MaybeAwaitable[NextTurn | None]]
PrepareRequest: TypeAlias = Callable[[RequestContext, AbortSignal], MaybeAwaitable[RequestUpdate | None]]
FinishTurn: TypeAlias = Callable[[TurnContext, AbortSignal], MaybeAwaitable[TurnDecision | None]]
ShouldStopAfterTurn: TypeAlias = Callable[[TurnContext, AbortSignal], MaybeAwaitable[Any]]
PollMessages: TypeAlias = Callable[[], MaybeAwaitable[Sequence[Message] | None]]


@attrs.frozen(kw_only=True)
class Hooks:
    """The hooks of one run, fixed at its start. A hook that is None costs nothing and changes nothing."""

    transform_context: TransformContext | None = None
    convert_to_llm: ConvertToLlm | None = None
    get_api_key: GetApiKey | None = None
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
    prepare_next_turn: PrepareNextTurnWithContext | None = None
    prepare_request: PrepareRequest | None = None
    finish_turn: FinishTurn | None = None
    should_stop_after_turn: ShouldStopAfterTurn | None = None

    @property
    def see_turns(self) -> bool:
        """Whether one of them is given a `TurnContext`."""
        return not (self.finish_turn is self.prepare_next_turn is self.should_stop_after_turn is None)
