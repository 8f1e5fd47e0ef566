"""One tool call, from the model's words to a result: prepare, execute, finalise. No events, no messages, no order.

**Prepare** finds the tool, validates the arguments and asks `before_tool_call`. The first thing that stands
in the way makes an error result at once, and the tool is never called. **Execute** calls the tool; an
exception becomes an error result. **Finalise** asks `after_tool_call` what to change. Errors of tools and of
these two hooks never leave this file: they are results, for the model to read.

`batch.py` puts events and order around this; `run_tool_call` is the same without them, for tools that call
other tools.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

import attrs
import trio

from ..abort import AbortController, AbortSignal
from ..events import ToolExecutionEnd, ToolExecutionStart
from ..jsonvalue import ABSENT, JSON, Number, freeze, thaw
from ..messages import AssistantMessage, TextContent, ToolCall, ToolResult, ToolResultMessage
from ..profile import PI_1_6_0, Profile
from ..texts import BLOCKED, NOT_FOUND, OPERATION_ABORTED
from ..timestamps import now
from ..tools.context import ToolAbortedError
from ..tools.tool import Delivered, Tool, UpdateFn
from ..tools.validate import InvalidArguments, validate_arguments
from ..wire import maker
from .hooks import (
    AfterToolCallContext,
    AfterToolCallResult,
    AgentContext,
    BeforeToolCallContext,
    BeforeToolCallResult,
    Hooks,
)
from .interrupts import call_user
from .ledger import CallRecord, Outcome
from .nursery import bare, contained
from .run import ask_directly, logger
from .wait import Aborted

#: Made of what is frozen already.
_start: Final[Callable[[str, str, JSON], ToolExecutionStart]] = maker(ToolExecutionStart)
_end: Final[Callable[[str, str, ToolResult, JSON, Number | None], ToolExecutionEnd]] = maker(
    ToolExecutionEnd, "duration_ms"
)
_answer: Final[Callable[..., ToolResultMessage]] = maker(
    ToolResultMessage, "content", "details", "usage", "added_tool_names", "duration_ms"
)

#: Calls a function and awaits its answer; may raise `Cut` or `Aborted` (`wait.py`).
Ask: TypeAlias = Callable[..., Awaitable[Any]]


@attrs.frozen(kw_only=True)
class Prepared:
    """A call that may run, with the arguments that the tool will get."""

    call: ToolCall
    tool: Tool
    args: Any


@attrs.frozen(kw_only=True)
class Caller:
    """What all calls of one answer have in common."""

    profile: Profile
    hooks: Hooks
    signal: AbortSignal
    answer: AssistantMessage
    context: Callable[[], AgentContext]
    tools: Sequence[Tool]
    ask: Ask
    deps: Any = None

    async def prepare(self, call: ToolCall) -> Prepared | Outcome:
        """Get a call ready; an `Outcome` means that it must not run."""
        if self.profile.abort_noticed == "first" and self.signal.aborted:
            return error_outcome(OPERATION_ABORTED)
        for tool in self.tools:
            if tool.name == call.name:
                break
        else:
            return error_outcome(NOT_FOUND.format(call.name))
        try:
            arguments = call.arguments
            if tool.prepare_arguments is not None:
                arguments = call_user(tool.prepare_arguments, thaw(arguments))
            args = validate_arguments(
                call.name,
                tool.parameters,
                arguments,
                call.arguments_error,
                rules=self.profile.argument_rules,
            )
            refusal = await self._before(call, args)
        except Aborted:
            return error_outcome(OPERATION_ABORTED)  # D-10
        except InvalidArguments as error:
            return error_outcome(text_of(error))
        except BaseException as error:
            failure = contained(error)
            logger.warning("what prepares a call raised (call %s)", call.id, exc_info=failure)
            return error_outcome(text_of(failure))
        return refusal if refusal is not None else Prepared(call=call, tool=tool, args=args)

    async def _before(self, call: ToolCall, args: Any) -> Outcome | None:
        answer: BeforeToolCallResult | None = None
        if self.hooks.before_tool_call is not None:
            context = BeforeToolCallContext(
                assistant_message=self.answer, tool_call=call, args=args, context=self.context()
            )
            answer = await self.ask(self.hooks.before_tool_call, context, self.signal)
        if self.signal.aborted and (
            self.hooks.before_tool_call is not None or self.profile.abort_noticed == "after_hook"
        ):
            return error_outcome(OPERATION_ABORTED)
        if answer is None or not answer.block:
            return None
        terminate = answer.terminate is True and self.profile.block_may_terminate
        return error_outcome(answer.reason or BLOCKED, terminate=True if terminate else ABSENT)

    async def execute(self, prepared: Prepared, on_update: UpdateFn, begun: float) -> Outcome:
        """Call the tool. Its updates are `on_update`'s business, also when they come too late.

        The time is taken when the tool has answered; it has `begun` now (trio's clock, in seconds). Cancelling this
        cancels the tool.
        """
        try:
            answer = await self.ask(
                prepared.tool.call, prepared.call.id, prepared.args, self.signal, on_update, self.deps
            )
            result = _result_of(prepared, answer, self.profile)
            is_error = result.is_error is True and self.profile.result_is_error
        except (Aborted, ToolAbortedError):
            result, is_error = error_result(OPERATION_ABORTED), True  # D-10: the tool was cut, or has noticed
        except BaseException as caught:
            error = contained(caught)
            logger.warning("tool %s raised (call %s)", prepared.call.name, prepared.call.id, exc_info=error)
            result, is_error = error_result(text_of(error)), True
        return Outcome(result=result, is_error=is_error, duration_ms=duration(begun, self.profile))

    async def finalise(self, prepared: Prepared, executed: Outcome) -> Outcome:
        """Ask `after_tool_call` about a call that has run."""
        hook = self.hooks.after_tool_call
        if hook is None:
            return executed
        context = AfterToolCallContext(
            assistant_message=self.answer,
            tool_call=prepared.call,
            args=thaw(prepared.args),
            result=executed.result,
            is_error=executed.is_error,
            context=self.context(),
        )
        try:
            change: AfterToolCallResult | None = await self.ask(hook, context, self.signal)
            return executed if change is None else _changed(executed, change, self.profile)
        except Aborted:
            return executed  # D-10: whether the hook was cut or never started, the result stays
        except BaseException as caught:
            error = contained(caught)
            logger.warning("after_tool_call raised (call %s)", prepared.call.id, exc_info=error)
            return attrs.evolve(executed, result=error_result(text_of(error)), is_error=True)


def _result_of(prepared: Prepared, answer: object, profile: Profile) -> ToolResult:
    match answer:
        case ToolResult():
            added = _added_tools(answer, profile)
            if added and not (isinstance(added, list) and all(isinstance(name, str) for name in added)):
                raise TypeError(
                    f"Tool {prepared.call.name} returned addedToolNames that are no list of names"
                )
            return answer
        case str():
            return ToolResult(content=(TextContent(text=answer),))
        case None:
            raise TypeError(f"Tool {prepared.call.name} returned nothing")
        case _:
            raise TypeError(f"Tool {prepared.call.name} returned {type(answer).__name__}, not a ToolResult")


def _changed(executed: Outcome, change: AfterToolCallResult, profile: Profile) -> Outcome:
    """The outcome with the hook's replacements; a null replaces nothing."""

    def given(name: str) -> bool:
        return name in profile.after_tool_call_replaces and getattr(change, name) not in (None, ABSENT)

    old = executed.result
    if not profile.unnamed_result_fields_survive:
        old = ToolResult(content=old.content, details=old.details, terminate=old.terminate)
    replaced = {name: getattr(change, name) for name in profile.after_tool_call_replaces if given(name)}
    if given("content") and "structured_content" in profile.after_tool_call_replaces:
        # Structured content says the same as the content it came with, so it goes with it.
        replaced.setdefault("structured_content", ABSENT)
    is_error: Any = executed.is_error if change.is_error in (None, ABSENT) else freeze(change.is_error)
    return attrs.evolve(executed, result=attrs.evolve(old, **replaced), is_error=is_error)


def error_result(text: str, *, terminate: Any = ABSENT) -> ToolResult:
    """The result that the loop itself gives a call."""
    return ToolResult(content=(TextContent(text=text),), details={}, terminate=terminate)


def error_outcome(text: str, *, terminate: Any = ABSENT) -> Outcome:
    """The outcome of a call that was never executed."""
    return Outcome(result=error_result(text, terminate=terminate), is_error=True)


def start_of(record: CallRecord) -> ToolExecutionStart:
    """A call's start, with its arguments as the model gave them."""
    call = record.call
    return _start(call.id, call.name, call.arguments)


def end_of(record: CallRecord) -> ToolExecutionEnd:
    """A call's end, with its outcome."""
    call, outcome = record.call, record.outcome
    assert outcome is not None
    return _end(call.id, call.name, outcome.result, outcome.is_error, outcome.duration_ms)


def answer_of(record: CallRecord, profile: Profile) -> ToolResultMessage:
    """What the model is told about a call."""
    call, outcome = record.call, record.outcome
    assert outcome is not None
    result = outcome.result
    content: Any = result.content
    if content is ABSENT and profile.empty_content_filled:
        content = ()
    usage = result.usage if "usage" in profile.result_message_carries else None
    added: Any = _added_tools(result, profile)
    names = tuple(added) if added else None
    return _answer(
        call.id,
        call.name,
        content,
        result.details,
        usage,
        names,
        outcome.is_error,
        outcome.duration_ms,
        now(),
    )


def _added_tools(result: ToolResult, profile: Profile) -> object:
    """What a result says of tools that came with it, where its message tells of them."""
    return result.extra.get("addedToolNames") if "addedToolNames" in profile.result_message_carries else None


def text_of(error: BaseException) -> str:
    """What an exception says, without the groups of nurseries; its type's name if it says nothing."""
    error = bare(error)
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def duration(begun: float, profile: Profile) -> int | None:
    """How long a call has been executing since `begun` (trio's clock, in seconds), in whole milliseconds (1.6.0)."""
    return round((trio.current_time() - begun) * 1000) if profile.durations else None


@attrs.frozen(kw_only=True)
class ToolCallOutcome:
    """What came of `run_tool_call`. The duration is in milliseconds, None if the tool was not executed."""

    tool_call: ToolCall
    result: ToolResult
    is_error: bool
    duration_ms: int | None = None


async def run_tool_call(
    tool_call: ToolCall,
    *,
    assistant_message: AssistantMessage,
    context: AgentContext,
    tools: Sequence[Tool] | None = None,
    hooks: Hooks | None = None,
    signal: AbortSignal | None = None,
    on_update: UpdateFn | None = None,
    deps: Any = None,
    profile: Profile = PI_1_6_0,
) -> ToolCallOutcome:
    """Run one call as the loop would: the same preparation, hooks, execution and finalising; no events, no messages.

    For tools that call other tools, so that the hooks (permission checks, say) see those calls too.

    Args:
        tool_call: the call.
        assistant_message: the message that the hooks see as the call's origin.
        context: the context that the hooks see; its tools are those that can be called, unless `tools` says
            otherwise.
        hooks: `before_tool_call` and `after_tool_call` are used.
        signal: looked at first; an aborted one gives "Operation aborted" and calls nothing.
        on_update: gets the tool's progress while it runs.
        deps: what a decorated function finds as its context's `deps`; in a tool, hand on your own.

    Returns:
        What came of it. A failure of the tool or of a hook is in there with `is_error`; it is never raised.

    A checkpoint. Cancelling it cancels the tool and raises Cancelled (since 1.0.3).
    """
    await trio.lowlevel.checkpoint()
    caller = Caller(
        profile=profile,
        hooks=hooks if hooks is not None else Hooks(),
        signal=signal if signal is not None else AbortController().signal,
        answer=assistant_message,
        context=lambda: context,
        tools=context.tools if tools is None else tools,
        ask=ask_directly,
        deps=deps,
    )
    prepared = await caller.prepare(tool_call)
    if isinstance(prepared, Outcome):
        outcome = prepared
    else:
        open_for_updates = True

        def report(partial: ToolResult) -> Delivered | None:
            return on_update(partial) if open_for_updates and on_update is not None else None

        try:
            executed = await caller.execute(prepared, report, trio.current_time())
        finally:
            open_for_updates = False
        outcome = await caller.finalise(prepared, executed)
    return ToolCallOutcome(
        tool_call=tool_call,
        result=outcome.result,
        is_error=outcome.is_error,
        duration_ms=outcome.duration_ms,
    )
