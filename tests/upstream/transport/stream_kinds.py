"""The kinds of cases over an event stream: each a function that makes the answers, with its weight in `KINDS`.

Where the client must see a chunk by itself, a hold follows it: Node's fetch joins the chunks that have arrived when
they are read. So what depends on the boundaries holds, and what need not does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from . import event_stream
from .cases import ABORT, STALL, answer, chunk
from .garbling import BODIES, corrupted, garbled, refusal, shuffled
from .pieces import cut, cut_at, held, joined, written
from .spoken import Spoken

Made = tuple[Spoken, dict[str, Any], list[dict[str, Any]]]
"""What was said, what is added to the call, and the answers."""

#: A time limit in milliseconds: all but what is late must be in time on a busy machine.
LATE = 1500


def _whole(spoken: Spoken, chance: Random, _: Any) -> Made:
    """As it should be, in any framing."""
    steps = [chunk(piece) for piece in event_stream.plain(spoken.events)]
    return spoken, {}, [answer(steps, framing=chance.choice(("chunked", "chunked", "length", "close")))]


def _odd(spoken: Spoken, chance: Random, _: Any) -> Made:
    """The same, written as the format allows, in one piece or many; now and then some bytes are no UTF-8."""
    body = b"".join(event_stream.odd(spoken.events, chance))
    if chance.random() < 0.15:
        body = corrupted(body, chance)
    return spoken, {}, [answer(cut(body, chance, chance.choice((0, 3, 8))))]


def _split(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Cut at a few random places."""
    return spoken, {}, [answer(cut(written(spoken, chance), chance, chance.randint(1, 10)))]


def _characters(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Cut inside characters of several bytes, and between CR and LF."""
    body = written(spoken, chance)
    inside = [at for at in range(1, len(body)) if body[at] & 0xC0 == 0x80 or body[at - 1 : at + 1] == b"\r\n"]
    return spoken, {}, [answer(cut_at(body, chance.sample(inside, min(len(inside), 10))))]


def _bytes(spoken: Spoken, chance: Random, _: Any) -> Made:
    """A part of it byte by byte."""
    body = written(spoken, chance)
    start = chance.randrange(max(1, len(body)))
    return spoken, {}, [answer(cut_at(body, range(start, min(start + 30, len(body)))))]


def _drip(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An event at a time, and each partial compared."""
    steps = held([chunk(piece) for piece in event_stream.plain(spoken.events)])
    return spoken, {"partials": len(steps) < 80}, [answer(steps)]


def _truncated(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Ended anywhere, in good order or not."""
    body = written(spoken, chance)
    body = body[: chance.randint(0, len(body))]
    end = chance.choice(("end", "end", "close", "reset"))
    framing = "chunked" if end == "close" else chance.choice(("chunked", "chunked", "close"))
    return spoken, {}, [answer(cut(body, chance, chance.choice((0, 2))), end=end, framing=framing)]


def _garbled(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An event or two that are no JSON, or not the JSON that they should be."""
    events = list(spoken.events)
    for _time in range(chance.choice((1, 1, 2))):
        if events:
            at = chance.randrange(len(events))
            events[at] = garbled(events[at], chance)
    return spoken, {}, [answer([chunk(piece) for piece in event_stream.plain(events)])]


def _out_of_order(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Events that come twice, not at all, or in another place."""
    return (
        spoken,
        {},
        [answer([chunk(piece) for piece in event_stream.plain(shuffled(spoken.events, chance))])],
    )


def _refused(spoken: Spoken, chance: Random, refuse: Callable[[Random], Any]) -> Made:
    """Errors in place of an answer, with tries left or not."""
    errors = [refusal(chance, refuse) for _ in range(chance.randint(1, 3))]
    good = answer([chunk(piece) for piece in event_stream.plain(spoken.events)])
    options = {} if (tries := chance.randrange(4)) == 3 else {"maxRetries": tries}
    if chance.random() < 0.2:
        options["maxRetryDelayMs"] = chance.choice((0, 1, 60000))
    if options.get("maxRetryDelayMs") == 0:  # no limit: who asks for a long pause gets it
        for each in errors:
            each["headers"].pop("retry-after", None)
    return spoken, {"options": options}, [*errors, good]


def not_there(spoken: Spoken, chance: Random, _: Any) -> Made:
    """No server, or one that ends the connection before it says anything."""
    if chance.random() < 0.5:
        return spoken, {"url": "{refused}"}, []
    end = chance.choice(("end", "reset"))
    gone: dict[str, Any] = {"steps": [], "framing": "close", "end": end}
    return spoken, {}, [gone, gone]


def _strange(spoken: Spoken, chance: Random, refuse: Callable[[Random], Any]) -> Made:
    """A success that holds no event stream."""
    body = chance.choice((*BODIES, "\n\n\n", "data: [DONE]\n\n", ": ping\n\n", json.dumps(refuse(chance))))
    headers = chance.choice(
        ({}, {"content-type": "application/json"}, {"content-type": "text/event-stream; charset=utf-8"})
    )
    return spoken, {}, [answer([body], status=chance.choice((200, 200, 201)), headers=headers)]


def _late(spoken: Spoken, chance: Random, _: Any) -> Made:
    """No answer until the client has had enough."""
    good = answer([chunk(piece) for piece in event_stream.plain(spoken.events)])
    silent: dict[str, Any] = {"steps": [], "before": [STALL]}
    return spoken, {"options": {"timeoutMs": LATE}}, [silent, good]


def _aborted_held(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An abort while the server holds, after any event."""
    pieces = [chunk(piece) for piece in event_stream.plain(spoken.events)]
    pieces = pieces[: chance.randint(0, len(pieces))]
    steps = pieces if chance.random() < 0.5 else held(pieces)
    return spoken, {}, [answer([*steps, ABORT])]


def _aborted_before(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An abort before the call, or before the head of the answer."""
    if chance.random() < 0.5:
        return spoken, {"abort": -1}, [answer([])]
    return spoken, {}, [{"steps": [], "before": [ABORT]}]


def _aborted_at(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An abort by whoever gets an event."""
    pieces = [chunk(piece) for piece in event_stream.plain(spoken.events)]
    if chance.random() < 0.3:
        pieces = [joined(pieces)]
    return spoken, {"abort": chance.randrange(len(pieces) + 2)}, [answer(held(pieces))]


KINDS: dict[Callable[..., Made], int] = {
    _whole: 14,
    _odd: 10,
    _split: 10,
    _characters: 6,
    _bytes: 4,
    _drip: 8,
    _truncated: 12,
    _garbled: 10,
    _out_of_order: 8,
    _refused: 8,
    not_there: 2,
    _strange: 4,
    _late: 1,
    _aborted_held: 6,
    _aborted_before: 2,
    _aborted_at: 6,
}
