"""The verdict by clause as it is printed."""

from __future__ import annotations

import io

from rich.console import Console

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.report.by_clause import show_clauses
from pi_trio.conformance.standing import ClauseVerdict, Standing


def test_a_ruling_that_is_broken_is_counted_in_its_group() -> None:
    clause = next(each for each in Clauses.shipped().values() if each.level == "RULING")
    for standing, shown in ((Standing.BROKEN, "1"), (Standing.KNOWN, "1"), (Standing.NON_STRICT, "·")):
        out = io.StringIO()
        verdict = ClauseVerdict(clause=clause, standing=standing)
        show_clauses(Console(file=out, width=200), [verdict], whole=lambda name: name, verbose=False)
        (row,) = [line for line in out.getvalue().splitlines() if line.startswith(clause.group)]
        assert row.split()[3] == shown
