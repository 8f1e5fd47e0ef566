"""Who hears of the closing, when, and what goes with it."""

from __future__ import annotations

from pi_trio.conformance.lines import event_of, is_ask
from pi_trio.conformance.protocol import Object

from .departure import (
    Lines,
    departure,
    is_of_the_closing,
)


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
def the_end_of_a_cut_call_has_another_signal(lines: Lines) -> Lines:
    """With the end of a call that failed goes an abort that was none, or none where there was one."""

    def change(line: Object) -> Object:
        event = event_of(line)
        cut = event is not None and is_ask(line) and event.get("isError") is True
        return {**line, "aborted": not line["aborted"]} if cut else line

    return [change(line) for line in lines]


@departure
def a_listener_is_told_nothing_of_the_signal(lines: Lines) -> Lines:
    """Neither that the run was aborted nor that it was not."""

    def change(line: Object) -> Object:
        event = event_of(line)
        closes = event is not None and is_ask(line) and is_of_the_closing(event)
        return {key: value for key, value in line.items() if key != "aborted"} if closes else line

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
