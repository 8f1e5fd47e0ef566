"""Which clauses the monitors look at. All others show in nothing that they see.

Most of them a monitor names where they are broken. A few it only sees kept: what breaks them breaks another one first.
"""

from __future__ import annotations

from typing import Final

JUDGED: Final = frozenset({
    "RUN-01", "RUN-02", "RUN-03", "RUN-04", "RUN-05", "RUN-06", "RUN-08", "RUN-09", "RUN-10", "RUN-17",
    "TURN-01", "TURN-02", "TURN-03", "TURN-04", "TURN-05", "TURN-06", "TURN-07", "TURN-08", "TURN-09",
    "TURN-10", "TURN-11", "TURN-12", "TURN-13", "TURN-15", "TURN-16", "TURN-20", "TURN-21", "TURN-22", "TURN-24",
    "TURN-25",
    "MSG-01", "MSG-02", "MSG-03", "MSG-04", "MSG-05", "MSG-06", "MSG-10",
    "STREAM-01", "STREAM-02", "STREAM-03", "STREAM-05", "STREAM-08", "STREAM-09", "STREAM-10", "STREAM-12", "STREAM-18",
    "TOOL-01", "TOOL-02", "TOOL-03", "TOOL-04", "TOOL-05", "TOOL-06", "TOOL-07", "TOOL-08", "TOOL-09",
    "TOOL-10", "TOOL-22", "TOOL-23", "TOOL-24", "TOOL-27", "TOOL-28", "TOOL-29", "TOOL-30", "TOOL-31", "TOOL-32",
    "TOOL-33", "TOOL-35", "TOOL-36", "TOOL-37", "TOOL-41",
    "QUEUE-02", "QUEUE-06", "QUEUE-07", "QUEUE-08", "QUEUE-09", "QUEUE-17",
    "HOOK-01", "HOOK-09", "HOOK-10",
    "ABORT-03", "ABORT-04", "ABORT-05", "ABORT-06", "ABORT-07", "ABORT-08", "ABORT-09", "ABORT-10",
    "ABORT-11", "ABORT-17", "ABORT-19",
    "FAIL-01", "FAIL-02", "FAIL-03", "FAIL-04", "FAIL-05", "FAIL-06", "FAIL-08", "FAIL-12", "FAIL-13",
    "FAIL-17", "FAIL-18", "FAIL-19", "FAIL-21", "FAIL-22", "FAIL-23", "FAIL-24", "FAIL-25", "FAIL-28",
    "FAIL-31", "FAIL-36", "FAIL-37", "FAIL-38",
    "STATE-01", "STATE-02", "STATE-03", "STATE-04", "STATE-05", "STATE-06", "STATE-07", "STATE-08",
    "STATE-09", "STATE-13", "STATE-14",
})  # fmt: skip

HELD_ONLY: Final = frozenset({
    "ABORT-06", "ABORT-09", "ABORT-11", "FAIL-22", "RUN-08", "TOOL-08", "TOOL-10", "TURN-08",
    "TURN-09", "TURN-25",
})  # fmt: skip
"""Those that are only seen kept."""
