"""What is measured: three workloads, each in two manners. Needs nothing but Python, so every subject can read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Manner: TypeAlias = Literal["each", "reads"]

MANNERS: Final[dict[Manner, str]] = {
    "each": "every item of the provider, every update of a tool and every subscriber yields to the scheduler once",
    "reads": "the provider yields once for 64 items (one network read), a tool once a call, subscribers are plain",
}

ITEMS_A_READ: Final = 64
PIECE: Final = "four"
"""A delta: four characters, as long as a token is on average."""


@dataclass(frozen=True)
class Workload:
    """One run of an agent: some turns with tool calls, then one answer of text.

    Attributes:
        size: what grows in it: deltas of the answer, or turns before it.
        calls: in each of these turns, all at once; each has `updates` progress reports.
        subscribers: they do nothing, but for yielding where the manner says so.
    """

    name: str
    size: int
    calls: int = 0
    updates: int = 0
    subscribers: int = 1

    @property
    def title(self) -> str:
        """In words."""
        subscribers = ("one subscriber", "two subscribers")[self.subscribers - 1]
        if not self.calls:
            return f"{self.deltas:,} text deltas of one message, {subscribers}"
        return f"{self.turns:,} turns of {self.calls} parallel tools with {self.updates} updates each, {subscribers}"

    @property
    def turns(self) -> int:
        """Turns with tool calls."""
        return self.size if self.calls else 0

    @property
    def deltas(self) -> int:
        """Deltas of the last answer."""
        return 1 if self.calls else self.size

    @property
    def events(self) -> int:
        """What one subscriber hears, of an agent that says all that Pi says.

        Of a run: its own start and end, those of the user's message, and the last turn with its one message of one
        text block. Of a turn with calls: its start and end, those of its message, three updates for each call's
        block; for each call its start and end, its updates, and start and end of its result message.
        """
        turn = 4 + self.calls * (3 + 2 + self.updates + 2)
        return 10 + self.deltas + self.turns * turn

    def of_size(self, size: int) -> Workload:
        """The same with another size."""
        return replace(self, size=size)


WORKLOADS: Final = {
    "W1": Workload("W1", 10_000),
    "W2": Workload("W2", 200, calls=8, updates=5, subscribers=2),
    "W3": Workload("W3", 262_144),
}
