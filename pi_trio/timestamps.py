"""The time of a message, as the protocol writes it."""

from __future__ import annotations

import time


def now() -> int:
    """Unix time in whole milliseconds."""
    return int(time.time() * 1000)
