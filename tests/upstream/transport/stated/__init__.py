"""Cases of the transport that are written by hand, and recorded from real pi-ai: the evidence of the MODEL- clauses.

What a case is, `cases.py` tells. `speech.py` says one response in the words of each api; the other modules state the
cases. `recording.py` plays them to the real releases, and writes `spec/vectors/transport/`:

    python -m tests.upstream.transport --record [NAME …]
"""

from __future__ import annotations

from collections.abc import Mapping

from . import asking, failing, reading
from .case import Stated


def stated() -> Mapping[str, Stated]:
    """Every case by its name, in the order in which they are written."""
    cases = [*reading.CASES, *failing.CASES, *asking.CASES]
    named = {case.name: case for case in cases}
    assert len(named) == len(cases), "two cases have one name"
    return named
