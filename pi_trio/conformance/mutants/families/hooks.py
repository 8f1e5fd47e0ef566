"""HOOK: the hooks of a call."""

from __future__ import annotations

from copy import deepcopy

import attrs
import trio

from pi_trio.agent import call
from pi_trio.agent.call import Caller
from pi_trio.agent.hooks import AfterToolCallResult
from pi_trio.jsonvalue import ABSENT

from ..planting import planted
from ..wire import asked, replied


@planted("HOOK-01", Caller, "_before")
def before_tool_call_is_not_asked(original):
    """`beforeToolCall` is never asked."""

    async def before(caller, one, args):
        return await original(
            attrs.evolve(caller, hooks=attrs.evolve(caller.hooks, before_tool_call=None)), one, args
        )

    return before


@planted("HOOK-01", Caller, "_before")
def before_tool_call_is_asked_twice(original):
    """`beforeToolCall` is asked twice for each call."""

    async def before(caller, one, args):
        return await original(caller, one, args) or await original(caller, one, args)

    return before


@asked("HOOK-02", "beforeToolCall")
def before_tool_call_gets_raw_arguments(args):
    """`beforeToolCall` gets the arguments as the model wrote them."""
    args["args"] = args["toolCall"]["arguments"]


@asked(("HOOK-02", "HOOK-21"), "beforeToolCall")
def before_tool_call_gets_no_context(args):
    """`beforeToolCall` gets a context without messages."""
    args["context"]["messages"] = []


@planted("HOOK-03", Caller, "_before")
def before_tool_call_gets_a_copy(original):
    """What `beforeToolCall` changes in the arguments is not executed."""
    return lambda caller, one, args: original(caller, one, deepcopy(args))


@planted("HOOK-04", Caller, "_before")
def a_block_blocks_nothing(original):
    """`beforeToolCall` is asked, and not heard."""

    async def before(caller, one, args):
        await original(caller, one, args)

    return before


@planted("HOOK-05", call, "BLOCKED")
def a_block_has_another_text(_):
    """A block without a reason has a text of its own."""
    return "Blocked"


@planted("HOOK-09", Caller, "finalise")
def after_tool_call_only_hears_of_success(original):
    """`afterToolCall` is not asked about a call that failed."""

    async def finalise(caller, prepared, executed):
        return executed if executed.is_error else await original(caller, prepared, executed)

    return finalise


@asked("HOOK-11", "afterToolCall")
def after_tool_call_hears_of_no_error(args):
    """`afterToolCall` is not told that a tool has thrown."""
    args["isError"] = False


@asked("HOOK-11", "afterToolCall")
def after_tool_call_sees_raw_arguments(args):
    """`afterToolCall` gets the arguments as the model wrote them."""
    args["args"] = args["toolCall"]["arguments"]


@planted("HOOK-12", call, "_changed")
def an_override_replaces_all(original):
    """What an override does not name is lost."""

    def changed(executed, change, profile):
        details = {} if change.details in (None, ABSENT) else change.details
        return original(executed, attrs.evolve(change, details=details), profile)

    return changed


@planted(("HOOK-20", "HOOK-09"), Caller, "finalise")
def after_tool_call_is_asked_one_by_one(original):
    """`afterToolCall` of one call waits for that of another."""
    locks = {}

    async def finalise(caller, prepared, executed):
        async with locks.setdefault(caller.signal, trio.Lock()):
            return await original(caller, prepared, executed)

    return finalise


@planted("HOOK-20", Caller, "finalise")
def an_open_after_tool_call_holds_all(original):
    """No call ends while `afterToolCall` of another one is open."""
    numbers, events = {}, {}

    async def finalise(caller, prepared, executed):
        signal = caller.signal
        numbers[signal] = numbers.get(signal, 0) + 1
        outcome = await original(caller, prepared, executed)
        numbers[signal] -= 1
        closed = events.setdefault(signal, trio.Event())
        if numbers[signal]:
            await closed.wait()
        else:
            events.pop(signal).set()
        return outcome

    return finalise


@planted("HOOK-21", Caller, "_before")
def hooks_see_the_results_so_far(original):
    """The context that `beforeToolCall` gets has the results of the calls before."""

    async def before(caller, one, args):
        def context():
            seen = caller.context()
            return attrs.evolve(seen, messages=(*seen.messages, *caller.ask.__self__.ledger.results()))

        return await original(attrs.evolve(caller, context=context), one, args)

    return before


@planted("HOOK-22", Caller, "finalise")
def no_answer_empties_the_result(original):
    """If `afterToolCall` answers nothing, the result is empty."""

    async def finalise(caller, prepared, executed):
        async def ask(*args):
            answer = await caller.ask(*args)
            return AfterToolCallResult(content=()) if answer is None else answer

        return await original(attrs.evolve(caller, ask=ask), prepared, executed)

    return finalise


@replied("HOOK-23", "state", shows="before_tool_call_sees_state")
def the_state_has_no_answer_yet(reply):
    """When `beforeToolCall` is asked, the state does not have the answer."""
    messages = reply["ok"]["messages"] if "ok" in reply else []
    if messages and reply["ok"]["pendingToolCalls"] and messages[-1]["role"] == "assistant":
        messages.pop()
