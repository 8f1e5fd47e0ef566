"""The verdict by clause as it is printed."""

from __future__ import annotations

import io
from collections.abc import Sequence

import attrs
import pytest
from rich.console import Console

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.report.by_clause import show_clauses
from pi_trio.conformance.standing import Breach, Cause, ClauseVerdict, Standing

CLAUSES = Clauses.shipped()
MUST, RULING = (
    next(each for each in CLAUSES.values() if each.level == level) for level in ("MUST", "RULING")
)


def shown(verdicts: Sequence[ClauseVerdict], *, verbose: bool = False) -> list[str]:
    out = io.StringIO()
    show_clauses(Console(file=out, width=200), verdicts, whole=lambda name: name, verbose=verbose)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("standing", Standing)
def test_the_cells_of_a_row_add_up_to_its_number(standing: Standing) -> None:
    verdicts = [
        ClauseVerdict(clause=clause, standing=standing if index % 3 else Standing.HOLDS)
        for index, clause in enumerate(CLAUSES.values())
    ]
    rows = [line.split() for line in shown(verdicts) if line.split()[1:2] in (["MUST"], ["RULING"])]
    numbers = [[int(cell.replace("·", "0")) for cell in row[2:]] for row in rows]
    assert sum(number for number, *_ in numbers) == len(verdicts)
    for number, *cells in numbers:
        assert sum(cells) == number


def test_a_ruling_that_is_broken_is_counted_among_rulings() -> None:
    verdicts = [
        ClauseVerdict(clause=attrs.evolve(clause, group="abort"), standing=standing)
        for clause, standing in ((MUST, Standing.HOLDS), (RULING, Standing.BROKEN))
    ]
    rows = [line.split()[:6] for line in shown(verdicts) if line.startswith("abort")]
    assert rows == [["abort", "MUST", "1", "1", "·", "·"], ["abort", "RULING", "1", "·", "·", "1"]]


def test_each_way_in_which_a_cause_shows_stands_with_its_scenarios() -> None:
    ways = [
        (Breach(clause=MUST.id, scenario=f"{way}_0", cause="late", said=f"late: {way}", allowed=(f"not {way}",)),
         tuple(f"{way}_{number}" for number in range(4)))
        for way in ("one", "two", "three", "four", "five")
    ]  # fmt: skip
    cause = Cause(clause=MUST.id, ways=tuple(ways))
    verdict = ClauseVerdict(clause=MUST, standing=Standing.BROKEN, causes=(cause,))
    lines = [line.strip() for line in shown([verdict])]
    assert any(line.endswith(": one cause, 20 scenarios") for line in lines)
    at = lines.index("late: one")
    assert lines[at + 1 : at + 3] == ["allowed: not one", "in one_0, one_1, one_2, and 1 more"]
    assert "late: three" in lines
    assert "late: four" not in lines
    assert "the same in other places, in 8 scenarios more" in lines
    assert "late: five" in [line.strip() for line in shown([verdict], verbose=True)]
