"""The trial of a mutant: it is judged as any implementation is, and it has to be said which clauses it breaks.

It plays the scenarios that are the evidence of its clauses, those in which it is known to show, and a few others, so
that it is seen against what goes well. Verdicts, monitors, fields and the place of the difference all have their say,
in the same way and by the same code as in `pi-trio conform`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs
import trio

from pi_trio.profile import PROFILES

from ..causes import AsAnother, Causes
from ..clauses import Clauses
from ..decide import judge
from ..expected import OfOthers, OfRuntime
from ..fitting import Reference, Rulings, fields_concerned
from ..judge import judge_subject
from ..keeper import Opener
from ..kept import Kept
from ..scenario import Scenario
from ..scenarios import all_scenarios
from ..scheduling import first_in_first_out
from ..standing import Standing, standings
from ..subjects.choice import runtime_inside
from ..twins import with_twins
from ..vectors import Vectors
from ..verdict import FAILURES, Leg, Outcome
from .hosts import Host
from .mutant import Mutant

PATIENCE: Final = 30.0
"""Seconds for a reply. Nobody needs them: who does not reply in this process has blocked it."""

BESIDES: Final = ("text_plain", "tool_single", "tools_parallel_reverse", "steering_one_at_a_time")
"""Scenarios that every mutant plays."""


@attrs.frozen(kw_only=True)
class Trial:
    """What came of the trial of a mutant.

    Attributes:
        mutant: its name; and the name of the class of `host`.
        clauses: those that it breaks.
        played: how many scenarios could be played, and how many of them did not come out right.
        named: the clauses that were named, those in most scenarios first.
        trouble: what was wrong with the tester; such a trial says nothing.
    """

    mutant: str
    host: str
    clauses: tuple[str, ...]
    played: int = 0
    failed: int = 0
    named: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def killed(self) -> bool:
        """Whether a clause that it breaks was named."""
        return bool(self.proves)

    @property
    def proves(self) -> tuple[str, ...]:
        """Those of the clauses that it breaks that were named."""
        return tuple(clause for clause in self.clauses if clause in self.named)

    @property
    def offered(self) -> bool:
        """Whether it could be tried at all."""
        return self.played > 0


@attrs.frozen(kw_only=True)
class Judged:
    """How somebody came out: the leg, the clauses that were named, and those that are taken to hold."""

    leg: Leg
    named: tuple[str, ...]
    holding: tuple[str, ...]


class Court:
    """Tries mutants, one after the other, and keeps what the tester knows already."""

    def __init__(self) -> None:
        self._clauses = Clauses.shipped()
        self._vectors = Vectors.shipped()
        self._scenarios = {scenario.name: scenario for scenario in all_scenarios()}
        self._references: dict[str, Reference] = {}
        """By the host: a reference serves one way of playing scenarios."""

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All scenarios."""
        return tuple(self._scenarios.values())

    def try_mutant(self, mutant: Mutant, host: Host) -> Trial:
        """Judge a mutant as one of a class of hosts."""
        profile = mutant.judged_as(self._clauses)
        scenarios = self.scenarios_for(mutant)
        judged = self.judge(mutant.open(profile, PATIENCE), profile, host, scenarios)
        verdicts = judged.leg.verdicts
        return Trial(
            mutant=mutant.name, host=host.name, clauses=mutant.clauses,
            played=sum(verdict.tried and verdict.outcome is not Outcome.NOT_OFFERED for verdict in verdicts),
            failed=sum(verdict.outcome in FAILURES for verdict in verdicts),
            named=judged.named,
            trouble=next((each.reason for each in verdicts if each.outcome is Outcome.HARNESS), judged.leg.fault or ""),
        )  # fmt: skip

    def scenarios_for(self, mutant: Mutant) -> tuple[Scenario, ...]:
        """What a mutant is tried in."""
        evidence = [name for clause in mutant.clauses for name in self._clauses[clause].evidence]
        names = dict.fromkeys([*mutant.shows, *evidence, *BESIDES])
        return tuple(with_twins(self._scenarios[name] for name in names))

    def judge(self, opener: Opener, profile: str, host: Host, scenarios: Sequence[Scenario]) -> Judged:
        """Judge somebody in some scenarios, and put what is wrong down to clauses."""
        with first_in_first_out():
            return trio.run(self._judge, host.clothe(opener), profile, host, scenarios)

    async def _judge(self, opener: Opener, profile: str, host: Host, scenarios: Sequence[Scenario]) -> Judged:
        release = PROFILES[profile].release
        by: OfRuntime | OfOthers = OfRuntime(self._vectors, release)
        if host.own_way:
            by = OfOthers(runtime_inside(profile, PATIENCE), scenarios, self._vectors, [release])
            await by.consult()
        kept, causes = Kept(), Causes(self._clauses, profile)
        leg = await judge_subject(
            "mutant", opener, scenarios, expect=by.of, decide=causes.of(kept.of(judge)), meet=by.meet
        )
        if leg.hello is None:
            return Judged(leg=leg, named=(), holding=())
        failed = kept.among(leg.verdicts)
        explanation, reference = None, self._references.setdefault(host.name, Reference())
        if failed:
            found = await fields_concerned(
                profile, failed, Rulings(self._vectors),
                passed=kept.passed(leg.verdicts), hello=leg.hello, reference=reference,
            )  # fmt: skip
            explanation = found if found.concerns else None
        another = AsAnother(
            scenarios, self._vectors, judge, leg.hello, lambda name: runtime_inside(name, PATIENCE)
        )
        seen = await causes.put_down(leg.verdicts, failed, explanation, another, leg.hello, reference)
        in_force = self._clauses.in_force(profile)
        return Judged(
            leg=leg,
            named=_by_frequency(breach.clause for breach in seen.breaches),
            holding=tuple(
                each.clause.id for each in standings(in_force, seen) if each.standing is Standing.HOLDS
            ),
        )


def _by_frequency(names: Iterable[str]) -> tuple[str, ...]:
    counted: dict[str, int] = {}
    for name in names:
        counted[name] = counted.get(name, 0) + 1
    return tuple(sorted(counted, key=lambda name: -counted[name]))
