"""The kinds of cases over a WebSocket, as `stream_kinds.py` has those over an event stream.

A message that the client decodes in the background, and one that fails it, overtake others that have come with them: so
most messages are held.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .cases import ABORT, STALL, frames
from .garbling import garbled, refusal, shuffled
from .pieces import binary, held, messages, streamed
from .spoken import Spoken
from .stream_kinds import LATE, Made, not_there


def _messages(spoken: Spoken, chance: Random, _: Any) -> Made:
    """As it should be."""
    return spoken, {}, [frames(messages(spoken.events), end=chance.choice(("open", "close")))]


def _messages_drip(spoken: Spoken, chance: Random, _: Any) -> Made:
    """A message at a time, and each partial compared."""
    steps = held(messages(spoken.events))
    return spoken, {"partials": len(steps) < 80}, [frames(steps)]


def _messages_cut(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Ended after any message; an event stream answers whoever tries that next."""
    texts = messages(spoken.events)
    texts = texts[: chance.randint(0, len(texts))]
    end = chance.choice(("close", "drop", "reset"))
    code, reason = chance.choice(
        ((1000, ""), (1001, "going away"), (1008, "policy"), (1009, ""), (1011, "bad"), (4000, "ünï"))
    )
    return spoken, {}, [frames(texts, end=end, code=code, reason=reason), streamed(spoken)]


def _messages_garbled(spoken: Spoken, chance: Random, _: Any) -> Made:
    """A message that is no JSON, or not the JSON that it should be."""
    events = list(spoken.events)
    if events:
        at = chance.randrange(len(events))
        events[at] = garbled(events[at], chance)
    return spoken, {}, [frames(held(messages(events)), end="close"), streamed(spoken)]


def _messages_out_of_order(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Messages that come twice, not at all, or in another place."""
    return spoken, {}, [frames(messages(shuffled(spoken.events, chance)), end="close"), streamed(spoken)]


def _messages_binary(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Some messages are binary."""
    steps = [binary(text) if chance.random() < 0.3 else text for text in messages(spoken.events)]
    return spoken, {}, [frames(held(steps))]


def _handshake_refused(spoken: Spoken, chance: Random, refuse: Callable[[Random], Any]) -> Made:
    """No WebSocket, but an event stream."""
    refused = refusal(chance, refuse)
    if refused["status"] == 401:
        refused["status"] = 403  # Node's own WebSocket asks again after a 401, before Pi hears of it
    return spoken, {}, [refused, streamed(spoken)]


def _messages_aborted(spoken: Spoken, chance: Random, _: Any) -> Made:
    """An abort while the server holds, or by whoever gets an event."""
    texts = messages(spoken.events)
    if chance.random() < 0.5:
        return spoken, {}, [frames([*texts[: chance.randint(0, len(texts))], ABORT])]
    return spoken, {"abort": chance.randint(-1, len(texts))}, [frames(held(texts))]


def _messages_late(spoken: Spoken, chance: Random, _: Any) -> Made:
    """Silence after any message, until the client has had enough."""
    texts = messages(spoken.events)
    return (
        spoken,
        {"options": {"timeoutMs": LATE}},
        [frames([*texts[: chance.randint(0, len(texts))], STALL]), streamed(spoken)],
    )


SOCKET_KINDS: dict[Callable[..., Made], int] = {
    _messages: 20,
    _messages_drip: 10,
    _messages_cut: 14,
    _messages_garbled: 10,
    _messages_out_of_order: 10,
    _messages_binary: 4,
    _handshake_refused: 6,
    _messages_aborted: 10,
    _messages_late: 1,
    not_there: 2,
}
