"""Which commands of a burst were done: its reply says that, behind all that they have caused.

A command that is refused has no effect, and whoever takes it for done misjudges what comes behind it. So the lines
behind a burst are held back until its reply; then all are handed on, and the burst without what was refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

from .content import Object

_MOST: Final = 1000
"""How many lines are held back."""
Mark = TypeVar("Mark")


class Bursts(Generic[Mark]):
    """Holds lines back, each with a mark by which it is known again."""

    def __init__(self) -> None:
        self._held: list[tuple[Object, Mark]] = []

    def add(self, line: Object, mark: Mark) -> Iterable[tuple[Object, Mark]]:
        """Go on by one line: those that are handed on now."""
        if self._held:
            self._held.append((line, mark))
            replied = "reply" in line or "unresolved" in line or ("error" in line and "tell" not in line)
            return self.rest() if replied or len(self._held) > _MOST else ()
        if line.get("send", {}).get("cmd") == "burst":
            self._held.append((line, mark))
            return ()
        return ((line, mark),)

    def rest(self) -> Iterable[tuple[Object, Mark]]:
        """Nothing more is waited for."""
        held, self._held = self._held, []
        if held:
            (sent, mark), outcomes = held[0], held[-1][0].get("reply")
            held[0] = {"send": _without_refused(sent["send"], outcomes)}, mark
        return held


def done_of(lines: Iterable[Object]) -> Iterator[tuple[int, Object]]:
    """The lines of a whole trace, with their numbers, and without what was refused in its bursts."""
    bursts = Bursts[int]()
    for number, line in enumerate(lines):
        for each, mark in bursts.add(line, number):
            yield mark, each
    for each, mark in bursts.rest():
        yield mark, each


def _without_refused(burst: Object, outcomes: Any) -> Object:
    commands = burst.get("cmds", [])
    if not isinstance(outcomes, list) or len(outcomes) != len(commands):
        return burst
    pairs = zip(commands, outcomes, strict=True)
    return {**burst, "cmds": [each for each, outcome in pairs if not _is_refused(outcome)]}


def _is_refused(outcome: Any) -> bool:
    return isinstance(outcome, dict) and "error" in outcome
