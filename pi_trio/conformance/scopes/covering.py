"""Plays a scope whole, and keeps what was found: of each fault the first order that shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import attrs

from .choices import UnsteadyError
from .laws import told
from .scope import Fault, Play, Scope

SAME: Final = "what the order must not change"
"""The cause where two plays that should have ended alike did not."""


@attrs.define
class Found:
    """A fault, the first order that shows it, and how many do."""

    fault: Fault
    order: tuple[str, ...]
    plays: int = 1


@attrs.define
class Coverage:
    """How far a scope was played, and what came of it.

    Attributes:
        plays: how many there were.
        told: how many orders of reports and ends were heard; and `endings`, how many outcomes there were.
        complete: whether that was all of them.
        seconds: how long it took.
        found: by its cause, what was wrong.
    """

    scope: Scope
    plays: int = 0
    complete: bool = False
    seconds: float = 0.0
    found: dict[str, Found] = attrs.field(factory=dict[str, Found])
    _told: set[int] = attrs.field(factory=set[int])
    _first: dict[object, Play] = attrs.field(factory=dict[object, Play])

    @property
    def told(self) -> int:
        return len(self._told)

    @property
    def endings(self) -> int:
        return len(self._first)

    def fill(self, tick: Callable[[str, int | None], object] = lambda _name, _number: None) -> None:
        """Play the scope from its beginning. Interrupted, it keeps what was played up to there.

        Args:
            tick: told behind each play the scope's name, and how many plays there will be, if that is known.
        """
        began = time.perf_counter()
        try:
            for play in self.scope.plays():
                self._note(play)
                tick(self.scope.name, self.scope.orders)
            self.complete = True
        except UnsteadyError as error:
            self._find(Fault("the same choices lead to the same", str(error)), ())
        finally:
            self.seconds = time.perf_counter() - began

    def _note(self, play: Play) -> None:
        self.plays += 1
        self._told.add(hash(told(play.events)))
        for fault in {fault.cause: fault for fault in reversed(play.faults)}.values():
            self._find(fault, play.order)
        if play.faults:
            return  # how it ends then is no fault of its own
        first = self._first.setdefault(play.alike, play)
        if first.rest != play.rest:
            self._find(
                Fault(SAME, f"it ends otherwise than {' '.join(first.order) or 'the first'}"), play.order
            )

    def _find(self, fault: Fault, order: tuple[str, ...]) -> None:
        if fault.cause in self.found:
            self.found[fault.cause].plays += 1
        else:
            self.found[fault.cause] = Found(fault, order)
