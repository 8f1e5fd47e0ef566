"""Recordings, and what is done to them: a plant takes the lines of a trace, and changes one thing in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from pi_trio.conformance.lines import asks, event_of, is_ask
from pi_trio.conformance.monitors import Finding, judge_trace
from pi_trio.conformance.protocol import Object

from .recordings import FORCE, traces

Lines = list[Object]
Plant = Callable[[Lines], Lines]


def recorded(name: str, release: str = "1.6.0", side: str = "pi") -> Lines:
    trace = next(trace for trace in traces(side, release) if trace.name == name)
    return [deepcopy(dict(line)) for line in trace.lines]


def judged(lines: Sequence[Object], release: str = "1.6.0", *, cancelling: bool = False) -> list[Finding]:
    return list(judge_trace(lines, FORCE, [release], cancelling=cancelling).findings)


def at(lines: Lines, match: Callable[[Object], bool], nth: int = 0) -> int:
    return [place for place, line in enumerate(lines) if match(line)][nth]


def ask(fn: str, key: str | None = None) -> Callable[[Object], bool]:
    return lambda line: asks(line) == fn and (key is None or line["ask"].get("key") == key)


def hears(kind: str, key: str = "L") -> Callable[[Object], bool]:
    def match(line: Object) -> bool:
        event = event_of(line)
        return (
            event is not None
            and event["type"] == kind
            and (line["ask"] if is_ask(line) else line)["key"] == key
        )

    return match


def answer(fn: str, **more: str) -> Callable[[Object], bool]:
    def match(line: Object) -> bool:
        command = line.get("send", {})
        return command.get("cmd") == "answer" and {"fn": fn, **more}.items() <= command["ask"].items()

    return match


def settled(line: Object) -> bool:
    return line.get("tell") == "settled" and line["ok"] and line["op"] == "p1"


def asked_behind(match: Callable[[Object], bool], fn: str, key: str, *, aborted: bool) -> Plant:
    """Something is asked that should not be."""

    def plant(lines: Lines) -> Lines:
        line = {"ask": {"fn": fn, "key": key, "nth": 0}, "args": {}, "aborted": aborted}
        lines.insert(at(lines, match) + 1, line)
        return lines

    return plant


def without(match: Callable[[Object], bool], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        del lines[at(lines, match, nth)]
        return lines

    return plant


def twice(match: Callable[[Object], bool], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        place = at(lines, match, nth)
        return [*lines[: place + 1], *lines[place:]]

    return plant


def moved(
    match: Callable[[Object], bool], before: Callable[[Object], bool], nth: int = 0, other: int = 0
) -> Plant:
    def plant(lines: Lines) -> Lines:
        line = lines.pop(at(lines, match, nth))
        lines.insert(at(lines, before, other), line)
        return lines

    return plant


def changed(match: Callable[[Object], bool], change: Callable[[Object], Any], nth: int = 0) -> Plant:
    def plant(lines: Lines) -> Lines:
        change(lines[at(lines, match, nth)])
        return lines

    return plant


def sets(path: str, value: Any) -> Callable[[Object], None]:
    def change(line: Object) -> None:
        *way, last = path.split(".")
        for step in way:
            line = line[int(step) if isinstance(line, list) else step]
        line[last] = value

    return change


def result_at(kind: str) -> Callable[[Object], bool]:
    def match(line: Object) -> bool:
        event = event_of(line)
        return event is not None and event["type"] == kind and event["message"]["role"] == "toolResult"

    return match


def is_result(line: Object) -> bool:
    return (event_of(line) or {}).get("message", {}).get("role") == "toolResult"


def again(kind: str, call: str, later: int) -> Plant:
    """An event of a call comes once more, so many lines later."""

    def plant(lines: Lines) -> Lines:
        place = at(lines, lambda line: (event_of(line) or {}).get("toolCallId") == call and hears(kind)(line))
        lines.insert(place + 1 + later, deepcopy(lines[place]))
        return lines

    return plant


def ends_behind(turns: int) -> Plant:
    """The run ends behind so many turns, whatever is due."""

    def plant(lines: Lines) -> Lines:
        first, second = at(lines, hears("turn_start"), turns), at(lines, hears("agent_end"))
        said = [event["message"] for line in lines[:first] if (event := event_of(line)) is not None
                and event["type"] == "message_end"]  # fmt: skip
        lines[second]["event"]["messages"] = said
        return [*lines[:first], *lines[second:]]

    return plant


ends_at_once = ends_behind(1)


def calls_nothing(lines: Lines) -> Lines:
    """The first answer's calls are not started."""
    answered, ended = at(lines, hears("message_end"), 1), at(lines, hears("turn_end"))
    lines[ended]["event"]["toolResults"] = []
    return [*lines[: answered + 1], *lines[ended:]]


def shows_the_state_late(lines: Lines) -> Lines:
    """With each event comes the state that was right with the one before it."""
    showing = [line for line in lines if "state" in line]
    late = [showing[0]["state"], *(line["state"] for line in showing)]
    for line, state in zip(showing, late, strict=False):
        line["state"] = state
    return lines


def everywhere(match: Callable[[Object], bool], change: Callable[[Object], Any]) -> Plant:
    def plant(lines: Lines) -> Lines:
        for line in filter(match, lines):
            change(line)
        return lines

    return plant


def says(field: str) -> Callable[[Object], bool]:
    """An event of a message that has a field."""
    return lambda line: field in (event_of(line) or {}).get("message", {})


def sent(kind: str) -> Callable[[Object], bool]:
    return lambda line: line.get("send", {}).get("cmd") == kind


def exchanged(one: Callable[[Object], bool], other: Callable[[Object], bool], nth: int = 0) -> Plant:
    """The messages of two commands."""

    def plant(lines: Lines) -> Lines:
        first, second = lines[at(lines, one)]["send"], lines[at(lines, other, nth)]["send"]
        first["message"], second["message"] = second["message"], first["message"]
        return lines

    return plant


def executes_though_it_has_failed(lines: Lines) -> Lines:
    """The calls of a failed answer are started."""
    place = at(lines, hears("message_end"), 1)
    event = {"type": "tool_execution_start", "toolCallId": "t1", "toolName": "a", "args": {}}
    lines.insert(place + 1, {"tell": "event", "key": "L", "event": event})
    return lines


def fails_with_the_words_of_a_tool(lines: Lines) -> Lines:
    words = lines[at(lines, answer("execute"))]["send"]["throw"]
    last = [line for line in lines if hears("message_end")(line) or hears("turn_end")(line)][-2:]
    for line in last:
        line["event"]["message"] |= {"stopReason": "error", "errorMessage": words}
    return lines


THROWS = sets("send.throw", "failed")
