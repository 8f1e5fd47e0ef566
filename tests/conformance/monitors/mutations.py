"""Logs with one fault in them, made from good ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from pi_trio.conformance.protocol import Object


@attrs.frozen
class Mutant:
    """A log with one fault: what kind of fault, and at which event."""

    kind: str
    at: int
    events: Sequence[Object]


def mutants(events: Sequence[Object]) -> Iterator[Mutant]:
    """Each event left out, said twice, swapped with the next one, and with each of its fields changed."""
    log = list(events)
    for at, event in enumerate(log):
        kind = event["type"]
        yield Mutant(f"without {kind}", at, log[:at] + log[at + 1 :])
        yield Mutant(f"twice {kind}", at, log[: at + 1] + log[at:])
        if at + 1 < len(log) and log[at + 1] != event:
            swapped = [*log[:at], log[at + 1], event, *log[at + 2 :]]
            yield Mutant(f"{log[at + 1]['type']} before {kind}", at, swapped)
        for field, changed in _changed(event):
            yield Mutant(f"{kind}: {field}", at, [*log[:at], changed, *log[at + 1 :]])


def _changed(event: Object) -> Iterator[tuple[str, Object]]:
    for field, value in event.items():
        if field in ("message", "assistantMessageEvent") and isinstance(value, dict):
            role = value.get("role", "event")
            for name, other in _others(value):
                yield f"{role}'s {name}", {**event, field: {**value, **other}}
        elif field != "type":
            for name, other in _others({field: value}):
                yield name, {**event, **other}


def _others(holder: Object) -> Iterator[tuple[str, Object]]:
    for field, value in holder.items():
        if isinstance(value, bool):
            yield field, {field: not value}
        elif isinstance(value, str):
            yield field, {field: value + "x"}
        elif isinstance(value, list) and value:
            yield f"{field} shorter", {field: value[:-1]}
            if len(value) > 1 and value != value[::-1]:
                yield f"{field} reversed", {field: value[::-1]}
        elif isinstance(value, dict) and field == "args":
            yield field, {field: {**value, "more": 1}}
        elif isinstance(value, dict) and field in ("result", "partialResult"):
            yield field, {field: {**value, "content": [{"type": "text", "text": "another"}]}}
