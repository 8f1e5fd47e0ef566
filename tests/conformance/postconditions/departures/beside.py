"""What goes on beside: errors, withdrawals, settlements, and what later runs ask for."""

from __future__ import annotations

from collections.abc import Callable

from pi_trio.conformance.lines import asks, event_of, is_ask
from pi_trio.conformance.protocol import Object

from .departure import (
    Departure,
    Lines,
    departure,
    events,
    is_of_the_closing,
)


@departure
def an_error_that_nobody_handles(lines: Lines) -> Lines:
    """It is told in the last step."""
    return [*lines[:-1], *[{"tell": "unhandled", "error": "(host text)"}] * 9, lines[-1]]


@departure
def what_was_never_asked_is_withdrawn(lines: Lines) -> Lines:
    """A callback of a call that there is not."""
    return [*lines[:-1], {"tell": "withdrawn", "ask": {"fn": "execute", "key": "t99", "nth": 0}}, lines[-1]]


@departure
def what_was_answered_is_withdrawn(lines: Lines) -> Lines:
    """A tool has given its result, and is said to have been cut."""
    answers = [line["send"]["ask"] for line in lines if line.get("send", {}).get("cmd") == "answer"]
    asked = next((ask for ask in answers if ask["fn"] != "listener"), None)
    cut = any(line.get("tell") == "withdrawn" and line["ask"] == asked for line in lines)
    if asked is None or cut:
        return lines
    return [*lines[:-1], {"tell": "withdrawn", "ask": asked}, lines[-1]]


@departure
def an_operation_settles_at_the_very_end(lines: Lines) -> Lines:
    """Long after its run has ended."""
    settled = [line for line in lines if line.get("tell") == "settled"]
    return [*(line for line in lines[:-1] if line not in settled), *settled, lines[-1]]


@departure
def who_waits_for_idleness_waits_longer(lines: Lines) -> Lines:
    """A `waitForIdle` settles long after the run."""
    waits = [line["send"]["op"] for line in lines if line.get("send", {}).get("cmd") == "waitForIdle"]
    settled = [line for line in lines if line.get("tell") == "settled" and line["op"] in waits]
    return [*(line for line in lines[:-1] if line not in settled), *settled, lines[-1]]


def without_ask(lines: Lines, at: int) -> Lines:
    """The lines without one ask, and without what is answered to it."""
    asked = lines[at]["ask"]
    return [
        line
        for nth, line in enumerate(lines)
        if nth != at and ("send" not in line or line["send"].get("ask") != asked)
    ]


@departure
def a_request_is_not_made(lines: Lines) -> Lines:
    """Its answer is said all the same."""
    asked = [at for at, line in enumerate(lines) if is_ask(line) and line["ask"]["fn"] == "streamFn"]
    return without_ask(lines, asked[-1]) if asked else lines


@departure
def a_hook_is_not_asked(lines: Lines) -> Lines:
    """The last one that is due."""
    hooks = (
        "finishTurn",
        "prepareNextTurn",
        "prepareNextTurnWithContext",
        "shouldStopAfterTurn",
        "prepareRequest",
    )
    asked = [at for at, line in enumerate(lines) if is_ask(line) and line["ask"]["fn"] in hooks]
    return without_ask(lines, asked[-1]) if asked else lines


@departure
def an_answer_grows_unseen(lines: Lines) -> Lines:
    """The last updates of an answer that has not failed are not told."""
    updates = [at for at, _ in events(lines, "message_update")]
    return (
        lines
        if not updates or is_ask(lines[updates[-1]])
        else [*lines[: updates[-1]], *lines[updates[-1] + 1 :]]
    )


POLLS = ("getSteeringMessages", "getFollowUpMessages")


@departure
def a_turn_ends_behind_the_poll(lines: Lines) -> Lines:
    """The loop asks for what was queued, and only then says that the turn has ended."""
    found = list(lines)
    for at in range(len(found) - 1):
        event, asked = event_of(found[at]), found[at + 1]
        notified = event is not None and event["type"] == "turn_end" and not is_ask(found[at])
        if notified and asks(asked) in POLLS:
            found[at : at + 2] = [asked, found[at]]
    return found


@departure
def a_later_run_starts_late(lines: Lines) -> Lines:
    """Its `turn_start` is said behind what it was asked with."""
    found = list(lines)
    starts = [at for at, _ in events(lines, "turn_start")]
    for at in starts[-1:]:
        told = found[at : at + 3]
        if all(line.get("tell") == "event" for line in told) and told[1]["event"]["type"] == "message_start":
            found[at : at + 3] = [*told[1:], told[0]]
    return found


def of_states(change: Callable[[Object], Object]) -> Departure:
    """Another state with the events of the closing."""

    def changed(line: Object) -> Object:
        event = event_of(line)
        if event is None or not is_of_the_closing(event):
            return line
        if "state" in line:
            return {**line, "state": change(line["state"])}
        args = line.get("args", {})
        return {**line, "args": {**args, "state": change(args["state"])}} if "state" in args else line

    return lambda lines: [changed(line) for line in lines]


@departure
def a_run_that_closes_is_shown_as_idle(lines: Lines) -> Lines:
    """`isStreaming` is false while the run is not over."""
    return of_states(lambda state: {**state, "isStreaming": False})(lines)


@departure
def queues_are_shown_otherwise(lines: Lines) -> Lines:
    """Full where they are empty, and the other way round."""
    return of_states(lambda state: {**state, "hasQueuedMessages": not state["hasQueuedMessages"]})(lines)


@departure
def what_was_said_is_not_sent(lines: Lines) -> Lines:
    """The first message of a user that was said to its end goes with no request any more."""
    messages = [event["message"] for _, event in events(lines, "message_end")]
    said = next((message for message in messages if message["role"] == "user"), None)

    def without(line: Object) -> Object:
        context = line["args"]["context"]
        left = [message for message in context["messages"] if message != said]
        return {**line, "args": {**line["args"], "context": {**context, "messages": left}}}

    return [without(line) if asks(line) == "streamFn" else line for line in lines]
