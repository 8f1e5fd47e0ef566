"""Writes provider events as the bytes of an event stream, in the many ways that the format allows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

#: How lines may end; a stream keeps to one of them, or mixes.
_ENDS = ("\n", "\r\n", "\r")


def data_text(data: Any) -> str:
    """The data of an event as a provider prints it; a text stays as it is."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def plain(events: Sequence[tuple[str | None, Any]]) -> list[bytes]:
    """The bytes of each event, as providers write them."""
    return [_event(name, [data_text(data)], "\n", " ") for name, data in events]


def odd(events: Sequence[tuple[str | None, Any]], chance: Random) -> list[bytes]:
    """The bytes of each event, as the format allows and providers seldom write them."""
    style = chance.choice((*_ENDS, None))
    pieces: list[bytes] = []
    for name, data in events:
        end = style or chance.choice(_ENDS)
        text = data_text(data)
        if not isinstance(data, str) and chance.random() < 0.2:
            text = json.dumps(data, ensure_ascii=chance.random() < 0.5, indent=chance.choice((0, 1)))
        piece = _event(name, text.split("\n"), end, chance.choice((" ", " ", "", "  ")))
        if chance.random() < 0.2:
            noise = chance.choice(
                (": ping", ":", "id: 7", "retry: 10", "foo", "foo: bar", "", "data", "event")
            )
            piece = noise.encode() + end.encode() + piece
        pieces.append(piece)
    if chance.random() < 0.1:
        pieces.insert(0, "\ufeff".encode())
    if pieces and chance.random() < 0.2:  # the end of the stream ends the last event
        pieces[-1] = pieces[-1].rstrip(b"\r\n")
    return pieces


def _event(name: str | None, lines: Sequence[str], end: str, space: str) -> bytes:
    named = [] if name is None else [f"event:{space}{name}"]
    written = [*named, *(f"data:{space}{line}" for line in lines), "", ""]
    return end.join(written).encode("utf-8", "surrogatepass")
