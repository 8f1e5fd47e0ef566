"""What a provider should not say: refusals of all kinds, events that are no JSON or the wrong one, or out of order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from . import event_stream
from .cases import answer

_STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 520, 529)

#: Bodies that no provider should send.
BODIES = (
    "",
    "upstream connect error",
    "<html><body>Bad Gateway</body></html>",
    "{",
    "null",
    "[]",
    '"text"',
    "{}",
    "Ünïcode 😀",
)


def refusal(chance: Random, refuse: Callable[[Random], Any]) -> dict[str, Any]:
    body = chance.choice(BODIES) if chance.random() < 0.4 else json.dumps(refuse(chance), ensure_ascii=False)
    headers = {"content-type": chance.choice(("application/json", "text/plain"))}
    pause = chance.random()
    if pause < 0.7:
        headers["retry-after-ms"] = str(chance.choice((0, 5, 10, 20)))
    elif pause < 0.8:
        headers["retry-after"] = chance.choice(("0", "120", "0.01"))
    elif pause < 0.85:
        headers |= {"retry-after-ms": "oops", "retry-after": "0"}
    if chance.random() < 0.2:
        headers["x-should-retry"] = chance.choice(("true", "false", "maybe"))
    status = chance.choice(_STATUSES)
    end, framing = chance.choice(
        (*[("end", "chunked")] * 8, ("end", "length"), ("end", "close"), ("close", "chunked"))
    )
    return answer([body], status=status, headers=headers, end=end, framing=framing)


def some_refusal(chance: Random) -> Any:
    message = chance.choice(("overloaded", "rate limit", "prompt is too long", "", None, 7))
    return {
        "error": {"type": chance.choice(("api_error", "invalid_request_error", None)), "message": message}
    }


def garbled(event: tuple[str | None, Any], chance: Random) -> tuple[str | None, Any]:
    name, data = event
    if chance.random() < 0.5:
        return name, _replaced(data, chance)
    text = event_stream.data_text(data)
    at = chance.randrange(len(text) + 1)
    kind = chance.randrange(4)
    if kind == 0:
        return name, text[:at]
    if kind == 1:
        return name, text[:at] + text[at + 1 :]
    if kind == 2:
        return name, text[:at] + chance.choice('{}[]:,"\\x1 \t') + text[at:]
    return name, chance.choice(("", "[DONE]", "null", "7", '"x"', "[]", "{}", "not json"))


def _replaced(data: Any, chance: Random) -> Any:
    """The value with one part of it of another type, or gone."""
    if isinstance(data, dict) and data and chance.random() < 0.9:
        key = chance.choice(list(data))
        if chance.random() < 0.2:
            return {name: value for name, value in data.items() if name != key}
        return {**data, key: _replaced(data[key], chance)}
    if isinstance(data, list) and data and chance.random() < 0.9:
        at = chance.randrange(len(data))
        return [*data[:at], _replaced(data[at], chance), *data[at + 1 :]]
    return chance.choice((None, 0, 3, "", "x", True, [], {}))


def corrupted(body: bytes, chance: Random) -> bytes:
    """The bytes, of which a few are others now."""
    changed = bytearray(body)
    for _ in range(chance.randint(1, 3) if body else 0):
        changed[chance.randrange(len(changed))] = chance.choice((0x00, 0x80, 0xC3, 0xE2, 0xED, 0xF0, 0xFF))
    return bytes(changed)


def shuffled(events: Sequence[tuple[str | None, Any]], chance: Random) -> list[tuple[str | None, Any]]:
    changed = list(events)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if not changed:
            break
        at = chance.randrange(len(changed))
        kind = chance.randrange(3)
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed.insert(chance.randrange(len(changed) + 1), changed[at])
        else:
            changed.insert(chance.randrange(len(changed)), changed.pop(at))
    return changed
