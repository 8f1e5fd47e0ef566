"""How a run ends that was cut: with the events that are owed, so that its stream obeys the grammar of a good one.

Upstream says four events after a failure, whatever was open. Here the ledger tells what is open, and
everything is closed from the inside out (D-02): the open message, the calls that have not ended, the calls
that have no answer, the turn; then the failure message in a turn of its own, unless the open message was the
response itself, which then *is* the failure message; then one `agent_end` with all that was said (D-03). No
hook is called and nothing is polled.

A run that is aborted in the cancelling mode owes less: its calls have ended by themselves, and where upstream would
make a request with a raised signal, one aborted turn is said instead (D-10).

Generators, because each event is reduced into the ledger before the next is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from ..events import (
    AgentEnd,
    AgentEvent,
    MessageEnd,
    MessageStart,
    TurnEnd,
    TurnStart,
)
from ..messages import AssistantMessage, Model, TextContent, Usage
from ..profile import Profile
from ..texts import OPERATION_ABORTED, REQUEST_ABORTED, TRUNCATED
from ..timestamps import now
from .batch import is_sequential
from .call import answer_of, duration, end_of, error_outcome, start_of
from .config import LoopState
from .ledger import CallRecord, Outcome, Part
from .response import stamped

Owed = tuple[AgentEvent, Part]


def closing_events(state: LoopState, error_text: str, model: Model) -> Iterator[Owed]:
    """The events that end a failed run, each to be said before the next is taken.

    Args:
        state: the run as the failure has left it, at rest.
        error_text: what the failure says.
        model: whose name the failure message carries.
    """
    run, ledger = state.run, state.run.ledger
    stop_reason = "aborted" if run.signal.aborted else "error"
    ledger.return_unsaid()  # D-09

    failure: AssistantMessage | None = None
    if (message := ledger.open_message) is not None:
        if ledger.open_is_response and isinstance(message, AssistantMessage):
            failure = stamped(state, attrs.evolve(message, stop_reason=stop_reason, error_message=error_text))
            yield MessageEnd(message=failure), None
        else:
            yield MessageEnd(message=message), _record_of(message, ledger.calls)

    yield from _closed_calls(state)
    if ledger.turn_open and ledger.answer is not None:
        yield TurnEnd(message=ledger.answer, tool_results=ledger.results()), None

    if failure is None:
        failure = failure_message(model, stop_reason, error_text)
        if not ledger.turn_open:
            yield TurnStart(), None
        yield MessageStart(message=failure), None
        yield MessageEnd(message=failure), None
    yield TurnEnd(message=failure, tool_results=()), None
    yield AgentEnd(messages=tuple(ledger.said)), None


def aborted_turn(state: LoopState) -> Iterator[Owed]:
    """The turn that an abort leaves in place of the next request; `agent_end` follows (D-10)."""
    ledger = state.run.ledger
    ledger.return_unsaid()
    if not ledger.turn_open:
        yield TurnStart(), None
    message = stamped(state, failure_message(state.model, "aborted", REQUEST_ABORTED))
    yield MessageStart(message=message), "response"
    yield MessageEnd(message=message), "response"
    yield TurnEnd(message=message, tool_results=()), None


def failure_message(model: Model, stop_reason: str, error_text: str) -> AssistantMessage:
    """The message that says that a run has failed: one empty text block and the error."""
    return AssistantMessage(
        content=(TextContent(text=""),),
        api=model.api,
        provider=model.provider,
        model=model.id,
        usage=Usage.zero(),
        stop_reason=stop_reason,
        error_message=error_text,
        timestamp=now(),
    )


def _closed_calls(state: LoopState) -> Iterator[Owed]:
    """Ends and answers for the calls of the open turn; what has them already gets nothing more."""
    ledger, profile = state.run.ledger, state.run.profile
    answer = ledger.answer
    if answer is None:
        return
    truncated = answer.stop_reason == "length" and profile.truncated_calls == "failed"
    # Calls that never started: an abort gives them start, end and answer since 1.6.0, and nothing before
    # that.
    owed = [
        record for record in ledger.calls if record.started or truncated or profile.abort_answers_every_call
    ]
    if truncated or is_sequential(state, owed):
        for record in owed:
            yield from _end(state, record, truncated)
            yield from _answer(state, record)
    else:
        for record in owed:
            yield from _end(state, record, truncated)
        for record in owed:
            yield from _answer(state, record)


def _end(state: LoopState, record: CallRecord, truncated: bool) -> Iterator[Owed]:
    if record.ended:
        return
    if not record.started:
        yield start_of(record), record
    record.outcome = record.outcome or _cut_outcome(record, truncated, state.run.profile)
    yield end_of(record), record


def _answer(state: LoopState, record: CallRecord) -> Iterator[Owed]:
    if record.answered:
        return
    message = answer_of(record, state.run.profile)
    yield MessageStart(message=message), record
    yield MessageEnd(message=message), record


def _cut_outcome(record: CallRecord, truncated: bool, profile: Profile) -> Outcome:
    """What a call comes to that has no result of its own."""
    if truncated:
        return error_outcome(TRUNCATED.format(record.call.name))
    outcome = error_outcome(OPERATION_ABORTED)
    if record.executing_since is None:
        return outcome
    return attrs.evolve(outcome, duration_ms=duration(record.executing_since, profile))


def _record_of(message: object, records: list[CallRecord]) -> CallRecord | None:
    return next((record for record in records if record.message is message), None)
