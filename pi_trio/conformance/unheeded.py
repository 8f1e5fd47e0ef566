"""A subject that offers both modes of the abort, and has one of them whatever it is told.

It fails in every scenario in which the modes differ, and in each in another place: by the clauses on streams, tools,
queues and hooks. But its one fault is that it does not heed `abortMode`, and that can be seen: what it does in a
scenario is what is expected in the twin, or the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from .cancelling import created_by
from .clauses import Clause
from .decide import Decide
from .expected import ReferenceFault
from .judge import Expect
from .kept import Failed
from .protocol import Object
from .scenario import Scenario
from .standing import CANCELS, Breach
from .twins import Twin, in_both_modes, twin_name
from .vectors import VectorError
from .verdict import FAILURES

NO_WAIT: Final = "ABORT-01"
"""The clause on the mode in which an abort is advice: that it ends no wait."""

_ALWAYS: Final = "aborts cancel where they are to be advice: abortMode is not heeded"
_NEVER: Final = 'aborts are advice where abortMode is "cancel": it is not heeded'


def unheeded(
    failed: Iterable[Failed],
    passed: Iterable[Scenario],
    scenarios: Iterable[Scenario],
    *,
    hello: Object,
    expect: Expect,
    decide: Decide,
    in_force: Sequence[Clause],
) -> tuple[Breach, ...]:
    """The failures in which a subject does as it should in the other mode, put down to one clause for each mode.

    Args:
        scenarios: those that it was judged by, with the twins.
        expect: says what is expected in each of them.
        decide: how verdicts are made.
        in_force: the clauses by which it is judged.
    """
    if not in_both_modes(hello):
        return ()
    known = {each.name: each for each in scenarios}
    heeded = {isinstance(each, Twin) for each in passed if _shows_its_mode(each, known, expect)}
    found = [
        each.run.scenario
        for each in failed
        if isinstance(each.run.scenario, Twin) not in heeded
        and (other := _other(each.run.scenario, known))
        and _does_as(each, other, expect, decide)
    ]
    twins = [each for each in found if isinstance(each, Twin)]
    promise = _clause_of([each.written.name for each in twins], in_force)
    return tuple(
        Breach(clause=promise, scenario=each.name, cause=_NEVER, said=_NEVER)
        if isinstance(each, Twin)
        else Breach(clause=NO_WAIT, scenario=each.name, cause=_ALWAYS, said=_ALWAYS)
        for each in found
    )


def _other(scenario: Scenario, known: Mapping[str, Scenario]) -> Scenario | None:
    """The same scenario in the other mode, if that is played too."""
    return known.get(scenario.written.name if isinstance(scenario, Twin) else twin_name(scenario.name))


def _shows_its_mode(scenario: Scenario, known: Mapping[str, Scenario], expect: Expect) -> bool:
    """Whether the modes differ in it: who does there as expected heeds `abortMode`."""
    twin = scenario if isinstance(scenario, Twin) else _other(scenario, known)
    try:
        return twin is not None and CANCELS in expect(twin).rulings
    except (ReferenceFault, VectorError):
        return False


def _does_as(failed: Failed, other: Scenario, expect: Expect, decide: Decide) -> bool:
    """Whether what failed would not have failed in the other mode."""
    try:
        expected = expect(other)
    except (ReferenceFault, VectorError):
        return False
    if expected.missing:
        return False
    played = expected.scenario or other
    lines = created_by(played, failed.run.scenario, failed.run.lines)
    run = attrs.evolve(failed.run, scenario=played, lines=lines)
    return decide(run, expected).outcome not in FAILURES


def _clause_of(names: Iterable[str], in_force: Sequence[Clause]) -> str:
    """The clause on aborts that cancel which most of these scenarios are evidence of; of equals the first."""
    shown = Counter(names)
    promised = [clause for clause in in_force if clause.ruling == CANCELS]
    return max(promised, key=lambda clause: sum(shown[name] for name in clause.evidence)).id
