"""What a departure is, and the list of all that were entered.

A departure takes the lines behind the command that enters a ruling, and gives the changed ones; what it cannot change
it leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from pi_trio.conformance.failed import is_failed_answer
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


def is_of_the_closing(event: Object) -> bool:
    return event["type"] in ("turn_end", "agent_end") or is_failed_answer(event.get("message"))
