"""FAIL: runs that fail."""

from __future__ import annotations

from contextlib import suppress

import attrs

from pi_trio.agent import active, batch, failure, loop
from pi_trio.agent.active import ActiveRun
from pi_trio.agent.batch import _Batch
from pi_trio.agent.delivery import Delivery
from pi_trio.agent.hooks import AfterToolCallContext
from pi_trio.agent.interrupts import give_up
from pi_trio.agent.ledger import FAILED
from pi_trio.agent.lowlevel import LoopRun
from pi_trio.agent.run import Run
from pi_trio.agent.wait import Aborted, Cut, Wait
from pi_trio.events import (
    MessageEnd,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from pi_trio.messages import AssistantMessage, ToolCall, ToolResult

from ..planting import planted


def _closing(change):
    """A failed run is closed otherwise: `change` is given its state and each event, and gives what is told instead."""

    def make(original):
        def closing_events(state, text, model):
            for event, part in original(state, text, model):
                for told in change(state, event):
                    yield told, part
                if event not in change(state, event):
                    state.run.ledger.reduce(event, part)

        return closing_events

    make.__name__, make.__doc__ = change.__name__, change.__doc__
    return make


def _passed_over(*names):
    """A hook of these names that throws is taken to have answered nothing."""

    def make(original):
        async def ask(run, function, *args):
            try:
                return await original(run, function, *args)
            except Exception:
                if function.__name__ not in names:
                    raise
                return args[0] if function.__name__ in ("transform_context", "convert_to_llm") else None

        return ask

    return make


@planted("FAIL-01", Run, "_listener_failed")
def a_failing_listener_is_passed_over(original):
    """A listener that throws changes nothing."""
    return lambda run, listener, error: None


@planted("FAIL-02", Run, "ask")
def a_failing_hook_of_the_request_is_passed_over(original):
    """A `transformContext`, `convertToLlm` or `getApiKey` that throws changes nothing."""
    return _passed_over("transform_context", "convert_to_llm", "get_api_key")(original)


@planted("FAIL-03", Run, "ask")
def a_failing_prepare_next_turn_is_passed_over(original):
    """A `prepareNextTurn` that throws changes nothing."""
    return _passed_over("_prepare_next_turn", "prepare_next_turn_of_loop")(original)


@planted(("FAIL-04", "FAIL-08"), Run, "ask")
def a_failing_finish_turn_is_passed_over(original):
    """A `finishTurn` that throws has decided nothing."""
    return _passed_over("finish_turn")(original)


@planted("FAIL-36", Run, "ask")
def a_failing_should_stop_is_passed_over(original):
    """A `shouldStopAfterTurn` that throws has decided nothing."""
    return _passed_over("should_stop_after_turn")(original)


@planted("FAIL-37", Run, "ask")
def a_failing_prepare_request_is_passed_over(original):
    """A `prepareRequest` that throws changes nothing."""
    return _passed_over("prepare_request")(original)


@planted("FAIL-05", loop, "respond")
def a_failing_stream_is_asked_again(original):
    """When the stream function throws, or its stream breaks, the request is made once more."""

    async def respond(state):
        try:
            return await original(state)
        except Exception:
            return await original(state)

    return respond


@planted("FAIL-06", failure, "failure_message")
def a_failure_is_told_in_other_words(original):
    """The failure message does not have the error's text."""
    return lambda model, reason, text: original(model, reason, "Something went wrong")


@planted("FAIL-07", failure, "failure_message")
def a_failure_is_never_aborted(original):
    """A failure after an abort says "error"."""
    return lambda model, reason, text: original(model, "error", text)


@planted("FAIL-07", failure, "stamped")
def a_cut_answer_is_never_aborted(original):
    """An answer that is cut after an abort says "error"."""
    return lambda state, message: original(state, attrs.evolve(message, stop_reason="error"))


@planted("FAIL-08", active, "closing_events")
@_closing
def the_turn_of_a_failure_does_not_end(state, event):
    """There is no `turn_end` behind the failure message."""
    told = isinstance(event, TurnEnd) and event.message.stop_reason == "error" and not event.tool_results
    return () if told else (event,)


@planted("FAIL-09", ActiveRun, "finish")
def a_failure_is_raised(original):
    """`prompt` of a failed run raises its error."""

    async def finish(self):
        result = await original(self)
        if self.run.failure is not None:
            raise self.run.failure
        return result

    return finish


@planted(("FAIL-11", "FAIL-33"), Run, "_listener_failed")
def late_errors_are_dropped(original):
    """What listeners throw when a run ends is raised by nobody."""

    def listener_failed(run, listener, error):
        original(run, listener, error)
        run.late_errors.clear()

    return listener_failed


@planted(("FAIL-13", "FAIL-35"), Run, "_end_waits")
def a_failure_ends_no_wait(original):
    """A failure waits for tools, hooks and the provider to end by themselves."""
    return lambda run: original(run) if run.failure is None else None


@planted("FAIL-14", Run, "fail")
def a_failure_is_an_abort(original):
    """A failure raises the run's signal."""

    def fail(run, error):
        original(run, error)
        run.controller.abort()

    return fail


@planted(("FAIL-16", "FAIL-01"), Delivery, "has_failed")
def failing_progress_is_passed_over(original):
    """A listener that throws at a report of progress changes nothing."""

    def has_failed(delivery, error):
        if isinstance(delivery._event, ToolExecutionUpdate) and isinstance(error, Exception):
            give_up(delivery._answer)
            delivery._call_next()
        else:
            original(delivery, error)

    return has_failed


@planted("FAIL-18", active, "closing_events")
def a_cut_answer_does_not_end(original):
    """An answer that was open when the run failed has no end, and the failure a message of its own."""

    def closing_events(state, text, model):
        ledger = state.run.ledger
        if ledger.open_is_response:
            ledger.open_message, ledger.open_is_response = None, False
        return original(state, text, model)

    return closing_events


@planted("FAIL-19", failure, "_cut_outcome")
def a_cut_call_has_succeeded(original):
    """A call that a failure has cut gives an empty result."""
    return lambda *args: attrs.evolve(original(*args), result=ToolResult(content=()), is_error=False)


@planted("FAIL-23", active, "closing_events")
def ended_calls_are_not_answered(original):
    """Behind the ends of its calls a failed run tells its failure at once."""

    def closing_events(state, text, model):
        for record in state.run.ledger.calls:
            record.answered = True
        for event, part in original(state, text, model):
            own_end = isinstance(event, TurnEnd) and event.message.stop_reason not in FAILED
            if own_end or isinstance(event, TurnStart):
                state.run.ledger.reduce(event, part)
            else:
                yield event, part

    return closing_events


@planted("FAIL-24", active, "closing_events")
@_closing
def the_failure_takes_the_turn(state, event):
    """The failure is told in the turn whose answer was complete."""
    own_end = isinstance(event, TurnEnd) and event.message.stop_reason not in FAILED
    return () if own_end or isinstance(event, TurnStart) else (event,)


@planted("FAIL-25", active, "closing_events")
@_closing
def a_failure_stands_in_no_turn(state, event):
    """No turn is started for the failure message."""
    return () if isinstance(event, TurnStart) else (event,)


@planted("FAIL-26", _Batch, "_execute")
def closing_asks_after_tool_call(original):
    """`afterToolCall` is asked about a call that a failure has cut."""

    async def execute(whole, record, prepared):
        try:
            await original(whole, record, prepared)
        except Cut:
            hook, caller = whole.caller.hooks.after_tool_call, whole.caller
            if hook is not None:
                context = AfterToolCallContext(
                    assistant_message=caller.answer, tool_call=record.call, args={},
                    result=ToolResult(content=()), is_error=True, context=caller.context(),
                )  # fmt: skip
                hook(context, caller.signal)
            raise

    return execute


@planted("FAIL-28", Delivery, "has_failed")
def a_failing_listener_takes_the_event_along(original):
    """The listeners behind one that throws do not hear the event."""

    def has_failed(delivery, error):
        if not isinstance(error, Exception):
            return original(delivery, error)
        give_up(delivery._answer)
        delivery._audience.failed(delivery._listener, error)
        delivery._listener = None
        return None

    return has_failed


@planted("FAIL-17", active, "closing_events")
def what_a_failing_listener_heard_did_not_happen(original):
    """A message at whose `message_start` a listener throws is not in the transcript."""

    def closing_events(state, text, model):
        ledger = state.run.ledger
        if ledger.open_message is not None and not ledger.open_is_response:
            ledger.open_message = None
        return original(state, text, model)

    return closing_events


@planted("FAIL-29", active, "closing_events")
def what_a_failing_listener_heard_is_forgotten(original):
    """A message at whose `message_start` a listener throws has its end, and is in the transcript for no longer."""

    def closing_events(state, text, model):
        for event, part in original(state, text, model):
            yield event, part
            if isinstance(event, MessageEnd) and event.message.role == "user":
                state.run._reduce.__self__.messages.pop()

    return closing_events


@planted("FAIL-30", Run, "fail")
def the_last_error_is_the_failure(original):
    """Of two listeners that throw at one event the last is the failure."""

    def fail(run, error):
        run.failure = None
        original(run, error)

    return fail


@planted("FAIL-31", Run, "_listener_failed")
def nobody_hears_the_rest_of_a_failure(original):
    """When a listener throws while a failure is told, nobody hears the rest of it."""

    def listener_failed(run, listener, error):
        original(run, listener, error)
        if run._closing:
            run._audience.dropped.update(each for each, _ in run._audience.listeners.entries)

    return listener_failed


@planted("FAIL-32", ActiveRun, "finish")
def a_late_error_is_raised_in_other_words(original):
    """What a listener throws while a failure is told is raised with words of its own."""

    async def finish(self):
        try:
            return await original(self)
        except Exception as error:
            raise RuntimeError("a listener has failed") from error

    return finish


@planted("FAIL-33", Run, "_listener_failed")
def an_error_at_the_end_is_told(original):
    """What a listener throws at `agent_end` is raised with words of its own."""

    def listener_failed(run, listener, error):
        late = run.ledger.ended and not run._closing
        original(run, listener, RuntimeError("a listener has failed") if late else error)

    return listener_failed


@planted("FAIL-34", LoopRun, "finish")
def the_loop_alone_swallows_its_failures(original):
    """The loop alone resolves when it has failed."""

    async def finish(self):
        try:
            return await original(self)
        except Exception:
            return ()

    return finish


@planted("FAIL-38", active, "closing_events")
def the_calls_of_a_cut_answer_are_closed(original):
    """The calls of an answer that was cut are started and ended."""

    def closing_events(state, text, model):
        for event, part in original(state, text, model):
            yield event, part
            if isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage):
                for block in event.message.content:
                    if isinstance(block, ToolCall):
                        named = {"tool_call_id": block.id, "tool_name": block.name}
                        yield ToolExecutionStart(**named, args=block.arguments), None
                        yield ToolExecutionEnd(**named, result=ToolResult(content=()), is_error=True), None

    return closing_events


