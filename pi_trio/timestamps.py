"""The time of a message, as the protocol writes it."""

from __future__ import annotations

import time
from collections.abc import Callable


def _time_of_day() -> int:
    return int(time.time() * 1000)


#: What `now` reads. `pi_trio.testing.frozen_time` puts another clock in its place.
clock: Callable[[], int] = _time_of_day


def now() -> int:
    """Unix time in whole milliseconds."""
    return clock()
