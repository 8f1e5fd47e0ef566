"""When deliveries of events overlap in a trace: where an implementation that serialises them would show.

The delivery of one event begins when the first listener hears of it and ends when the last has let go. Pi
starts the next one whenever it has something to say, also while a listener still holds an update; some
implementations wait, and may (`delivery: serial`, `update: blocking`, listeners that are not awaited).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from .compare import canonical
from .lines import asks, commands_of, event_of, is_ask
from .protocol import Object

UPDATE: Final = "tool_execution_update"


@attrs.define
class Delivery:
    """One event on its way, as a stretch of a trace; `last` is the index of the line that ends it."""

    event: Object
    first: int
    last: int


def deliveries(lines: Sequence[Object]) -> list[Delivery]:
    """The deliveries in a trace, in the order of their beginnings."""
    found: dict[tuple[str, int], Delivery] = {}
    heard: Counter[tuple[str, str]] = Counter()
    holding: dict[str, Delivery] = {}
    for index, line in enumerate(lines):
        if (who := _listener(line)) is not None and (event := event_of(line)) is not None:
            said = canonical(event)
            heard[who, said] += 1
            delivery = found.setdefault((said, heard[who, said]), Delivery(event, index, index))
            delivery.last = index
            if is_ask(line):
                holding[canonical(line["ask"])] = delivery
                delivery.last = len(lines)
        for address in _answered(line):
            if address in holding:
                holding.pop(address).last = index
    return sorted(found.values(), key=lambda delivery: delivery.first)


def overlap(lines: Sequence[Object]) -> bool:
    """Whether a delivery begins before another has ended."""
    last = -1
    for delivery in deliveries(lines):
        if delivery.first <= last:
            return True
        last = max(last, delivery.last)
    return False


def update_waits(lines: Sequence[Object]) -> bool:
    """Whether a call reports again before its former report was delivered, or twice in one stretch."""
    updates = [delivery for delivery in deliveries(lines) if delivery.event["type"] == UPDATE]
    for index, line in enumerate(lines):
        calls = [command["ask"].get("key") for command in commands_of(line) if command["cmd"] == "update"]
        if len(set(calls)) < len(calls):
            return True
        for delivery in updates:
            if delivery.first < index <= delivery.last and delivery.event.get("toolCallId") in calls:
                return True
    return False


def _listener(line: Object) -> str | None:
    if line.get("tell") == "event":
        return str(line["key"])
    return str(line["ask"]["key"]) if asks(line) == "listener" else None


def _answered(line: Object) -> Iterator[str]:
    return (canonical(command["ask"]) for command in commands_of(line) if command["cmd"] == "answer")
