"""The verdict by clause as a person sees it: how many of each group hold, and what is wrong, once for each cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.standing import Cause, ClauseVerdict, GroupStanding, Standing, group_standings

from .prose import clean, count

_STYLES: Final = {
    Standing.HOLDS: "green", Standing.NON_STRICT: "yellow", Standing.KNOWN: "yellow", Standing.BROKEN: "red",
    Standing.NOT_REACHED: "dim", Standing.NOT_OFFERED: "dim",
}  # fmt: skip

_COLUMNS: Final = {
    Standing.HOLDS: "hold", Standing.NON_STRICT: "non-strict", Standing.KNOWN: "known", Standing.BROKEN: "broken",
    Standing.NOT_REACHED: "not reached", Standing.NOT_OFFERED: "not offered",
}  # fmt: skip

SHOWN: Final = 3
"""How many ways of a cause are shown, and how many scenarios of each are named, if not all are wanted."""

LISTED: Final = 12
"""How many clauses that were not judged are named; `--verbose` lists them all."""


def show_clauses(
    console: Console, verdicts: Sequence[ClauseVerdict], *, whole: Callable[[str], str], verbose: bool
) -> None:
    """Print the groups, what is broken and why, and one line that says it all.

    Args:
        whole: the command that shows a scenario whole.
        verbose: every clause, and all scenarios of each cause.
    """
    console.print()
    console.print(_table(group_standings(verdicts)))
    if verbose:
        for verdict in verdicts:
            _list(console, verdict)
    for verdict in verdicts:
        if verdict.causes:
            _show_broken(console, verdict, whole, verbose=verbose)
    _show_unjudged(console, verdicts)
    console.print()
    console.print(Text(clauses_summary(verdicts)), soft_wrap=True)


def clauses_summary(verdicts: Sequence[ClauseVerdict]) -> str:
    """`118 of 121 MUST hold, 1 broken, 2 not reached; 14 of 20 rulings`, in which what is zero is left out."""
    musts = [verdict for verdict in verdicts if verdict.clause.level == "MUST"]
    rulings = [verdict for verdict in verdicts if verdict.clause.level == "RULING"]
    return "clauses: " + "; ".join(
        _counts(members, name) for members, name in ((musts, "MUST"), (rulings, "RULING"))
    )


def _counts(members: Sequence[ClauseVerdict], name: str) -> str:
    counts = Counter(verdict.standing for verdict in members)
    rest = [
        f"{counts[each]} {each.lower()}" for each in Standing if counts[each] and each is not Standing.HOLDS
    ]
    return ", ".join([f"{counts[Standing.HOLDS]} of {len(members)} {name} hold", *rest])


def _table(groups: Sequence[GroupStanding]) -> Table:
    """A row for each group and level, whose cells add up to its number. Of known failures only if there are some."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = [
        each for each in _COLUMNS if each is not Standing.KNOWN or any(row.counts[each] for row in groups)
    ]
    table.add_column("clauses")
    table.add_column("level")
    for heading in ("all", *(_COLUMNS[each] for each in shown)):
        table.add_column(heading, justify="right")
    for row in groups:
        cells = (row.number, *(row.counts[each] for each in shown))
        wrong = row.counts[Standing.BROKEN] + row.counts[Standing.KNOWN]
        table.add_row(
            row.group,
            row.level,
            *(str(cell) if cell else "·" for cell in cells),
            style="red" if wrong else "",
        )
    return table


def _list(console: Console, verdict: ClauseVerdict) -> None:
    clause = verdict.clause
    console.print(
        Text.assemble(
            (f"  {verdict.standing:12}", _STYLES[verdict.standing]), f"{clause.id:10} {clause.title}"
        ),
        soft_wrap=True,
    )


def _show_broken(
    console: Console, verdict: ClauseVerdict, whole: Callable[[str], str], *, verbose: bool
) -> None:
    """The clause, and for each cause what was seen first and where else."""
    clause = verdict.clause
    scenarios = {name for cause in verdict.causes for name in cause.scenarios}
    causes = "one cause" if len(verdict.causes) == 1 else f"{len(verdict.causes)} causes"
    console.print()
    console.print(
        Text.assemble(
            (str(verdict.standing), f"bold {_STYLES[verdict.standing]}"), " ", (clause.id, "bold"),
            f"  {clause.title}  ({clause.full_level}): {causes}, {count(len(scenarios), 'scenario')}",
        ),
        soft_wrap=True,
    )  # fmt: skip
    for cause in verdict.causes:
        _show_cause(console, cause, whole, verbose=verbose)
    console.print(
        Text(f"  what is asked for, and why: pi-trio explain {clause.id}", style="dim"), soft_wrap=True
    )


def _show_cause(console: Console, cause: Cause, whole: Callable[[str], str], *, verbose: bool) -> None:
    ways = cause.ways if verbose else cause.ways[:SHOWN]
    for first, scenarios in ways:
        console.print(Text(clean(f"  {first.said}")), soft_wrap=True)
        if first.known:
            console.print(Text(clean(f"      known: {first.known}")), soft_wrap=True)
        if first.allowed:
            console.print(
                Text(clean(f"      allowed: {', '.join(first.allowed)}"), style="green"), soft_wrap=True
            )
        names = scenarios if verbose else scenarios[:SHOWN]
        more = "" if len(names) == len(scenarios) else f", and {len(scenarios) - len(names)} more"
        console.print(Text(f"      in {', '.join(names)}{more}", style="dim"), soft_wrap=True)
    if rest := sum(len(scenarios) for _, scenarios in cause.ways[len(ways) :]):
        console.print(Text(f"  the same in other places, in {count(rest, 'scenario')} more"), soft_wrap=True)
    console.print(Text(f"      see it whole: {whole(cause.first.scenario)}", style="dim"), soft_wrap=True)


def _show_unjudged(console: Console, verdicts: Sequence[ClauseVerdict]) -> None:
    """Clauses that could not be judged, and what would be needed."""
    for standing in (Standing.NOT_OFFERED, Standing.NOT_REACHED):
        ids = [verdict.clause.id for verdict in verdicts if verdict.standing is standing]
        if ids:
            listed = ", ".join(ids[:LISTED]) + (
                f", and {len(ids) - LISTED} more" if len(ids) > LISTED else ""
            )
            console.print()
            console.print(Text(f"clauses {standing.lower()}: {listed}", style="dim"), soft_wrap=True)


def clauses_document(verdicts: Sequence[ClauseVerdict]) -> list[Object]:
    """The verdicts, fit for `print_json`."""
    return [
        {
            "id": verdict.clause.id,
            "level": verdict.clause.level,
            **({"ruling": verdict.clause.ruling} if verdict.clause.ruling else {}),
            "group": verdict.clause.group,
            "standing": str(verdict.standing),
            **({"shownBy": list(verdict.shown_by)} if verdict.shown_by else {}),
            **({"missing": list(verdict.missing)} if verdict.missing else {}),
            **({"causes": [_cause(cause) for cause in verdict.causes]} if verdict.causes else {}),
        }
        for verdict in verdicts
    ]


def _cause(cause: Cause) -> Object:
    first = cause.first
    return {
        "said": first.said,
        **({"otherwiseSaid": [each.said for each, _ in cause.ways[1:]]} if cause.ways[1:] else {}),
        **({"allowed": list(first.allowed)} if first.allowed else {}),
        **({"known": first.known} if first.known else {}),
        "scenarios": list(cause.scenarios),
    }