@planted("FAIL-39", failure, "is_sequential")
def a_sequential_batch_is_closed_as_a_parallel_one(original):
    """All ends of a sequential batch that a failure closes come before its results."""
    return lambda state, records: False


@planted("FAIL-15", Delivery, "hear")
def a_failure_cuts_deliveries(original):
    """A listener that holds an event when the run fails is not waited for."""

    async def hear(delivery):
        run = delivery._audience.failed.__self__
        if run.failure is not None or run.cancelled:
            await original(delivery)
            return
        held = delivery._listener
        with suppress(Cut, Aborted), Wait(run) as wait:
            await wait.outside(original(delivery))
        if delivery._listener is held:
            delivery._call_next()

    return hear


@planted(("FAIL-16", "FAIL-13"), batch, "_Updates")
def failing_progress_waits_for_the_tool(original):
    """A listener that throws at a report of progress fails the run when the tool has returned."""

    class Patient(original):
        def __init__(self, *args):
            super().__init__(*args)
            self._failed = []

        def report(self, partial):
            report = super().report(partial)
            if report is not None:
                audience = report.delivery._audience
                keep = attrs.evolve(audience, failed=lambda *failure: self._failed.append(failure))
                report.delivery._audience = keep
            return report

        async def delivered(self):
            await super().delivered()
            for listener, error in self._failed:
                self._run._listener_failed(listener, error)

    return Patient
