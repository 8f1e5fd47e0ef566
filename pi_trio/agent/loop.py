"""The loop: turns, until there is no reason for another one.

A **turn** is one request, its response, the calls in it and their results. The first turn is due because the
run was asked for. After each turn the loop looks for a reason to go on, in this order:

1. results that the model has not seen (the batch did not terminate), or steering messages: a turn with both;
2. follow-up messages: a turn with them;
3. a "continue" of `finish_turn` that nothing above has fulfilled: a turn with the context alone.

With none of these the run ends. It also ends after a turn whose answer is an error or aborted, with nothing
polled, and when the stop hook says so. That is all the control flow there is; what happens inside a turn
stands in `_turn`, step by step, in the order in which it happens. Errors never are control flow here:
whatever raises fails the run (`run.py`), and `failure.py` closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ..events import AgentEnd, MessageEnd, MessageStart, TurnEnd, TurnStart
from ..messages import AssistantMessage, Message, ToolResultMessage
from .batch import fail_truncated_calls, run_batch
from .config import LoopState
from .delivery import Delivery
from .failure import aborted_turn
from .hooks import NextTurn, PollMessages, RequestContext, RequestUpdate, TurnContext, TurnDecision
from .ledger import FAILED
from .response import respond
from .run import Run
from .transcript import announce_tool_changes
from .wait import Aborted

Pairs = Sequence[tuple[Message, Message | None]]


@attrs.frozen(kw_only=True)
class _Completed:
    """How a turn ended, as far as the question goes whether another one follows."""

    turn: TurnContext | None
    failed: bool = False
    stop: bool = False
    more: bool = False
    asked_to_continue: bool = False


async def run_loop(state: LoopState, opening: Delivery, prompts: Pairs) -> None:
    """Run turns from `agent_start` to `agent_end`.

    Args:
        state: where the run begins; its messages include the prompts already.
        opening: the delivery of `agent_start`, which has begun.
        prompts: the messages that the run is asked with; none for a continuation.
    """
    run = state.run
    await opening.finish()
    run.check()
    await run.emit(TurnStart())
    for message, original in prompts:
        await _say(state, message, original)

    try:
        await _turns(state)
    except Aborted:
        for event, part in aborted_turn(state):
            await run.emit(event, part)
    await run.emit(AgentEnd(messages=tuple(run.ledger.said)))


async def _turns(state: LoopState) -> None:
    """Turns, until there is no reason for another one.

    Raises:
        Aborted: another request would be due, or a hook on the way to it was cut, but the run was aborted (D-10).
    """
    run, config = state.run, state.config
    # The initial poll comes after the prompts' events, before the first request.
    pending = await _poll(run, config.get_steering_messages)
    done: _Completed | None = None
    while True:
        done = await _turn(state, done, pending)
        if done.failed or done.stop:
            return
        pending = await _poll(run, config.get_steering_messages)
        if done.more or pending:
            continue
        pending = await _poll(run, config.get_follow_up_messages)
        if not pending and not done.asked_to_continue:
            return


async def _poll(run: Run, source: PollMessages) -> Sequence[Message]:
    """What a queue gives, None included; nothing after an abort in the cancelling mode (D-10)."""
    return () if run.cancelled else await run.ask(source) or ()


async def _turn(state: LoopState, last: _Completed | None, pending: Sequence[Message]) -> _Completed:
    """One turn. `last` is the turn before it in this run; the first turn has been started already."""
    run, hooks, profile = state.run, state.config.hooks, state.run.profile
    prepared: Sequence[Message] = ()
    if last is not None:
        run.check_abort()
        if profile.prepare_next_turn == "before_turn":
            prepared = await _prepare_next_turn(state, last.turn)
        # Preparation may have taken long. Only an empty first poll is repeated, so one-at-a-time stays
        # one.
        if profile.second_steering_poll and not pending:
            pending = await _poll(run, state.config.get_steering_messages)
        await run.emit(TurnStart())

    # Injection: each message is said first and then enters the context.
    for message, original in declared(state, [*prepared, *pending]):
        run.check_abort()
        await _say(state, message, original)
        state.messages.append(message)

    if profile.prepare_request and hooks.prepare_request is not None:
        request = RequestContext(
            context=state.context(), model=state.model, thinking_level=state.thinking_level
        )
        update: RequestUpdate | None = await run.ask(hooks.prepare_request, request, run.signal)
        if update is not None:
            state.update(update.context, update.model, update.thinking_level)

    answer = await respond(state)
    if answer.stop_reason in FAILED:
        turn = _context_of(state, answer, ())
        await _finish_turn(state, turn)  # may look, may not decide
        await run.emit(TurnEnd(message=answer, tool_results=()))
        return _Completed(turn=turn, failed=True)

    results: tuple[ToolResultMessage, ...] = ()
    more = False
    if calls := run.ledger.calls:
        # The output limit may have cut any of the calls, so none is trusted.
        if answer.stop_reason == "length" and profile.truncated_calls == "failed":
            results = await fail_truncated_calls(state, calls)
            more = True
        else:
            results, terminate = await run_batch(state, answer, calls)
            more = not terminate
        state.messages += results
    turn = _context_of(state, answer, results)

    action = await _finish_turn(state, turn)
    await run.emit(TurnEnd(message=answer, tool_results=results))
    stop = action == "end"
    if profile.prepare_next_turn == "after_turn":
        await _prepare_next_turn(state, turn)
        turn = _context_of(state, answer, results)
    if profile.stop_hook != "finish_turn" and hooks.should_stop_after_turn is not None:
        stop = bool(await run.ask(hooks.should_stop_after_turn, turn, run.signal))
    return _Completed(turn=turn, stop=stop, more=more, asked_to_continue=action == "continue")


async def _finish_turn(state: LoopState, turn: TurnContext | None) -> Any:
    """What `finish_turn` says shall happen; nothing if an abort has cut it, or kept it from starting (D-10)."""
    hook = state.config.hooks.finish_turn
    if hook is None or state.run.profile.stop_hook != "finish_turn":
        return None
    try:
        decision: TurnDecision | None = await state.run.ask(hook, turn, state.run.signal)
    except Aborted:
        return None
    return decision.action if decision is not None else None


async def _prepare_next_turn(state: LoopState, last: TurnContext | None) -> Sequence[Message]:
    """Let the hook change what the run goes on with; gives the messages that it wants said first."""
    hook = state.config.hooks.prepare_next_turn
    if hook is None:
        return ()
    change: NextTurn | None = await state.run.ask(hook, last, state.run.signal)
    if change is None:
        return ()
    state.update(change.context, change.model, change.thinking_level)
    return change.messages or () if state.run.profile.prepared_messages else ()


def declared(state: LoopState, pending: Sequence[Message]) -> Pairs:
    """The pending messages, with what has changed about the tools announced among them (1.0.3)."""
    if not state.run.profile.announce_tool_changes:
        return [(message, message) for message in pending]
    return announce_tool_changes(
        state.system_messages(), [tool.declaration() for tool in state.tools], pending
    )


async def _say(state: LoopState, message: Message, original: Message | None) -> None:
    run = state.run
    run.check()
    if original is not None:
        run.ledger.is_said(original)
    await run.emit(MessageStart(message=message))
    await run.emit(MessageEnd(message=message))


def _context_of(
    state: LoopState, answer: AssistantMessage, results: tuple[ToolResultMessage, ...]
) -> TurnContext | None:
    """What hooks see of a turn; nothing where there are none, because it copies all messages."""
    if not state.config.hooks.see_turns:
        return None
    return TurnContext(
        message=answer,
        tool_results=results,
        context=state.context(),
        new_messages=tuple(state.run.ledger.said),
    )
