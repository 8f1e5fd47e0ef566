"""What was proven, written down: `spec/adequacy.json` for programs, and `spec/adequacy.md`, which is made of it.

The first has what came of every trial, and nothing that depends on the machine. So it can be looked at in a test
whether the second follows from it, and whether a few trials still come out so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..clauses import Clause, Clauses
from ..protocol import Object
from .catalogue import all_mutants
from .explained import SURVIVORS, TABLES, UNPROVEN
from .hosts import BEST, HOSTS
from .matrix import Matrix
from .mutant import KINDS
from .nulls import Score
from .tables import TableTrial
from .trial import Trial

JSON: Final = "adequacy.json"
PAGE: Final = "adequacy.md"
"""Their names, below the spec folder."""


def matrix_document(matrix: Matrix) -> Object:
    """The matrix as JSON."""
    mutants = all_mutants()
    return {
        "hosts": [{"name": host.name, "title": host.title} for host in HOSTS],
        "mutants": [
            {
                "name": name,
                "kind": mutants[name].kind,
                "title": mutants[name].title,
                **({"fault": mutants[name].fault} if mutants[name].fault else {}),
                "clauses": list(mutants[name].clauses),
                "trials": {host: _trial(trial) for host, trial in matrix.of(name).items()},
            }
            for name in matrix.mutants()
        ],
        "nulls": [
            {"name": each.name, "scenarios": each.scenarios, "passed": [*each.passed], "holding": [*each.holding]}
            for each in matrix.scores
        ],
        "tables": [
            {"transition": each.transition, "clause": each.clause, "foundBy": each.found_by, "named": [*each.named]}
            for each in matrix.tables
        ],
    }  # fmt: skip


def _trial(trial: Trial) -> Object:
    trouble = {"trouble": trial.trouble} if trial.trouble else {}
    return {"played": trial.played, "failed": trial.failed, "named": list(trial.named), **trouble}


def matrix_of(document: Object) -> Matrix:
    """The matrix that such a document was made of."""
    return Matrix(
        trials=tuple(
            Trial(
                mutant=each["name"], host=host, clauses=tuple(each["clauses"]), played=trial["played"],
                failed=trial["failed"], named=tuple(trial["named"]), trouble=trial.get("trouble", ""),
            )
            for each in document["mutants"]
            for host, trial in each["trials"].items()
        ),
        scores=tuple(
            Score(
                name=each["name"], scenarios=each["scenarios"], passed=tuple(each["passed"]),
                holding=tuple(each["holding"]),
            )
            for each in document["nulls"]
        ),
        tables=tuple(
            TableTrial(
                transition=each["transition"], clause=each["clause"], found_by=each["foundBy"],
                named=tuple(each["named"]),
            )
            for each in document["tables"]
        ),
    )  # fmt: skip


def faults(matrix: Matrix, clauses: Clauses) -> list[str]:
    """What is not in order: who survives unexplained, who is explained and does not, what was granted for nothing."""
    found = [f"{each.mutant} (as {each.host}): {each.trouble}" for each in matrix.troubled()]
    tried, survivors = set(matrix.mutants()), {trial.mutant: trial for trial in matrix.survivors()}
    for name, trial in survivors.items():
        if name not in SURVIVORS:
            named = ", ".join(trial.named) or "nothing"
            found.append(f"{name} survives: it breaks {', '.join(trial.clauses)}, and {named} is named")
    found += [
        f"{name} is explained, and does not survive" for name in SURVIVORS if name in tried - survivors.keys()
    ]
    found += [
        f"the null subject {each.name} passes {len(each.passed)} scenarios and keeps {len(each.holding)} clauses"
        for each in matrix.scores
        if not each.nothing
    ]
    left = {each.transition for each in matrix.tables if not each.killed}
    found += [f"nothing needs the transition {name}" for name in sorted(left - TABLES.keys())]
    if matrix.tables:
        found += [f"the transition {name} is explained, and needed" for name in sorted(TABLES.keys() - left)]
    if tried == set(all_mutants()):
        unproven = clauses.keys() - matrix.proofs().keys()
        found += [f"{name} is proven, and listed as unproven" for name in sorted(UNPROVEN.keys() - unproven)]
        found += [f"{name} is not proven, and nobody says why" for name in sorted(unproven - UNPROVEN.keys())]
    return found


def page(matrix: Matrix, clauses: Clauses) -> str:
    """The matrix as Markdown."""
    return "\n".join(_page(matrix, clauses)) + "\n"


_HEAD: Final = """\
# Adequacy: can the suite fail?

A mutant is a subject that is right but for one thing, which breaks clauses of the spec. It is *killed* if one of them
is named when it is judged; that something or other looks wrong is not enough. A clause is *proven* if it was named so
at least once. What no mutant proves is listed, and so is every mutant that survives.

