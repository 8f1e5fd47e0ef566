"""What a judgement says of each clause of the spec.

Scenarios are the experiments, clauses are what is required. A clause is *broken* if something that a subject did was
put down to it. It *holds* if it came into play and nothing broke it: a monitor saw it kept, or a scenario that is its
evidence came out right. A ruling's clause that a subject breaks exactly as the release does is *non-strict*. A clause
that never came into play was *not reached*, or, where every scenario of its evidence asks for something that the
subject does not have, *not offered*; neither is ever counted as kept.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from .clauses import GROUPS, LEVELS, Clause
from .needs import CANCELLING
from .twins import twin_name
from .verdict import Outcome, Verdict

CANCELS: Final = "D-10"
"""The ruling on aborts that cancel, which a subject may leave undone."""


_RIGHT: Final = frozenset({Outcome.PASS, Outcome.NON_STRICT, Outcome.KNOWN})
"""How a scenario has come out of somebody who can do something. What is known to fail is excused, and not nothing."""


class Standing(enum.StrEnum):
    """How a clause came out."""

    HOLDS = "HOLDS"
    NON_STRICT = "NON-STRICT"
    NOT_REACHED = "NOT REACHED"
    NOT_OFFERED = "NOT OFFERED"
    KNOWN = "KNOWN"
    """Broken, in scenarios of which the baseline says so."""
    BROKEN = "BROKEN"


@attrs.frozen(kw_only=True)
class Breach:
    """Something that a subject did, put down to a clause.

    Attributes:
        clause: its id.
        scenario: the name of that in which it was seen.
        cause: a short text that is the same where the same is wrong; of several breaches of a clause with one cause
            only the first is worth a look.
        said: what happened, in one line.
        allowed: what might have come instead, where that is known.
        known: the reason that the baseline gives for it; empty if it gives none.
    """

    clause: str
    scenario: str
    cause: str
    said: str
    allowed: tuple[str, ...] = ()
    known: str = ""


@attrs.frozen(kw_only=True)
class Cause:
    """What is wrong, once, and all the scenarios in which it shows.

    Attributes:
        ways: the same fault as it looks in different places: of each the first breach, and the scenarios in which it
            looks so. A scenario stands under the way in which it shows first.
    """

    clause: str
    ways: tuple[tuple[Breach, tuple[str, ...]], ...]

    @property
    def first(self) -> Breach:
        """The one that is worth a look, if only one is."""
        return self.ways[0][0]

    @property
    def scenarios(self) -> tuple[str, ...]:
        """All in which it shows."""
        return tuple(name for _, names in self.ways for name in names)


@attrs.frozen(kw_only=True)
class ClauseVerdict:
    """One clause on one subject.

    Attributes:
        causes: why it is broken; those first that show in most scenarios.
        shown_by: scenarios of its evidence that came out right.
        missing: why it is not offered.
    """

    clause: Clause
    standing: Standing
    causes: tuple[Cause, ...] = ()
    shown_by: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Seen:
    """What of a judgement concerns the clauses.

    Attributes:
        verdicts: on the scenarios.
        breaches: what was put down to clauses.
        reached: the clauses that monitors saw come into play, and kept all through a scenario.
        as_pi: rulings' clauses that a monitor saw not kept, in the way of the releases.
        explained: the verdicts on failed scenarios as the profile that explains the failures, where they are none. But
            for the clauses that are named for it, they show what these verdicts show.
        cancelled: the scenarios that were played with aborts that cancel; nothing else shows what D-10 promises.
        cancels: the subject has such aborts.
    """

    verdicts: Sequence[Verdict] = ()
    breaches: Sequence[Breach] = ()
    reached: frozenset[str] = frozenset()
    as_pi: frozenset[str] = frozenset()
    explained: Mapping[str, Verdict] = attrs.field(factory=dict[str, Verdict])
    cancelled: frozenset[str] = frozenset()
    cancels: bool = True


def standings(in_force: Iterable[Clause], seen: Seen) -> tuple[ClauseVerdict, ...]:
    """A verdict on each clause in force, but for those by which no agent is judged.

    Who did not get one scenario right kept nothing: whoever says what somebody else has said keeps many a clause, too.
    """
    outcomes = {verdict.name: verdict for verdict in seen.verdicts}
    causes = _causes(seen.breaches)
    if not any(verdict.outcome in _RIGHT for verdict in (*seen.verdicts, *seen.explained.values())):
        seen = attrs.evolve(seen, reached=frozenset())
    of_agents = (clause for clause in in_force if not clause.of_transport)
    return tuple(_standing(clause, causes.get(clause.id, ()), outcomes, seen) for clause in of_agents)


def _standing(
    clause: Clause, causes: tuple[Cause, ...], outcomes: Mapping[str, Verdict], seen: Seen
) -> ClauseVerdict:
    names = [each for name in clause.evidence for each in (name, twin_name(name))]
    played = [outcomes[name] for name in names if name in outcomes]
    evidence = [
        seen.explained.get(verdict.name, verdict) for verdict in played if _is_of(clause, verdict, seen)
    ]
    passed = tuple(verdict.name for verdict in evidence if _shows(clause, verdict))
    standing = Standing.NOT_REACHED
    missing: tuple[str, ...] = ()
    if causes:
        known = all(cause.first.known for cause in causes)
        standing = Standing.KNOWN if known else Standing.BROKEN
    elif clause.ruling and (
        clause.id in seen.as_pi or any(_as_the_release(clause, verdict) for verdict in evidence)
    ):
        standing = Standing.NON_STRICT
    elif passed or clause.id in seen.reached:
        standing = Standing.HOLDS
    elif played and clause.ruling == CANCELS and not seen.cancels:
        standing, missing = Standing.NOT_OFFERED, (CANCELLING,)
    elif evidence and all(verdict.outcome is Outcome.NOT_OFFERED for verdict in evidence):
        standing = Standing.NOT_OFFERED
        missing = tuple(dict.fromkeys(need for verdict in evidence for need in verdict.missing))
    return ClauseVerdict(clause=clause, standing=standing, causes=causes, shown_by=passed, missing=missing)


def _is_of(clause: Clause, verdict: Verdict, seen: Seen) -> bool:
    """Whether a scenario of its evidence was played so that the clause could show in it."""
    return (
        clause.ruling != CANCELS or verdict.name in seen.cancelled or verdict.outcome is Outcome.NOT_OFFERED
    )


def _shows(clause: Clause, verdict: Verdict) -> bool:
    """Whether a scenario of its evidence came out as the clause has it. Doing as the release does shows what the
    releases do, and not what a ruling promises instead.
    """
    return verdict.outcome is Outcome.PASS or (
        verdict.outcome is Outcome.NON_STRICT and clause.ruling is None
    )


def _as_the_release(clause: Clause, verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.NON_STRICT and clause.ruling in verdict.rulings


def _causes(breaches: Iterable[Breach]) -> dict[str, tuple[Cause, ...]]:
    """The causes, by clause; those first that show in most scenarios."""
    grouped: defaultdict[str, defaultdict[tuple[str, str], list[Breach]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for breach in breaches:
        grouped[breach.clause][breach.cause, breach.known].append(breach)
    return {
        clause: _independent([_cause(clause, found) for found in groups.values()])
        for clause, groups in grouped.items()
    }


def _independent(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Without those that only show where another one shows too: they are the same fault, seen once more."""
    found: list[Cause] = []
    for cause in sorted(causes, key=lambda each: -len(each.scenarios)):
        if not any(set(cause.scenarios) <= set(other.scenarios) for other in found):
            found.append(cause)
    return tuple(found)


