"""What a scope is: a small world in which everything that may happen in another order is tried in every order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, Protocol, TypeAlias

import attrs

from ..protocol import Object

Beside: TypeAlias = Literal["abort", "steer"]
"""What happens once while a batch is under way."""

Aside: TypeAlias = Literal["abort", "steer", "fail"]
"""The same, or that a listener fails, where rulings say what has to come of that."""

Mode: TypeAlias = Literal["signal", "cancel"]
"""What an abort is: advice, or the end of all that waits for the outside."""

STEERED: Final = "look at this too"
"""What the steering message says."""


def name_of(kind: str, calls: int, updates: int, beside: tuple[Aside, ...], mode: Mode, *more: str) -> str:
    """What a scope is called: `gates-3x2-abort-cancel`."""
    return "-".join((kind, f"{calls}x{updates}", *beside, *((mode,) if "abort" in beside else ()), *more))


def title_of(kind: str, calls: int, updates: int, beside: tuple[Aside, ...]) -> str:
    """The same in words: `every order of gates: 3 calls, reports of each: 2, abort`."""
    return ", ".join(
        (f"{kind}: {calls} call{'s' if calls > 1 else ''}", f"reports of each: {updates}", *beside)
    )


@attrs.frozen
class Fault:
    """What is wrong with a play. `cause` is the same wherever the same is wrong: a clause, or what must hold."""

    cause: str
    said: str


@attrs.frozen(kw_only=True)
class Play:
    """One way through a scope.

    Attributes:
        order: what happened, in words that `again` takes.
        events: what a listener heard.
        alike: plays for which this is the same have `rest` in common.
        rest: what the order must not change, beyond what `alike` says.
        faults: what is wrong with it by itself.
    """

    order: tuple[str, ...]
    events: tuple[Object, ...]
    alike: object
    rest: str
    faults: tuple[Fault, ...] = ()


class Scope(Protocol):
    """A scope: see `gates.Gates` and `schedules.Schedules`."""

    @property
    def name(self) -> str:
        """By which a user selects it."""
        ...

    @property
    def title(self) -> str:
        """What is tried, in words."""
        ...

    @property
    def orders(self) -> int | None:
        """How many plays there will be, if that is known beforehand."""
        ...

    def plays(self) -> Iterator[Play]:
        """Each once. Not to be called inside trio."""
        ...

    def again(self, order: tuple[str, ...]) -> Play:
        """One of them.

        Raises:
            OrderError: that is none of its orders.
        """
        ...


class OrderError(ValueError):
    """No order of this scope; the message says why."""
