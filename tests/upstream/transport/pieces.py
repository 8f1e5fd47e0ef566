"""What a provider says, as the steps of an answer: whole, cut anywhere, held."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Sequence
from random import Random
from typing import Any

from . import event_stream
from .cases import HOLD, Step, answer, chunk, data_of
from .spoken import Spoken


def streamed(spoken: Spoken) -> dict[str, Any]:
    return answer([chunk(piece) for piece in event_stream.plain(spoken.events)])


def messages(events: Sequence[tuple[str | None, Any]]) -> list[Step]:
    return [event_stream.data_text(data) for _, data in events]


def binary(text: Step) -> Step:
    assert isinstance(text, str)
    return {"b64": base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()}


def written(spoken: Spoken, chance: Random) -> bytes:
    write = chance.choice(
        (event_stream.plain, event_stream.plain, lambda events: event_stream.odd(events, chance))
    )
    return b"".join(write(spoken.events))


def cut(body: bytes, chance: Random, cuts: int) -> list[Step]:
    return cut_at(body, [chance.randrange(len(body)) for _ in range(cuts)] if body else [])


def cut_at(body: bytes, places: Sequence[int]) -> list[Step]:
    """The body in chunks that end at these places, each held."""
    bounds = sorted({0, *places, len(body)})
    pieces = [chunk(body[start:stop]) for start, stop in itertools.pairwise(bounds)]
    return held(pieces)[:-1]


def held(pieces: Sequence[Step]) -> list[Step]:
    """The pieces with a hold after each.

    Messages that the client decodes in the background, and one that fails it, overtake others that have come with them.
    """
    return [step for piece in pieces for step in (piece, HOLD)]


def joined(pieces: Sequence[Step]) -> Step:
    return chunk(b"".join(data_of(piece) or b"" for piece in pieces))