def _cause(clause: str, found: Sequence[Breach]) -> Cause:
    by_scenario: dict[str, Breach] = {}
    for breach in found:
        by_scenario.setdefault(breach.scenario, breach)
    ways: defaultdict[str, list[Breach]] = defaultdict(list)
    for breach in by_scenario.values():
        ways[breach.said].append(breach)
    most = sorted(ways.values(), key=lambda each: -len(each))
    return Cause(clause=clause, ways=tuple((each[0], tuple(one.scenario for one in each)) for each in most))


@attrs.frozen(kw_only=True)
class GroupStanding:
    """How the clauses of one group and level came out: how many there are, and of those how many in each way."""

    group: str
    level: str
    number: int
    counts: Mapping[Standing, int]


def group_standings(verdicts: Sequence[ClauseVerdict]) -> tuple[GroupStanding, ...]:
    """The levels that have clauses in force, and of each the groups, in the order in which one implements them."""
    found: list[GroupStanding] = []
    for level in LEVELS:
        for group in GROUPS:
            members = [
                verdict.standing
                for verdict in verdicts
                if (verdict.clause.level, verdict.clause.group) == (level, group)
            ]
            if members:
                counts = {standing: members.count(standing) for standing in Standing}
                found.append(GroupStanding(group=group, level=level, number=len(members), counts=counts))
    return tuple(found)
