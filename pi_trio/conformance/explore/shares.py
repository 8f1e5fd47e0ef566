"""How much of what matters was reached: the share of conversations in which it came to a certain situation.

A search that never gets to where faults live finds none, and says so with the same green as one that does. So what is
hard to get to is counted, and shown with the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from ..lines import commands_in
from ..protocol import Object
from .scene import Scene

_Sees = Callable[[Object, Scene], bool]
"""Whether a command, given what was going on when it was sent, makes the situation."""


def _fails_a_subscriber(command: Object, _: Scene) -> bool:
    return "throw" in command and command["ask"]["fn"] == "listener"


def _aborts_an_open_call(command: Object, scene: Scene) -> bool:
    return command["cmd"] == "abort" and bool(scene.of("execute"))


def _reports_late(command: Object, scene: Scene) -> bool:
    return command["cmd"] == "update" and command["ask"] in scene.returned


def _has_a_batch(_: Object, scene: Scene) -> bool:
    return len(scene.started) >= 2


SITUATIONS: Final[Mapping[str, _Sees]] = {
    "a batch of two calls or more": _has_a_batch,
    "an abort with an open call": _aborts_an_open_call,
    "a failing subscriber": _fails_a_subscriber,
    "a late update": _reports_late,
}

ENOUGH: Final = 0.05
"""The share that each must have."""


@attrs.define
class Shares:
    """The counts: of conversations, and of those that came to each situation."""

    conversations: int = 0
    reached: Counter[str] = attrs.field(factory=Counter[str])

    def begin(self) -> Sighting:
        """A conversation begins."""
        return Sighting(set())

    def end(self, sighting: Sighting) -> None:
        """It is over."""
        self.conversations += 1
        self.reached.update(sighting.seen)

    def add(self, other: Shares) -> None:
        """Take in what somebody else has counted."""
        self.conversations += other.conversations
        self.reached.update(other.reached)

    def of(self, situation: str) -> float:
        """The share of the conversations that came to it."""
        return self.reached[situation] / self.conversations if self.conversations else 0.0


@attrs.define
class Sighting:
    """What one conversation has come to."""

    seen: set[str]

    def look(self, command: Object, scene: Scene) -> None:
        """A command was carried out; the scene is as it was before it."""
        for part in commands_in(command):
            for situation, sees in SITUATIONS.items():
                if situation not in self.seen and sees(part, scene):
                    self.seen.add(situation)
