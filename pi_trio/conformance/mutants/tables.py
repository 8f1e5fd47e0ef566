"""Mutants of the monitors: their tables of order, with one transition left out.

Each has to be found out by what real releases do, and the runtime where it is stricter: a table with a hole takes
something for wrong that is recorded. So no transition is in the tables for nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import attrs

from ..cancelling import cancel_golden_path, read_cancel_golden
from ..clauses import RELEASES, Clauses
from ..monitors import Force, judge_trace
from ..monitors.order import TABLES, TRANSITIONS, Transition
from ..protocol import Object
from ..ruled import golden_names, read_golden
from ..vectors import Vectors


@attrs.frozen(kw_only=True)
class TableTrial:
    """What came of one mutant of a table.

    Attributes:
        transition, clause: which transition is left out, and the clause that allows it.
        found_by: a recording that is taken to be wrong then, or in which something else is taken to happen; empty if
            it survived.
        named: the clauses that are said to be broken in it.
    """

    transition: str
    clause: str
    found_by: str = ""
    named: tuple[str, ...] = ()

    @property
    def killed(self) -> bool:
        """Whether a recording has found it out."""
        return bool(self.found_by)


@attrs.frozen
class _Trace:
    name: str
    release: str
    lines: Sequence[Object]
    cancelling: bool
    taken: frozenset[str] = frozenset()
    """The transitions that are taken in it, as it should be."""


def try_tables() -> list[TableTrial]:
    """Try every mutant of the tables on the recordings in which its transition is taken."""
    force: Force = {clause.id: frozenset(clause.releases) for clause in Clauses.shipped().values()}
    witnesses = _witnesses(force)
    trials: list[TableTrial] = []
    for transition in TRANSITIONS.values():
        with _without(transition):
            trials.append(_tried(transition, witnesses[transition.name], force))
    return trials


def _tried(transition: Transition, witnesses: Sequence[_Trace], force: Force) -> TableTrial:
    for trace in witnesses:
        try:
            judgement = judge_trace(trace.lines, force, [trace.release], cancelling=trace.cancelling)
        except KeyError:  # how to go on behind a fault stands in the tables too
            broken: tuple[str, ...] = ()
        else:
            broken = tuple(dict.fromkeys(finding.clause for finding in judgement.broken))
            same = judgement.taken == trace.taken
            if not broken and same:
                continue
        return TableTrial(
            transition=transition.name,
            clause=transition.clause,
            found_by=f"{trace.name}, {trace.release}",
            named=broken,
        )
    return TableTrial(transition=transition.name, clause=transition.clause)


@contextmanager
def _without(transition: Transition) -> Generator[None]:
    table = TABLES[transition.machine]
    rows = dict(table)
    del table[transition.source, transition.symbol]
    try:
        yield
    finally:
        table.clear()
        table.update(rows)


_ENOUGH: Final = 4
"""So many recordings are looked at for each transition."""


def _witnesses(force: Force) -> dict[str, list[_Trace]]:
    """Recordings in which each transition is taken, and nothing is wrong."""
    found: dict[str, list[_Trace]] = {name: [] for name in TRANSITIONS}
    for trace in _recorded():
        judgement = judge_trace(trace.lines, force, [trace.release], cancelling=trace.cancelling)
        for name in judgement.taken:
            if len(found[name]) < _ENOUGH:
                found[name].append(attrs.evolve(trace, taken=judgement.taken))
    return found


def _recorded() -> Iterator[_Trace]:
    """What the runtime does where it is stricter than the releases, and then what these do."""
    vectors = Vectors.shipped()
    for release in reversed(RELEASES):
        for name in sorted(golden_names(vectors, release)):
            golden = read_golden(vectors, release, name)
            assert golden is not None
            yield _Trace(name, release, golden.runtime_side(), cancelling=False)
        folder = cancel_golden_path(vectors, release, "").parent
        for path in sorted(folder.glob("*.jsonl")):
            golden = read_cancel_golden(vectors, release, path.stem)
            assert golden is not None
            yield _Trace(path.stem, release, golden.runtime_side(), cancelling=True)
        for name in sorted(vectors.names(release)):
            recording = vectors.read(release, name)
            assert recording is not None
            yield _Trace(name, release, recording.lines, cancelling=False)
