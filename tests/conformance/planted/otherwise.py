"""Planted in the runtime as faults are: other ways of being as careful as it is, and some that only look so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from pi_trio.agent import active, failure, response
from pi_trio.agent.failure import failure_message
from pi_trio.agent.run import Run
from pi_trio.conformance.driver.asks import Ask
from pi_trio.events import AgentEnd, MessageEnd, MessageStart, TurnEnd, TurnStart


@attrs.frozen
class Way:
    """One thing that is done in another way: `make` gives it, made of the original."""

    owner: Any
    name: str
    make: Callable[[Any], Any]
    shows: tuple[str, ...]
    """Scenarios in which that shows, and rulings apply."""


def _apart(original):
    """An answer that was cut is closed with an error of its own, and the failure is told in a turn behind it."""

    def closing_events(state, error_text, model):
        ledger = state.run.ledger
        cut = ledger.open_is_response
        for event, part in original(state, error_text, model):
            if not cut or not isinstance(event, MessageEnd):
                yield event, part
                continue
            closed = attrs.evolve(event.message, error_message="cut off")
            told = failure_message(model, closed.stop_reason, error_text)
            yield MessageEnd(message=closed), part
            yield TurnEnd(message=closed, tool_results=()), None
            yield TurnStart(), None
            yield MessageStart(message=told), None
            yield MessageEnd(message=told), None
            yield TurnEnd(message=told, tool_results=()), None
            yield AgentEnd(messages=tuple(ledger.said)), None
            return

    return closing_events


def _waited_for(original):
    """Tools, hooks and the provider are waited for when the run has failed, and not cut off."""
    return lambda run: None


SAFE: Final = (
    Way(
        failure,
        "OPERATION_ABORTED",
        lambda _: "The run has failed",
        ("failed_run_orphan_tool_not_abortable",),
    ),
    Way(response, "NO_RESULT", lambda _: "Nothing came", ("stream_end_without_done_no_result",)),
    Way(active, "closing_events", _apart, ("stream_iteration_throws", "failed_run_stream_goes_on")),
    Way(
        Run,
        "_end_waits",
        _waited_for,
        ("listener_throws_tool_execution_update", "loop_listener_throws_at_update"),
    ),
)


def _passed_over(original):
    """A listener that fails is passed over, and the run goes on."""
    return lambda run, listener, error: None


def _untold(original):
    """Whoever is asked is not told that the answer is not needed any more, and may go on for ever."""

    def withdraw(ask):
        ask.withdrawn = True
        ask.close()

    return withdraw


def _nothing_told(original):
    """A failed run closes what is open, and says nothing of the failure."""

    def closing_events(state, error_text, model):
        return original(state, "", model)

    return closing_events


UNSAFE: Final = (
    Way(
        Ask,
        "withdraw",
        _untold,
        ("failed_run_orphan_tool_not_abortable", "listener_throws_tool_execution_update"),
    ),
    Way(Run, "_listener_failed", _passed_over, ("listener_throws_message_end", "second_listener_throws")),
    Way(active, "closing_events", _nothing_told, ("streamfn_rejects", "listener_throws_message_end")),
)
