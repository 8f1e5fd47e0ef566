"""How state machines are run here, and what every stepper leaves behind."""

from __future__ import annotations

from typing import Final

import trio
from hypothesis import HealthCheck, settings

QUICK: Final = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def free() -> None:
    """This thread can run trio: nobody has left a program in it."""
    trio.run(trio.lowlevel.checkpoint)
