"""What a trace of the runtime becomes if what closes a run is told otherwise: each departure is one function.

They are what an implementation may do wrong behind the command that enters a ruling, where it need not do as the
runtime does, nor as the release. A departure takes the lines behind that command, and gives the changed ones; what
it cannot change it leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from pi_trio.conformance.failed import is_failed_answer, is_failed_result
from pi_trio.conformance.fixed_texts import BLOCKED, NOTHING_TO_CONTINUE
from pi_trio.conformance.lines import event_of, is_ask
from pi_trio.conformance.protocol import Object

Lines: TypeAlias = list[Object]
Departure: TypeAlias = Callable[[Lines], Lines]

DEPARTURES: Final[list[Departure]] = []


def departure(change: Departure) -> Departure:
    """Enter it in the list."""
    DEPARTURES.append(change)
    return change


def everywhere(change: Callable[[Object], Object]) -> Departure:
    """Change every object in what a subject says, the inner ones first."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        return change({key: walk(item) for key, item in value.items()}) if isinstance(value, dict) else value

    return lambda lines: [line if "send" in line else walk(line) for line in lines]


def told(event: Object, like: Object) -> Lines:
    """An event as the listener of a line hears it, and lets go of it."""
    if not is_ask(like):
        return [{**like, "event": event}]
    ask = {**like["ask"], "event": event["type"], "nth": like["ask"]["nth"] + 100}
    heard = {**like, "ask": ask, "args": {**like["args"], "event": event}}
    return [heard, {"reply": None}, {"send": {"cmd": "answer", "ask": ask}}]


def behind(lines: Lines, at: int) -> int:
    """Where a line stands that comes behind an event, and what its listener answers."""
    return at + 3 if is_ask(lines[at]) else at + 1


def events(lines: Sequence[Object], kind: str) -> Iterator[tuple[int, Object]]:
    """The events of a type, and where they are heard."""
    for at, line in enumerate(lines):
        event = event_of(line)
        if event is not None and event["type"] == kind:
            yield at, event


def events_changed(kinds: Sequence[str], change: Callable[[Object], Object | None]) -> Departure:
    """Change events of these types; what the change gives nothing for stays as it is."""

    def changed(value: Object) -> Object:
        return (change(value) if value.get("type") in kinds else None) or value

    return everywhere(changed)


# The failure.


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
    return of_failures(errorMessage=NOTHING_TO_CONTINUE)(
        everywhere(
            lambda value: (
                {**value, "errorMessage": NOTHING_TO_CONTINUE} if value.get("errorMessage") else value
            )
        )(lines)
    )


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


# The calls.


def of_failed_results(**fields: Any) -> Departure:
    """Other fields in the results of failed calls, not in their ends."""
    return everywhere(lambda value: {**value, **fields} if is_failed_result(value) else value)


@departure
def a_failed_result_is_of_another_tool(lines: Lines) -> Lines:
    """The result message names another tool than the call."""
    return of_failed_results(toolName="zork")(lines)


@departure
def a_failed_result_has_details_of_its_own(lines: Lines) -> Lines:
    """The result message has other details than the end of its call."""
    return of_failed_results(details={"x": "zork"})(lines)


@departure
def a_failed_result_says_otherwise(lines: Lines) -> Lines:
    """The result message has another text than the end of its call."""
    return of_failed_results(content=[{"type": "text", "text": BLOCKED}])(lines)


@departure
def an_end_says_otherwise(lines: Lines) -> Lines:
    """The end of a failed call has another text than its result."""

    def change(event: Object) -> Object | None:
        if event["isError"] is not True:
            return None
        return {**event, "result": {**event["result"], "content": [{"type": "text", "text": BLOCKED}]}}

    return events_changed(["tool_execution_end"], change)(lines)


@departure
def a_cut_call_is_told_another_reason(lines: Lines) -> Lines:
    """Its end and its result agree, and have the text that a blocked call has."""
    content = [{"type": "text", "text": BLOCKED}]

    def change(value: Object) -> Object:
        if is_failed_result(value):
            return {**value, "content": content}
        if value.get("type") == "tool_execution_end" and value["isError"] is True:
            return {**value, "result": {**value["result"], "content": content}}
        return value

    return everywhere(change)(lines)


@departure
def a_cut_call_has_details_that_nobody_gave(lines: Lines) -> Lines:
    """In its end and in its result."""
    details = {"x": "zork"}

    def change(value: Object) -> Object:
        if is_failed_result(value):
            return {**value, "details": details}
        if value.get("type") == "tool_execution_end" and value["isError"] is True:
            return {**value, "result": {**value["result"], "details": details}}
        return value

    return everywhere(change)(lines)


