"""Makes a differing case smaller: whatever can be left out is left out, as long as the two sides still differ.

A round makes every case that is one part smaller (a step, an answer, a message, an option, …), or half as long
somewhere, and runs them all at once; the smallest one that differs is the next round's. What counts as the same
difference is where the first one is, without its numbers, so that one bug does not turn into another on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .cases import Case
from .compare import judge
from .decisions import Difference
from .running import against_pi

#: So many rounds at most, and so many cases in one.
ROUNDS = 40
AT_ONCE = 150

#: The parts of a case that may be left out. Their names stand for any key or index on the way.
_PARTS = (
    "answers.*.steps",
    "answers.*.frames",
    "answers.*.before",
    "answers",
    "calls",
    "calls.*.context.messages",
)
_FIELDS = (
    "calls.*.options",
    "calls.*.context",
    "calls.*",
    "answers.*.headers",
    "model",
    "calls.*.context.messages.*",
)
_KEPT = {
    "context",
    "messages",
    "options",
    "apiKey",
    "steps",
    "frames",
    "status",
    "role",
    "content",
    "timestamp",
}
_NEEDED = {
    "id",
    "name",
    "api",
    "provider",
    "baseUrl",
    "reasoning",
    "input",
    "cost",
    "contextWindow",
    "maxTokens",
}


async def shrunk(case: Case, release: str) -> Case:
    """The smallest case that differs as this one does; itself if it does not differ when it is run again."""
    first = await _first_differences([case], release)
    if first[0] is None:
        return case
    kind = _kind(first[0])
    for _ in range(ROUNDS):
        smaller = sorted(_smaller(case), key=_size)[:AT_ONCE]
        found = await _first_differences(smaller, release)
        alike = [each for each, difference in zip(smaller, found, strict=True) if _kind(difference) == kind]
        if not alike:
            return case
        case = alike[0]
    return case


async def _first_differences(cases: list[Case], release: str) -> list[Difference | None]:
    outcomes = await against_pi(cases, release)
    found = {id(outcome): differences[0] for outcome, differences in judge(outcomes, release).differing}
    return [found.get(id(outcome)) for outcome in outcomes]


def _kind(difference: Difference | None) -> Any:
    return None if difference is None else re.sub(r"\d+", "#", difference.path)


def _size(case: Case) -> int:
    return len(json.dumps(case))


def _smaller(case: Case) -> Iterator[Case]:
    for pattern in _PARTS:
        for path, value in _found(case, pattern.split(".")):
            if pattern == "calls" and len(value) == 1:
                continue
            half = len(value) // 2
            if half > 1:
                yield _with(case, path, value[half:])
                yield _with(case, path, value[:half])
            for index in range(len(value)):
                yield _with(case, path, [*value[:index], *value[index + 1 :]])
    for path, value in _found(case, ["answers", "*", "steps", "*"]):
        events = value.split("\n\n") if isinstance(value, str) else ()
        for index in range(len(events)):
            yield _with(case, path, "\n\n".join((*events[:index], *events[index + 1 :])))
    for pattern in _FIELDS:
        for path, value in _found(case, pattern.split(".")):
            for key in value:
                if key not in _KEPT and not (path == ("model",) and key in _NEEDED):
                    yield _with(case, path, {name: item for name, item in value.items() if name != key})


def _found(
    value: Any, pattern: list[str], path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not pattern:
        yield path, value
    elif pattern[0] == "*":
        for index, item in enumerate(value):
            yield from _found(item, pattern[1:], (*path, index))
    elif isinstance(value, dict) and pattern[0] in value:
        yield from _found(value[pattern[0]], pattern[1:], (*path, pattern[0]))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with a new one at this path."""
    if not path:
        return new
    if isinstance(value, list):
        return [_with(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {**value, path[0]: _with(value[path[0]], path[1:], new)}
