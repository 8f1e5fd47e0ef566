"""Going on from the last response on the same socket: only what is new is sent.

The server keeps the state of the last response of a socket. If the next request is the same but for its input, and its
input is the last one with the response's own items and then some more, then the new items and the response's id say
all of it.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from ...jsontext import print_json
from ...jsonvalue import JSON

_CHANGING: Final = ("input", "previous_response_id")


@attrs.frozen
class Continuation:
    """What a socket's server remembers: the last request, whole, and the response to it."""

    body: dict[str, Any]
    response_id: str
    items: list[JSON]

    def shortened(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """The body with what is new only; None if it does not go on from the response."""
        if _text(_constant(body)) != _text(_constant(self.body)):
            return None
        told = [*(self.body.get("input") or ()), *self.items]
        items = body.get("input") or []
        if len(items) < len(told) or _text(items[: len(told)]) != _text(told):
            return None
        return {**body, "previous_response_id": self.response_id, "input": items[len(told) :]}


def _constant(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in _CHANGING}


def _text(value: Any) -> str:
    """As JSON, so that the order of keys counts and the kind of a number does not."""
    return print_json(value)
