"""Compares two traces: are they equal, where do they part, and what exactly differs there.

Lines are equal as JSON values: the order of keys does not matter, `1` and `1.0` are one number, and `true` is
not `1`. Differences are given as hunks, as in a text diff, each with the step in which it stands, so that a
person finds the place; inside a pair of lines `parting` finds the path of the first value that differs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Final

import attrs

from pi_trio.errors import join, step_text

from .protocol import Object

_DIFF_LIMIT: Final = 4_000_000
"""Pairs of lines that are compared in search of the smallest difference; beyond, the rest is one hunk."""


@attrs.frozen(kw_only=True)
class Hunk:
    """A place where two traces differ.

    Attributes:
        step: how many commands had been sent when it begins, counted in the expected trace (1 is `create`).
        at: index of its first line in the expected trace; `start` that in the other one.
        expected: the lines that the expected trace has there, may be none.
        got: the lines of the other one, may be none.
        context: the lines before it that both have: from the last command that was sent on.
        after: the line behind it that both have; None at the end.
    """

    step: int
    at: int
    start: int
    expected: tuple[Object, ...]
    got: tuple[Object, ...]
    context: tuple[Object, ...]
    after: Object | None


def abridged(found: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """The same places, with no more of the other trace than a person could read, for hunks that are to be kept."""
    characters, values = _KEPT
    shorter: list[Hunk] = []
    for hunk in found:
        got: list[Object] = []
        for index, line in enumerate(hunk.got):
            text = canonical(line)
            characters -= len(text)
            values -= sum(map(text.count, "{[,"))
            if min(characters, values) < 0:
                got.append(
                    {"abridged": f"{len(hunk.got) - index} more lines, the first of {len(text)} characters"}
                )
                break
            got.append(line)
        shorter.append(attrs.evolve(hunk, got=tuple(got)))
    return tuple(shorter)


def bounded(lines: Sequence[Object]) -> tuple[Object, ...]:
    """The lines of a trace, if it is to be kept: of one that is longer than that of any scenario the beginning, and the
    last line, which says how it ended.
    """
    characters, values = _LONGEST
    for at, line in enumerate(lines):
        text = canonical(line)
        characters -= len(text)
        values -= sum(map(text.count, "{[,"))
        if min(characters, values) < 0:
            return (*lines[:at], lines[-1])
    return tuple(lines)


_KEPT: Final = (128 * 1024, 10_000)
"""Characters of JSON, and values in it, that are kept of a trace that differs."""

_LONGEST: Final = (1024 * 1024, 50_000)
"""The same of a whole trace; several times what the longest one has."""


def canonical(value: Any) -> str:
    """The same text for equal JSON values, and for those only."""
    text = _encode(value)
    # Python writes 1.0 where JSON knows one number only; that is rare, and worth a second look.
    return _encode(_whole(value)) if _WHOLE_FLOAT.search(text) else text


_encode: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_WHOLE_FLOAT: Final = re.compile(r"\d(\.0|e)")


def _whole(value: Any) -> Any:
    """The value with every whole number an `int`."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def fingerprint(lines: Sequence[Object]) -> str:
    """Equal for equal traces, and only for those."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(canonical(line).encode() + b"\n")
    return digest.hexdigest()


def hunks(expected: Sequence[Object], got: Sequence[Object]) -> tuple[Hunk, ...]:
    """All places where two traces differ, in order; none if they are equal."""
    return tuple(
        _hunk(expected, got, span) for tag, *span in opcodes(expected, got) if tag != "equal"
    )  # fmt: skip


def opcodes(expected: Sequence[Object], got: Sequence[Object]) -> list[tuple[str, int, int, int, int]]:
    """How the one trace becomes the other, in the form of `difflib`."""
    left, right = [canonical(line) for line in expected], [canonical(line) for line in got]
    if left == right:
        return [("equal", 0, len(left), 0, len(right))] if left else []
    if len(left) * len(right) <= _DIFF_LIMIT:
        return list(SequenceMatcher(None, left, right, autojunk=False).get_opcodes())
    same = next(
        (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    whole = [("equal", 0, same, 0, same)] if same else []
    return [*whole, ("replace", same, len(left), same, len(right))]


def _hunk(expected: Sequence[Object], got: Sequence[Object], span: Sequence[int]) -> Hunk:
    first, last, start, stop = span
    sends = [index for index, line in enumerate(expected[:first]) if "send" in line]
    return Hunk(
        step=len(sends),
        at=first,
        start=start,
        expected=tuple(expected[first:last]),
        got=tuple(got[start:stop]),
        context=tuple(expected[sends[-1] : first]) if sends else (),
        after=expected[last] if last < len(expected) else None,
    )


def parting(expected: Any, got: Any) -> tuple[str, Any, Any] | None:
    """The path of the first difference inside two values, and the two values there; None if they are equal.

    A key that only one of them has counts as a difference of the objects that hold it: the path is the
    object's, and the values are `{key: value}` and `{}`.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in expected:
            if key not in got:
                return "", {key: expected[key]}, {}
            if found := parting(expected[key], got[key]):
                return join(step_text(key), found[0]), found[1], found[2]
        for key in got:
            if key not in expected:
                return "", {}, {key: got[key]}
        return None
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        for index, (left, right) in enumerate(zip(expected, got, strict=False)):
            if found := parting(left, right):
                return join(step_text(index), found[0]), found[1], found[2]
        if len(expected) != len(got):
            shorter = min(len(expected), len(got))
            return "", list(expected[shorter:]), list(got[shorter:])
        return None
    return None if canonical(expected) == canonical(got) else ("", expected, got)
