"""What is told of calls: names, arguments, details and texts of nobody's, and when."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.failed import is_failed_result
from pi_trio.conformance.fixed_texts import ABORTED, BLOCKED
from pi_trio.conformance.lines import event_of
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
    content = [{"type": "text", "text": ABORTED}]

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
