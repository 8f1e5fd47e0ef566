"""TURN: what a turn holds, and when another one follows."""

from __future__ import annotations

import attrs

from pi_trio.agent import ledger, loop
from pi_trio.agent.hooks import TurnContext
from pi_trio.agent.ledger import FAILED
from pi_trio.agent.run import Run

from ..planting import planted
from ..wire import asked, heard, wired


@planted("TURN-02", loop, "respond", shows="text_plain")
def two_answers(original):
    """The model is asked twice in each turn, and both answers are said."""

    async def respond(state):
        await original(state)
        return await original(state)

    return respond


@wired("TURN-03")
def injected_behind_the_answer():
    """What is said before the answer is told behind it."""
    held = []

    def change(said, _):
        changed = []
        for message in said:
            event = message.get("event", {})
            role = event.get("message", {}).get("role")
            if event.get("type") in ("message_start", "message_end") and role == "user":
                held.append(message)
                continue
            changed.append(message)
            if event.get("type") == "message_end" and role == "assistant":
                changed += held
                held.clear()
        return changed

    return change


@heard("TURN-04", "turn_end")
def turn_end_has_an_empty_answer(event):
    """The answer in `turn_end` has no content."""
    event["message"] = {**event["message"], "content": []}


@heard("TURN-05", "turn_end")
def turn_end_has_no_results(event):
    """`turn_end` never has results."""
    event["toolResults"] = []


@heard("TURN-05", "turn_end")
def turn_end_has_its_results_backwards(event):
    """`turn_end` has the results of the last call first."""
    event["toolResults"] = event["toolResults"][::-1]


@planted("TURN-08", loop, "_turn")
def a_text_is_not_the_end(original):
    """Behind a first answer without calls the model is asked once more."""

    async def turn(state, last, pending):
        done = await original(state, last, pending)
        return attrs.evolve(done, more=done.more or (last is None and not state.run.ledger.calls))

    return turn


def _deciding(decide):
    """`finish_turn` is asked, and something else is made of what it says."""

    def make(original):
        async def finish_turn(state, turn):
            return decide(await original(state, turn))

        return finish_turn

    make.__name__, make.__doc__ = decide.__name__, decide.__doc__
    return make


@planted("TURN-12", loop, "_finish_turn")
@_deciding
def finish_turn_cannot_end(action):
    """A `finishTurn` that says "end" is not heard."""
    return None if action == "end" else action


@planted("TURN-13", loop, "_finish_turn")
@_deciding
def finish_turn_cannot_continue(action):
    """A `finishTurn` that says "continue" is not heard."""
    return None if action == "continue" else action


@planted("TURN-26", loop, "_finish_turn")
@_deciding
def any_other_action_continues(action):
    """An action that `finishTurn` does not have asks for one more turn."""
    return action if action in (None, "end") else "continue"


@planted("TURN-25", loop, "_finish_turn")
def finish_turn_is_not_asked_of_failed_turns(original):
    """`finishTurn` does not hear of an errored answer."""

    async def finish_turn(state, turn):
        if turn is not None and turn.message.stop_reason in FAILED:
            return None
        return await original(state, turn)

    return finish_turn


@planted("TURN-19", loop, "_prepare_next_turn")
def what_is_prepared_is_forgotten(original):
    """A model or a level that `prepareNextTurn` returns is not used."""

    async def prepare_next_turn(state, last):
        model, level = state.model, state.thinking_level
        messages = await original(state, last)
        state.model, state.thinking_level = model, level
        return messages

    return prepare_next_turn


@planted("TURN-20", ledger, "records_of")
def only_tool_use_is_executed(original):
    """Calls are executed only if the stop reason says so."""
    return lambda answer: original(answer) if answer.stop_reason in ("toolUse", "length") else []


@planted("TURN-20", loop, "_turn")
def a_deferred_answer_ends_the_run(original):
    """An answer that is deferred ends the run, whatever is queued."""

    async def turn(state, last, pending):
        done = await original(state, last, pending)
        answer = state.messages[-1]
        return attrs.evolve(done, stop=done.stop or getattr(answer, "stop_reason", "") == "deferred")

    return turn


@planted("TURN-22", loop, "_turn")
def a_batch_that_terminates_ends_the_run(original):
    """A batch that terminates ends the run, whatever is queued."""

    async def turn(state, last, pending):
        done = await original(state, last, pending)
        called = state.messages[-1].role == "toolResult"
        return attrs.evolve(done, stop=done.stop or (called and not done.more))

    return turn


@asked("TURN-23", "streamFn")
def requests_without_results(args):
    """No request has the results of the turns before."""
    messages = args["context"]["messages"]
    args["context"]["messages"] = [each for each in messages if each["role"] != "toolResult"]


@planted("TURN-24", Run, "ask")
def only_true_stops(original):
    """What `shouldStopAfterTurn` says counts only if it is exactly true."""

    async def ask(run, function, *args):
        answer = await original(run, function, *args)
        stops = args and isinstance(args[0], TurnContext) and not hasattr(answer, "action")
        return answer is True if stops and answer is not None else answer

    return ask


@asked("TURN-29", "prepareNextTurn")
def the_loop_alone_prepares_blindly(args):
    """In the loop alone `prepareNextTurn` is told nothing."""
    args.clear()
