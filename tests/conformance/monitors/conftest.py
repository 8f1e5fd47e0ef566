"""What becomes of every good log with every fault in it, which several modules look at."""

from __future__ import annotations

from collections import defaultdict

import pytest

from pi_trio.conformance.monitors import EventMonitor, Finding

from .mutations import mutants
from .recordings import FORCE, good_logs


@pytest.fixture(scope="session")
def outcomes() -> dict[str, list[list[Finding]]]:
    """What was found, for each mutant, by kind."""
    found: dict[str, list[list[Finding]]] = defaultdict(list)
    for _, events in good_logs("1.6.0"):
        for mutant in mutants(events):
            monitor = EventMonitor(FORCE, ["1.6.0"])
            said = [finding for event in mutant.events for finding in monitor.tell(event)]
            found[mutant.kind].append([*said, *monitor.end(closed=True)])
    return found