This page is made by `pi-trio mutants --write`, from what came of every trial ([adequacy.json](adequacy.json)).
"""


def _page(matrix: Matrix, clauses: Clauses) -> Iterator[str]:
    proofs, mutants = matrix.proofs(), all_mutants()
    tried = [mutants[name] for name in matrix.mutants()]
    yield _HEAD
    yield "## In figures"
    yield ""
    for level in ("MUST", "RULING"):
        of_level = [clause for clause in clauses.values() if clause.level == level]
        yield f"- {sum(clause.id in proofs for clause in of_level)} of {len(of_level)} {level} clauses are proven."
    kinds = ", ".join(f"{sum(each.kind == kind for each in tried)} {_KINDS[kind]}" for kind in KINDS)
    killed = sum(trial.killed for trial in matrix.trials if trial.host == BEST.name)
    yield f"- {killed} of {len(tried)} mutants are killed: {kinds}."
    granted = sum(not each.nothing for each in matrix.scores)
    yield (
        f"- {len(matrix.scores)} null subjects ({', '.join(each.name for each in matrix.scores)}) are judged in all "
        f"scenarios; {granted or 'none'} of them is granted a scenario or a clause."
    )
    needed = sum(each.killed for each in matrix.tables)
    yield f"- {needed} of {len(matrix.tables)} transitions of the monitors' tables are needed by a recording."
    yield ""
    yield from _hosts(matrix)
    yield from _listed("Clauses that no mutant proves", _unproven(clauses, proofs))
    yield from _listed("Mutants that survive", _survivors(matrix))
    yield from _listed("Transitions that no recording needs", _not_needed(matrix))
    yield from _by_clause(matrix, clauses, proofs)


_KINDS: Final = {
    "runtime": "in the runtime",
    "wire": "on the wire",
    "field": "in a field of a profile",
    "transport": "of a transport",
}


def _hosts(matrix: Matrix) -> Iterator[str]:
    yield "## By host class"
    yield ""
    yield "What can be seen of an implementation depends on where it runs."
    yield ""
    yield "| class | | mutants tried | killed | clauses proven |"
    yield "|---|---|---|---|---|"
    for host in HOSTS:
        trials = [trial for trial in matrix.trials if trial.host == host.name and trial.offered]
        killed = sum(trial.killed for trial in trials)
        yield f"| {host.name} | {host.title} | {len(trials)} | {killed} | {len(matrix.proofs(host.name))} |"
    yield ""
    yield from (f"- {host.name}: {host.limit}" for host in HOSTS if host.limit)
    yield ""


def _unproven(clauses: Clauses, proofs: Mapping[str, Any]) -> list[str]:
    return [
        f"{clause.id} {clause.title}" + (f": {UNPROVEN[clause.id]}" if clause.id in UNPROVEN else "")
        for clause in clauses.values()
        if clause.id not in proofs
    ]


def _survivors(matrix: Matrix) -> list[str]:
    return [
        f"*{trial.mutant}* ({', '.join(trial.clauses)}; named: {', '.join(trial.named) or 'nothing'}): "
        f"{SURVIVORS.get(trial.mutant, 'not explained')}"
        for trial in matrix.survivors()
    ]


def _not_needed(matrix: Matrix) -> list[str]:
    return [
        f"`{each.transition}` ({each.clause}): {TABLES.get(each.transition, 'not explained')}"
        for each in matrix.tables
        if not each.killed
    ]


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from [f"- {item}" for item in items] or ["None."]
    yield ""


def _by_clause(matrix: Matrix, clauses: Clauses, proofs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield "## Clause by clause"
    yield ""
    yield "The last columns say as which class of hosts the clause is proven too."
    yield ""
    others = [host for host in HOSTS if host is not BEST]
    in_others = {host.name: matrix.proofs(host.name) for host in others}
    yield f"| clause | mutants that prove it | {' | '.join(host.name for host in others)} |"
    yield "|---|---|" + "---|" * len(others)
    for clause in clauses.values():
        if clause.id in proofs:
            marks = ["yes" if clause.id in in_others[host.name] else "" for host in others]
            yield f"| {clause.id} | {_told(clause, proofs[clause.id])} | {' | '.join(marks)} |"


_TOLD: Final = 3
"""Mutants of a clause that are told, if there are many."""


def _told(clause: Clause, names: Sequence[str]) -> str:
    """The mutants that are about the clause itself first."""
    mutants = all_mutants()
    names = sorted(names, key=lambda name: clause.id != mutants[name].clauses[0])
    told = "; ".join(
        f"{name} ({mutants[name].fault})" if mutants[name].fault else name for name in names[:_TOLD]
    )
    return f"{told}; and {len(names) - _TOLD} more" if len(names) > _TOLD else told
