"""What a subject sees that rebuilds an answer from its deltas (`partials: built`), and whether it sees sense.

Pi takes the partial message that each provider event carries and never looks at the deltas. An implementation
may do the opposite; then a stream whose partials say something else than its deltas is no fair question. So
the events of a scenario are rebuilt here from what they add up to: the partials of the rebuilt stream are
those that any subject arrives at. A stream that contradicts itself cannot be rebuilt.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

from pi_trio.errors import CodecError
from pi_trio.jsontext import parse_json

from .compare import canonical
from .protocol import Object


class Contradiction(Exception):  # noqa: N818 - what a stream does, and no error of ours
    """A stream whose parts do not fit each other."""


_TEXTS: Final = {"text": "text", "thinking": "thinking"}
"""The kinds of blocks that are texts, and the field that holds it."""


def rebuilt(events: Iterable[Object]) -> list[Object]:
    """The events of one stream, each with the partial that its deltas add up to.

    Raises:
        Contradiction: a partial, an end or the final message says something else than the deltas, or the events
            are not those of one whole or broken off answer.
    """
    builder = _Builder()
    return [builder.take(event) for event in events]


class _Builder:
    """One answer as it grows."""

    def __init__(self) -> None:
        self._base: Object | None = None
        self._blocks: list[Object] = []
        self._deltas: list[str] = []
        self._closed = False

    def take(self, event: Object) -> Object:
        """The event with its partial rebuilt."""
        kind: Any = event.get("type")
        if self._closed or not isinstance(kind, str):
            raise Contradiction
        if kind in ("done", "error"):
            self._finish(event.get("message" if kind == "done" else "error"))
            return event
        partial: Any = event.get("partial")
        if not isinstance(partial, dict) or not isinstance(partial.get("content"), list):
            raise Contradiction
        if kind == "start":
            self._begin(partial)
        else:
            self._grow(kind, event, partial["content"])
        assert self._base is not None
        grown = {**self._base, "content": copy.deepcopy(self._blocks)}
        if not _equal(_without_arguments(grown, kind), _without_arguments(partial, kind)):
            raise Contradiction
        return {**event, "partial": grown}

    def _begin(self, partial: Object) -> None:
        if self._base is not None or partial["content"]:
            raise Contradiction
        self._base = {key: value for key, value in partial.items() if key != "content"}

    def _grow(self, kind: str, event: Object, content: list[Any]) -> None:
        block_kind, _, step = kind.rpartition("_")
        index: Any = event.get("contentIndex")
        if self._base is None or not isinstance(index, int):
            raise Contradiction
        if step == "start":
            if index != len(self._blocks) or len(content) != index + 1:
                raise Contradiction
            self._blocks.append(_opened(block_kind, content[index]))
            self._deltas.append("")
        elif not 0 <= index < len(self._blocks):
            raise Contradiction
        elif step == "delta":
            self._deltas[index] += _text_of(event, "delta")
            self._fill(block_kind, index)
        elif step == "end":
            self._end(block_kind, index, event)
        else:
            raise Contradiction

    def _fill(self, kind: str, index: int) -> None:
        block, said = self._blocks[index], self._deltas[index]
        if kind in _TEXTS:
            block[_TEXTS[kind]] = said
            return
        try:
            block["arguments"] = parse_json(said)
        except CodecError:  # how much of broken JSON can be read is nobody's rule
            raise Contradiction from None

    def _end(self, kind: str, index: int, event: Object) -> None:
        if kind in _TEXTS:
            if _text_of(event, "content") != self._deltas[index]:
                raise Contradiction
        elif not self._deltas[index] and isinstance(event.get("toolCall"), dict):
            self._blocks[index] = event["toolCall"]
        elif not _equal(event.get("toolCall"), self._blocks[index]):
            raise Contradiction

    def _finish(self, message: Any) -> None:
        self._closed = True
        said = message.get("content") if isinstance(message, dict) else None
        if self._base is not None and not _equal(said, self._blocks):
            raise Contradiction


def _opened(kind: str, block: Any) -> Object:
    """A block at its start. What else it may carry is not known to a subject before its end."""
    if kind in _TEXTS:
        opened: Object = {"type": kind, _TEXTS[kind]: ""}
    elif kind == "toolcall" and isinstance(block, dict) and block.keys() == _CALL:
        opened = {**block, "arguments": {}}
    else:
        raise Contradiction
    if not _equal(opened, block):
        raise Contradiction
    return opened


_CALL: Final = {"type", "id", "name", "arguments"}


def _text_of(event: Object, field: str) -> str:
    value: Any = event.get(field)
    if not isinstance(value, str):
        raise Contradiction
    return value


def _without_arguments(message: Object, kind: str) -> Any:
    """While a call's arguments come in, a partial may hold as much of them as it likes."""
    if kind != "toolcall_delta":
        return message
    blocks = [
        {**block, "arguments": {}} if isinstance(block, dict) and "arguments" in block else block
        for block in message["content"]
    ]
    return {**message, "content": blocks}


def _equal(left: Any, right: Any) -> bool:
    return canonical(left) == canonical(right)
