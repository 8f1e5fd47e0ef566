"""TOOL: calls and their batch, besides what was found in ports."""

from __future__ import annotations

import attrs
import trio

from pi_trio.agent import batch, call, ledger
from pi_trio.agent.batch import _Batch, _Updates, end, start
from pi_trio.agent.call import Caller, error_result
from pi_trio.agent.ledger import Outcome
from pi_trio.agent.run import Run
from pi_trio.jsonvalue import thaw
from pi_trio.messages import ToolResult

from ..planting import planted
from ..wire import asked, heard, replied
from .ports_batch import answer_all, launch_all, prepare


@planted("TOOL-01", ledger, "records_of")
def the_last_call_starts_first(original):
    """The calls of an answer are started in reverse order."""
    return lambda answer: original(answer)[::-1]


@heard("TOOL-02", "tool_execution_start")
def starts_have_no_arguments(event):
    """`tool_execution_start` has no arguments."""
    event["args"] = {}


@heard("TOOL-03", "tool_execution_end")
def ends_name_no_tool(event):
    """`tool_execution_end` does not name the tool."""
    event["toolName"] = ""


@heard("TOOL-04", "tool_execution_update")
def updates_have_no_arguments(event):
    """`tool_execution_update` has no arguments."""
    event["args"] = {}


@planted("TOOL-08", _Batch, "parallel")
def refused_calls_end_last(original):
    """In a parallel batch a refused call ends when all others have ended."""

    async def parallel(whole):
        ready = []
        for record in whole.records:
            await start(whole.run, record)
            prepared = await whole.caller.prepare(record.call)
            if isinstance(prepared, Outcome):
                record.outcome = prepared
            else:
                ready.append((record, prepared))
        await launch_all(whole, ready)
        for record in whole.records:
            if not record.ended:
                await end(whole.run, record)
        return await answer_all(whole, whole.records)

    return parallel


@planted("TOOL-09", _Batch, "parallel")
def the_last_call_is_launched_first(original):
    """The calls of a parallel batch are launched in reverse order."""

    async def parallel(whole):
        ready = []
        for record in whole.records:
            await start(whole.run, record)
            await prepare(whole, record, ready.append)
        await launch_all(whole, ready[::-1])
        return await answer_all(whole, whole.records)

    return parallel


@planted("TOOL-12", call, "NOT_FOUND")
def an_unknown_tool_is_refused_in_other_words(_):
    """A call of an unknown tool is refused with a text of its own."""
    return "There is no tool called {}"


@planted("TOOL-13", call, "call_user")
def arguments_are_not_prepared(original):
    """A tool's `prepareArguments` is not called."""
    return lambda function, arguments: arguments


@planted("TOOL-14", call, "validate_arguments")
def arguments_are_not_validated(original):
    """A tool is called with arguments that do not fit its schema."""

    def validate_arguments(name, parameters, arguments, *rest, **rules):
        try:
            return original(name, parameters, arguments, *rest, **rules)
        except call.InvalidArguments:
            return thaw(arguments)

    return validate_arguments


@planted("TOOL-19", Caller, "execute")
def a_throw_is_a_result(original):
    """What a tool throws is a result like any other."""

    async def execute(caller, prepared, *given):
        return attrs.evolve(await original(caller, prepared, *given), is_error=False)

    return execute


@planted("TOOL-21", _Updates, "delivered")
def updates_are_not_waited_for(original):
    """A call goes on while its reports are still being heard."""

    async def delivered(updates):
        await trio.lowlevel.cancel_shielded_checkpoint()

    return delivered


def _nothing_ends_well(original):
    """The end of a call that has returned nothing does not say that it has failed."""

    async def finalise(caller, prepared, executed):
        text = getattr(executed.result.content[0], "text", "") if executed.result.content else ""
        outcome = await original(caller, prepared, executed)
        return attrs.evolve(outcome, is_error=False) if "returned nothing" in text else outcome

    return finalise


@planted("TOOL-32", Caller, "finalise", release="0.85.0")
def nothing_ended_well(original):
    """The end of a call that has returned nothing does not say that it has failed, in 0.85.0."""
    return _nothing_ends_well(original)


@planted("TOOL-39", Caller, "finalise")
def nothing_ends_well(original):
    """The end of a call that has returned nothing does not say that it has failed."""
    return _nothing_ends_well(original)


@planted(("TOOL-39", "HOOK-11"), call, "_result_of")
def nothing_is_an_empty_result(original):
    """A tool that returns nothing has an empty result."""
    return lambda prepared, answer, profile: (
        ToolResult(content=()) if answer is None else original(prepared, answer, profile)
    )


@replied("TOOL-33", "state")
def a_call_is_pending_twice(reply):
    """Two calls with one id are pending twice."""
    if "ok" in reply:
        reply["ok"]["pendingToolCalls"] *= 2


@planted("TOOL-34", Caller, "execute")
def an_id_is_executed_once(original):
    """Of two calls with one id only the first is executed."""
    executed = set()

    async def execute(caller, prepared, *given):
        key = caller.answer.timestamp, caller.signal, prepared.call.id
        if key in executed:
            return Outcome(result=error_result("executed already"), is_error=True)
        executed.add(key)
        return await original(caller, prepared, *given)

    return execute


@planted("TOOL-37", batch, "answer_of")
def results_say_that_they_terminate(original):
    """A result's message has what the model does not need to know."""

    def answer_of(record, profile):
        message, terminate = original(record, profile), record.outcome.result.terminate
        return attrs.evolve(message, extra={"terminate": terminate}) if terminate is True else message

    return answer_of


@planted("TOOL-38", call, "error_result")
def errors_have_details(original):
    """An error that the loop makes repeats its text in the details."""
    return lambda text, **rest: attrs.evolve(original(text, **rest), details={"error": text})


@planted("TOOL-40", Caller, "prepare")
def the_last_tool_of_a_name_is_called(original):
    """Of two tools with one name the last is called."""
    return lambda caller, one: original(attrs.evolve(caller, tools=caller.tools[::-1]), one)


@asked("TOOL-41", "execute")
def tools_get_another_id(args):
    """A tool is not told the id of its call."""
    args["toolCallId"] = ""


@planted("TOOL-42", Run, "emit")
def events_are_told_one_by_one(original):
    """No event is told before everybody has heard the last one, of whatever call."""

    async def emit(run, event, part=None):
        lock = vars(run).setdefault("lock", trio.Lock())
        async with lock:
            await original(run, event, part)

    return emit


@planted("TOOL-43", call, "validate_arguments")
def arguments_are_not_coerced(original):
    """Arguments that fit when they are coerced are handed on as they came."""

    def validate_arguments(name, parameters, arguments, *rest, **rules):
        original(name, parameters, arguments, *rest, **rules)
        return thaw(arguments)

    return validate_arguments


@planted("TOOL-44", call, "validate_arguments")
def unknown_properties_are_lost(original):
    """Properties that a schema does not name are taken away."""

    def validate_arguments(name, parameters, arguments, *rest, **rules):
        known = parameters.get("properties", {})
        validated = original(name, parameters, arguments, *rest, **rules)
        return {key: value for key, value in validated.items() if key in known}

    return validate_arguments