@departure
def a_call_is_started_with_other_arguments(lines: Lines) -> Lines:
    """Than the answer asks for."""
    return events_changed(["tool_execution_start"], lambda event: {**event, "args": {"x": "zork"}})(lines)


@departure
def a_call_is_started_as_of_another_tool(lines: Lines) -> Lines:
    """Than the answer asks for; its end and its result say the same."""

    def change(value: Object) -> Object:
        about_a_call = "toolCallId" in value and "toolName" in value
        return {**value, "toolName": "zork"} if about_a_call else value

    return everywhere(change)(lines)


@departure
def a_call_ends_as_of_another_tool(lines: Lines) -> Lines:
    """Than it was started as."""
    return events_changed(["tool_execution_end"], lambda event: {**event, "toolName": "zork"})(lines)


@departure
def what_a_tool_has_given_is_lost(lines: Lines) -> Lines:
    """A call whose tool has answered is told as one that was cut."""
    content = [{"type": "text", "text": "Operation aborted"}]

    def change(value: Object) -> Object:
        if value.get("role") == "toolResult" and value.get("isError") is False:
            rest = {key: item for key, item in value.items() if key not in ("structuredContent", "usage")}
            return {**rest, "content": content, "details": {}, "isError": True}
        if value.get("type") == "tool_execution_end" and value["isError"] is False:
            return {**value, "result": {"content": content, "details": {}}, "isError": True}
        return value

    return everywhere(change)(lines)


@departure
def a_result_is_said_while_a_call_runs(lines: Lines) -> Lines:
    """The results of calls that ended are not kept back until the last has."""
    ends = [at for at, _ in events(lines, "tool_execution_end")]
    results = [at for at, event in events(lines, "message_start") if event["message"]["role"] == "toolResult"]
    notified = all("tell" in lines[at] for at in (*ends, *results))
    if not notified or len(ends) < 2 or not results or results[0] < ends[-1]:
        return lines
    pair = lines[results[0] : results[0] + 2]
    rest = [line for line in lines if line not in pair]
    at = rest.index(lines[ends[-1]])
    return [*rest[:at], *pair, *rest[at:]]


@departure
def a_tool_that_is_cut_reports(lines: Lines) -> Lines:
    """What it has done so far, behind its withdrawal."""
    found: Lines = []
    cut: set[str] = set()
    for line in lines:
        if line.get("tell") == "withdrawn" and line["ask"]["fn"] == "execute":
            cut.add(line["ask"]["key"])
        event = event_of(line)
        if event is not None and event["type"] == "tool_execution_end" and event["toolCallId"] in cut:
            about = {key: event[key] for key in ("toolCallId", "toolName")}
            update = {"type": "tool_execution_update", **about, "args": {}, "partialResult": {"content": []}}
            found += told(update, line)
        found.append(line)
    return found


# Who hears of it.


def is_of_the_closing(event: Object) -> bool:
    return event["type"] in ("turn_end", "agent_end") or is_failed_answer(event.get("message"))


@departure
def a_listener_hears_of_the_end_while_another_holds_it(lines: Lines) -> Lines:
    """Who comes later in the row is told at once, and not when those before him have let go."""
    found = list(lines)
    for at in range(len(found) - 3):
        event, late = event_of(found[at]), event_of(found[at + 3])
        if event is None or late != event or not is_of_the_closing(event) or not is_ask(found[at]):
            continue
        if found[at + 1] == {"reply": None} and found[at]["ask"] == found[at + 2]["send"].get("ask"):
            found[at + 1 : at + 4] = [found[at + 3], *found[at + 1 : at + 3]]
    return found


@departure
def a_listener_is_told_of_an_abort_that_was_none(lines: Lines) -> Lines:
    """Or not of one that was: the signal that goes with the events of the closing."""

    def change(line: Object) -> Object:
        event = event_of(line)
        closes = event is not None and is_ask(line) and is_of_the_closing(event)
        return {**line, "aborted": not line["aborted"]} if closes else line

    return [change(line) for line in lines]


@departure
def somebody_hears_of_it_who_does_not_listen(lines: Lines) -> Lines:
    """A listener that nobody has subscribed."""
    found: Lines = []
    for line in lines:
        event = event_of(line)
        found.append(line)
        if event is not None and is_of_the_closing(event) and line.get("tell") == "event":
            found.append({**line, "key": "Z"})
    return found


# What goes on beside.


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
