"""ABORT: what an abort does, and what it does not. Those behind ABORT-18 show where aborts cancel."""

from __future__ import annotations

from contextlib import suppress

import attrs

from pi_trio.agent import loop, response
from pi_trio.agent.active import ActiveRun
from pi_trio.agent.agent import Agent
from pi_trio.agent.batch import _Updates
from pi_trio.agent.call import Caller, error_outcome, error_result
from pi_trio.agent.response import _Slot
from pi_trio.agent.run import Run, ask_directly
from pi_trio.agent.wait import Aborted, Wait
from pi_trio.errors import AgentBusyError
from pi_trio.events import MessageEnd, MessageStart, TurnStart
from pi_trio.texts import BLOCKED, OPERATION_ABORTED

from ...lines import is_ask
from ..planting import planted
from ..wire import DROP, told, whole


@planted("ABORT-01", Run, "__init__")
def aborts_always_cancel(original):
    """An abort ends what waits for the outside world, though it was to be advice."""

    def init(run, *, abort_mode, **rest):
        original(run, abort_mode="cancel", **rest)

    return init


@planted("ABORT-02", Agent, "abort")
def there_is_nothing_to_abort(original):
    """An abort without a run is refused."""

    def abort(self):
        if self._active is None:
            raise AgentBusyError("there is no run to abort")
        original(self)

    return abort


@told("ABORT-03", "signal")
def nobody_is_signalled(message):
    """An abort reaches none of those who are at work."""
    return DROP


@whole("ABORT-04")
def the_signal_is_always_down(message):
    """Whoever begins after an abort is not told of it."""
    if is_ask(message) and message.get("aborted"):
        message["aborted"] = False


@planted("ABORT-07", Caller, "_before", shows="abort_preflight_sequential")
def a_hook_that_was_open_at_an_abort_lets_the_call_run(original):
    """An abort while `beforeToolCall` is open refuses nothing."""

    async def before(caller, one, args):
        outcome = await original(caller, one, args)
        aborted = outcome is not None and outcome.result.content[0].text == OPERATION_ABORTED
        return None if aborted else outcome

    return before


@planted(("ABORT-13", "TOOL-37", "HOOK-11"), Caller, "execute")
def an_abort_takes_the_results(original):
    """What a tool returns after an abort is not used."""

    async def execute(caller, prepared, *given):
        executed = await original(caller, prepared, *given)
        if not caller.signal.aborted or executed.is_error:
            return executed
        return attrs.evolve(executed, result=error_result(OPERATION_ABORTED), is_error=True)

    return execute


@planted(("ABORT-13", "HOOK-09"), Caller, "finalise")
def after_tool_call_is_not_asked_after_an_abort(original):
    """`afterToolCall` is not asked about a tool that has returned after an abort."""

    async def finalise(caller, prepared, executed):
        return executed if caller.signal.aborted else await original(caller, prepared, executed)

    return finalise


@planted("ABORT-14", loop, "_poll")
def steering_is_not_polled_after_an_abort(original):
    """After an abort that is only advice no queue is polled."""

    async def poll(run, source):
        return () if run.signal.aborted else await original(run, source)

    return poll


@planted("ABORT-15", loop, "respond")
def no_request_after_an_abort(original):
    """After an abort that is only advice no request is made."""

    async def respond(state):
        if state.run.signal.aborted:
            raise Aborted
        return await original(state)

    return respond


@planted("ABORT-16", response, "_deliver")
def an_abort_ends_the_response(original):
    """What the provider sends after an abort is not told."""

    async def deliver(slot, run, events, wait, *, shielded):
        take = slot.take
        slot.take = lambda event: None if run.signal.aborted else take(event)
        await original(slot, run, events, wait, shielded=shielded)

    return deliver


@planted("ABORT-17", _Slot, "finish", shows="abort_then_provider_ignores")
def an_answer_after_an_abort_is_aborted(original):
    """An answer that comes in after an abort is taken for aborted."""

    def finish(slot, final):
        aborted = slot._state.run.signal.aborted
        return original(slot, attrs.evolve(final, stop_reason="aborted") if aborted else final)

    return finish


@planted("ABORT-18", ActiveRun, "finish")
def an_aborted_prompt_raises(original):
    """`prompt` of an aborted run raises."""

    async def finish(self):
        result = await original(self)
        if self.run.signal.aborted:
            raise RuntimeError("aborted")
        return result

    return finish


