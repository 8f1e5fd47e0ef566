"""The time that messages bear, set by a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

import attrs

from .. import timestamps

#: Of the blocks that are open, the latest last; before them the clock that was there first. Blocks of several tasks
#: may end in any order.
_clocks: Final[list[Callable[[], int]]] = []


def _is_time(_frozen: FrozenTime, _attribute: object, ms: Any) -> None:
    if not isinstance(ms, (int, float)) or isinstance(ms, bool):
        raise TypeError(f"Unix milliseconds were expected, not {type(ms).__name__}")
    if not math.isfinite(ms):
        raise ValueError(f"Unix milliseconds were expected, not {ms}")


@attrs.define(eq=False)
class FrozenTime:
    """The time that the package reads, in Unix milliseconds. Assign `ms` to let it pass."""

    ms: int = attrs.field(validator=_is_time)

    def read(self) -> int:
        """The time, as `timestamps.clock` gives it."""
        return self.ms


@contextmanager
def frozen_time(ms: int = 0) -> Generator[FrozenTime]:
    """In the block, messages bear this timestamp: those of agents, scripts and builders, in the whole process.

    Only the time of day stands still. Waiting is the business of trio's clock.

    Args:
        ms: Unix milliseconds.

    Raises:
        TypeError, ValueError: it is no number of them; also when it is assigned.
    """
    frozen = FrozenTime(ms)
    if not _clocks:
        _clocks.append(timestamps.clock)
    _clocks.append(frozen.read)
    timestamps.clock = frozen.read
    try:
        yield frozen
    finally:
        _clocks.remove(frozen.read)
        timestamps.clock = _clocks[-1]
        if len(_clocks) == 1:
            _clocks.clear()
