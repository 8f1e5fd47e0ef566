"""Faults in the course of a run: its turns and queues, abort, failure, and the listeners."""

from __future__ import annotations

import attrs
import trio

from pi_trio.agent import active, loop
from pi_trio.agent.batch import _Batch
from pi_trio.agent.delivery import Delivery
from pi_trio.agent.run import Run
from pi_trio.events import AgentEnd
from pi_trio.messages import AssistantMessage

from ..planting import planted


@planted("QUEUE-02", active, "run_loop", fault="F13", shows="steering_during_text")
def no_poll_after_a_text(original):
    """Steering is not polled after a turn without tools."""

    async def run_loop(state, opening, prompts):
        poll = state.config.get_steering_messages
        state.config = attrs.evolve(
            state.config,
            get_steering_messages=lambda: () if isinstance(state.messages[-1], AssistantMessage) else poll(),
        )
        await original(state, opening, prompts)

    return run_loop


@planted(("QUEUE-06", "TURN-01"), loop, "_turn", fault="F14", shows="follow_up")
def follow_ups_between_turns(original):
    """What is pending is said before the `turn_start` of its turn."""

    async def turn(state, last, pending):
        if last is None:
            return await original(state, last, pending)
        for message in pending:
            await loop._say(state, message, message)
            state.messages.append(message)
        return await original(state, last, ())

    return turn


@planted(("QUEUE-11", "TURN-06"), loop, "_turn", fault="F15", shows="provider_error_with_queues")
def an_error_is_a_turn_as_any_other(original):
    """Queues are polled after an errored turn."""

    async def turn(state, last, pending):
        return attrs.evolve(await original(state, last, pending), failed=False)

    return turn


@planted("ABORT-10", _Batch, "_breaks_off", fault="F16", shows="abort_sequential_at_first_start")
def abort_leaves_calls_unanswered(original):
    """After an abort the calls that are left get nothing."""
    return lambda whole: whole.run.signal.aborted


@planted(("ABORT-18", "RUN-02"), active, "settle", fault="F17", shows="abort_tools_honored")
def abort_is_raised(original):
    """An abort leaves the run as an exception, without closing events."""

    async def settle(run, body, closing, *, grace):
        aborted = RuntimeError("aborted")
        run.signal.on_abort(lambda: run.fail(aborted))
        await original(run, body, lambda text: iter(()) if run.signal.aborted else closing(text), grace=grace)
        if run.signal.aborted:
            run.late_errors.append(aborted)

    return settle


@planted(("ABORT-14", "TURN-07"), loop, "_turn", fault="F18", shows="abort_tools_honored")
def no_aborted_turn(original):
    """After an abort in tools the run ends with their turn."""

    async def turn(state, last, pending):
        done = await original(state, last, pending)
        return attrs.evolve(done, stop=done.stop or state.run.signal.aborted)

    return turn


@planted("QUEUE-12", active, "run_loop", fault="F29", shows="steering_during_prepare_next_turn")
def no_second_poll(original):
    """Steering is not polled again after `prepareNextTurn`."""

    async def run_loop(state, opening, prompts):
        state.run.profile = attrs.evolve(state.run.profile, second_steering_poll=False)
        await original(state, opening, prompts)

    return run_loop


@planted("TURN-21", loop, "_turn", fault="F32", shows="many_turns")
def turns_are_capped(original):
    """The run ends silently after twenty turns."""

    async def turn(state, last, pending):
        done = await original(state, last, pending)
        answers = sum(isinstance(message, AssistantMessage) for message in state.run.ledger.said)
        return attrs.evolve(done, stop=done.stop or answers >= 20)

    return turn


@planted(("FAIL-08", "RUN-02"), active, "closing_events", fault="F24", shows="streamfn_rejects")
def a_failed_run_only_ends(original):
    """A failed run says `agent_end` only."""

    def closing_events(state, error_text, model):
        for event, part in original(state, error_text, model):
            if isinstance(event, AgentEnd):
                yield event, part
            else:
                state.run.reduce_silently(iter([(event, part)]))

    return closing_events


@planted(("FAIL-09", "FAIL-08"), Run, "close", fault="F25", shows="streamfn_rejects")
def a_failed_run_never_ends(original):
    """A run that fails says nothing more, and never settles."""

    async def close(run, events):
        await trio.sleep_forever()

    return close


@planted(("STATE-13", "STATE-14"), Delivery, "hear", fault="F26", shows="listener_held_at_turn_start")
def listeners_are_not_awaited(original):
    """Listeners are called, in order, and not awaited."""

    async def hear(delivery):
        while delivery._listener is not None:
            delivery._call_next()

    return hear


@planted("RUN-17", Run, "emit", fault="F27", shows="agent_end_listener_settlement")
def idle_before_agent_end_is_handled(original):
    """The listeners of `agent_end` are not awaited: the run settles before they are done."""

    async def emit(run, event, part=None):
        if isinstance(event, AgentEnd):
            delivery = run.begin(event, part)
            while delivery._listener is not None:
                delivery._call_next()
        else:
            await original(run, event, part)

    return emit