@planted("ABORT-19", Run, "check_abort")
def hooks_start_after_an_abort(original):
    """Where aborts cancel, hooks are called after one all the same."""
    return lambda run: None


@planted("ABORT-20", loop, "aborted_turn")
def an_aborted_turn_says_what_is_queued(original):
    """Where aborts cancel, steering is said in the aborted turn."""

    def aborted_turn(state):
        for event, part in original(state):
            yield event, part
            polls = getattr(state.config.get_steering_messages, "__self__", None)
            if isinstance(event, TurnStart) and polls is not None:
                for message in polls._steering.drain():
                    yield MessageStart(message=message), None
                    yield MessageEnd(message=message), None

    return aborted_turn


@planted("ABORT-21", Caller, "execute")
def a_cut_tool_has_succeeded(original):
    """A tool that an abort has cut gives an empty result."""

    async def execute(caller, prepared, *given):
        executed = await original(caller, prepared, *given)
        cut = executed.result.content and getattr(executed.result.content[0], "text", "") == OPERATION_ABORTED
        return (
            attrs.evolve(executed, result=attrs.evolve(executed.result, content=()), is_error=False)
            if cut
            else executed
        )

    return execute


@planted("ABORT-22", Caller, "_before")
def a_cut_hook_blocks(original):
    """A `beforeToolCall` that an abort has cut counts as a block."""

    async def before(caller, one, args):
        try:
            return await original(caller, one, args)
        except Aborted:
            return error_outcome(BLOCKED)

    return before


def _not_cut(*names):
    """A hook of these names is waited for, whatever becomes of the run."""

    def make(original):
        async def ask(run, function, *args):
            if function.__name__ in names and not run.cancelled:
                return await ask_directly(function, *args)
            return await original(run, function, *args)

        return ask

    return make


@planted("ABORT-23", Run, "ask")
def after_tool_call_is_not_cut(original):
    """Where aborts cancel, `afterToolCall` is waited for all the same."""
    return _not_cut("after_tool_call")(original)


@planted("ABORT-24", response, "Wait")
def a_stream_is_not_cut(original):
    """Where aborts cancel, the provider is waited for all the same."""

    class Unending(original):
        def end(self):
            if self._run.failure is not None:
                super().end()

    return Unending


@planted("ABORT-25", Run, "ask")
def finish_turn_is_not_cut(original):
    """Where aborts cancel, `finishTurn` is waited for all the same."""
    return _not_cut("finish_turn")(original)


@planted("ABORT-26", loop, "aborted_turn")
def nothing_stands_for_the_request(original):
    """Where aborts cancel, the run just ends where a request would be due."""
    return lambda state: iter(())


@planted("ABORT-27", Run, "ask")
def hooks_of_a_request_are_not_cut(original):
    """Where aborts cancel, the hooks before a request are waited for all the same."""
    return _not_cut("transform_context", "convert_to_llm", "get_api_key", "prepare_request")(original)


@planted("ABORT-28", loop, "_turns")
def an_aborted_turn_is_always_told(original):
    """Where aborts cancel, an aborted turn is told though no request is due."""

    async def turns(state):
        await original(state)
        if state.run.cancelled:
            raise Aborted

    return turns


@planted("ABORT-29", loop, "aborted_turn")
def what_an_abort_found_unsaid_is_lost(original):
    """What was taken from a queue and not said is lost at an abort."""

    def aborted_turn(state):
        state.run.ledger.unsaid.clear()
        yield from original(state)

    return aborted_turn


@planted(("ABORT-30", "FAIL-15"), Run, "emit")
def listeners_are_cut(original):
    """Listeners are cut like everybody else, by an abort that cancels and by a failure."""

    async def emit(run, event, part=None):
        if run.cancelled or run.failure is not None:
            await original(run, event, part)
            return
        with suppress(Aborted), Wait(run) as wait:
            await wait.outside(original(run, event, part))

    return emit


@planted("ABORT-13", _Updates, "report")
def an_abort_ends_all_reports(original):
    """What a tool reports after an abort is not told."""
    return lambda updates, partial: None if updates._run.signal.aborted else original(updates, partial)
