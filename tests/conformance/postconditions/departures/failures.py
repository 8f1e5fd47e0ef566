"""What is told of the failure: twice, in a good run, or otherwise than it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pi_trio.conformance.failed import is_failed_answer
from pi_trio.conformance.fixed_texts import BLOCKED, NOTHING_TO_CONTINUE
from pi_trio.conformance.lines import event_of, is_ask
from pi_trio.conformance.protocol import Object

from .departure import (
    Departure,
    Lines,
    departure,
    events,
    events_changed,
    everywhere,
    told,
)


def failed_turn(message: Object, like: Object) -> Lines:
    kinds: list[Object] = [
        {"type": "turn_start"},
        {"type": "message_start", "message": message},
        {"type": "message_end", "message": message},
        {"type": "turn_end", "message": message, "toolResults": []},
    ]
    return [line for event in kinds for line in told(event, like)]


def with_turns(lines: Lines, ends: Callable[[Object], Object | None]) -> Lines:
    """The failure in a turn of its own before each end of a run for which it is given."""
    found: Lines = []
    for line in lines:
        event = event_of(line)
        failure = ends(event) if event is not None and event["type"] == "agent_end" else None
        if event is None or failure is None:
            found.append(line)
            continue
        ended = {**event, "messages": [*event["messages"], failure]}
        changed = (
            {**line, "args": {**line["args"], "event": ended}} if is_ask(line) else {**line, "event": ended}
        )
        # Listeners hear it one after the other; that each hears the whole turn at once is not the point.
        found += [*failed_turn(failure, line), changed]
    return found


@departure
def a_failure_is_told_again(lines: Lines) -> Lines:
    """In a turn of its own behind that in which it was told."""
    return with_turns(lines, lambda end: next(filter(is_failed_answer, end["messages"][::-1]), None))


@departure
def a_good_run_tells_a_failure(lines: Lines) -> Lines:
    """Which is that of another run."""
    failures = [
        event["message"] for _, event in events(lines, "message_end") if is_failed_answer(event["message"])
    ]

    def failure(end: Object) -> Object | None:
        return failures[0] if failures and not any(map(is_failed_answer, end["messages"])) else None

    return with_turns(lines, failure)


@departure
def a_failure_starts_as_another_one(lines: Lines) -> Lines:
    """Its `message_start` names another error than its `message_end`."""

    def change(event: Object) -> Object | None:
        message = event["message"]
        if not is_failed_answer(message):
            return None
        return {**event, "message": {**message, "errorMessage": NOTHING_TO_CONTINUE}}

    return events_changed(["message_start"], change)(lines)


def of_failures(**fields: Any) -> Departure:
    """Other fields in all failed answers."""
    return everywhere(lambda value: {**value, **fields} if is_failed_answer(value) else value)


@departure
def a_failure_is_another_one(lines: Lines) -> Lines:
    """It is told with a text that Pi has for something else."""
    other = {"errorMessage": NOTHING_TO_CONTINUE}
    return everywhere(lambda value: {**value, **other} if value.get("errorMessage") else value)(lines)


@departure
def an_operation_raises_another_error(lines: Lines) -> Lines:
    """It settles with a text that Pi has for something else."""
    return [
        {**line, "error": BLOCKED} if line.get("tell") == "settled" and "error" in line else line
        for line in lines
    ]


@departure
def a_failure_has_a_time_that_is_none(lines: Lines) -> Lines:
    """A text in place of a number."""
    return of_failures(timestamp="yesterday")(lines)


@departure
def a_cut_answer_keeps_what_it_began_with(lines: Lines) -> Lines:
    """An answer that is cut has a part that the provider gave earlier, and has gone on from."""
    pushed = [line["send"]["event"] for line in lines if line.get("send", {}).get("cmd") == "push"]
    parts = [event["partial"]["content"] for event in pushed if "partial" in event]
    early = next((part for part in parts[:-1] if "".join(block.get("text", "") for block in part)), None)
    return lines if early is None else of_failures(content=early)(lines)


@departure
def an_update_of_a_failed_answer(lines: Lines) -> Lines:
    """The failure's message grows by what nobody gave."""
    found: Lines = []
    for line in lines:
        found.append(line)
        event = event_of(line)
        if event is not None and event["type"] == "message_start" and is_failed_answer(event["message"]):
            grown = {"type": "text_delta", "contentIndex": 0, "delta": "x"}
            update = {"type": "message_update", "message": event["message"], "assistantMessageEvent": grown}
            found += told(update, line) if not is_ask(line) else []
    return found
