"""The provider's side of a scenario: the events of one response, whole or broken off, with growing partials.

A response is a tuple of events. It is coherent unless a scenario makes it otherwise: each partial is what the
events so far add up to, so that a subject that rebuilds the message from deltas sees nothing strange.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

from pi_trio.conformance.protocol import Object
from pi_trio.jsontext import print_json

from .speech import assistant, text

Events: TypeAlias = tuple[Object, ...]
"""Provider events, first to last."""

Part: TypeAlias = Object | str | tuple[str, ...]
"""A block of an answer: a string is a text in one delta, a tuple of strings a text in as many."""


def response(*content: Part, stop: str | None = None, **fields: Any) -> Events:
    """The events of one whole response.

    A call's arguments come in one delta, or in none if there are no arguments.

    Args:
        stop: the stop reason; without it `toolUse` if there is a call, else `stop`.
        fields: further fields of the final message.
    """
    partial = assistant(stop="pending")
    events: list[Object] = [{"type": "start", "partial": copy.deepcopy(partial)}]
    for index, part in enumerate(content):
        for event, block in _block_events(index, part):
            partial["content"] = [*partial["content"][:index], block]
            events.append({**event, "partial": copy.deepcopy(partial)})
    has_calls = any(block["type"] == "toolCall" for block in partial["content"])
    reason = stop or ("toolUse" if has_calls else "stop")
    return (*events, done(assistant(*partial["content"], stop=reason, **fields)))


def _block_events(index: int, part: Part) -> Iterator[tuple[Object, Object]]:
    """The events of one block, without their partial, each with the block as it then stands."""
    match part:
        case str() | tuple():
            pieces = (part,) if isinstance(part, str) else part
            block = text("".join(pieces))
        case _:
            pieces = ()
            block = part
    empty: Any
    if block["type"] == "toolCall":
        kind, field, empty, end = "toolcall", "arguments", {}, {"toolCall": block}
        pieces = (print_json(block["arguments"]),) if block["arguments"] else ()
        grown: list[Any] = [{} for _ in pieces]
    else:
        kind = field = block["type"]
        empty, end = "", {"content": block[field]}
        pieces = pieces or (block[field],)
        grown = ["".join(pieces[: n + 1]) for n in range(len(pieces))]
    yield {"type": f"{kind}_start", "contentIndex": index}, {**block, field: empty}
    for piece, value in zip(pieces, grown, strict=True):
        yield {"type": f"{kind}_delta", "contentIndex": index, "delta": piece}, {**block, field: value}
    yield {"type": f"{kind}_end", "contentIndex": index, **end}, block


def done(message: Object) -> Object:
    """The event that ends a response with a complete message."""
    return {"type": "done", "reason": message["stopReason"], "message": message}


def break_off(events: Events, reason: str = "error", says: str = "Overloaded") -> Object:
    """The `error` event with which a provider ends the response that has come as far as `events`.

    The message is the last partial (an empty answer, if there is none). `reason` is `error` or `aborted`.
    """
    message = events[-1]["partial"] if events else assistant()
    return {
        "type": "error",
        "reason": reason,
        "error": {**message, "stopReason": reason, "errorMessage": says},
    }


def broken(events: Events, reason: str = "error", says: str = "Overloaded") -> Events:
    """The events, and behind them how the provider breaks off."""
    return (*events, break_off(events, reason, says))


def until(event_type: str, events: Events) -> Events:
    """The events up to the first of that type, with it."""
    return events[: _first(event_type, events) + 1]


def after(event_type: str, events: Events) -> Events:
    """The events behind the first of that type."""
    return events[_first(event_type, events) + 1 :]


def _first(event_type: str, events: Events) -> int:
    return next(index for index, event in enumerate(events) if event["type"] == event_type)
