"""The clauses by which some logs are not judged, because it cannot be seen there whether they are kept."""

from __future__ import annotations

from typing import Final

BARE: Final = frozenset({"MSG-04"})
"""For updates that lack the message so far."""

IN_A_SESSION: Final = BARE | {"MSG-02"}
"""For a session: its extensions change messages that end, its updates lack the message."""

WITHOUT_QUIESCENCE: Final = frozenset({
    "ABORT-03", "ABORT-04", "QUEUE-02", "QUEUE-06", "QUEUE-07", "RUN-09", "RUN-10", "TOOL-22",
})  # fmt: skip
"""For a subject whose replies do not say that all has come. What it says behind a command it may have made before, and
what these clauses compare is when a command was read with when something was made.
"""
