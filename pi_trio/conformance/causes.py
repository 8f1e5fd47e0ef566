"""Puts what a subject did otherwise down to clauses of the spec.

Three things can say which clause was broken, and they are asked in this order. If the subject behaves as another
release, the fields of the profile that explain its failures name the clauses that those fields decide: that is one
cause, however many scenarios differ. What no field explains is looked at by the monitors, which judge by the clauses
themselves and go on behind a first fault. And where the monitors saw nothing wrong, because what differs is not
their concern, the place of the first difference says what it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs
import trio

from pi_trio.profile import releases_in

from .blame import blame
from .by_field import by_field, not_there
from .clauses import Clauses
from .decide import Decide
from .expected import Expectation, OfOthers, ReferenceFault
from .faults import SubjectLate
from .fitting import Explanation, Reference
from .fitting.trace import Trace, progress
from .keeper import Opener
from .kept import Failed
from .lockstep import Run
from .loop_alone import SAYS_WHAT_AN_AGENT_SAYS, of_the_loop_alone
from .monitors import Force, Judgement, judge_trace
from .needs import CANCELLING, offers
from .protocol import Object
from .scenario import Scenario
from .standing import Breach, Seen
from .vectors import Vectors
from .verdict import FAILURES, Outcome, Verdict


class Causes:
    """Looks on while a subject is judged, and says afterwards which clauses it broke.

    Args:
        profile: what the subject is judged as.
    """

    def __init__(self, clauses: Clauses, profile: str) -> None:
        self._clauses = clauses
        self._profile = profile
        self._force = force(clauses, profile)
        self._in_force = frozenset(name for name, where in self._force.items() if where)
        self._observed: dict[str, _Observed] = {}
        """What was seen in each scenario, by its name."""

    def of(self, decide: Decide) -> Decide:
        """The same way of deciding, but what the clauses need is looked at."""

        def decided(run: Run, expected: Expectation) -> Verdict:
            verdict = decide(run, expected)
            judgement = _judged(run, self._force)
            observed = self._observed.setdefault(run.scenario.name, _Observed.of(run.scenario))
            observed.reached |= judgement.reached - {finding.clause for finding in judgement.findings}
            observed.as_pi |= {finding.clause for finding in judgement.as_pi}
            return verdict

        return decided

    async def put_down(
        self,
        verdicts: Sequence[Verdict],
        failed: Iterable[Failed],
        explanation: Explanation | None,
        as_another: AsAnother,
        hello: Object,
        reference: Reference,
        *,
        known: Iterable[Breach] = (),
    ) -> Seen:
        """What concerns the clauses, now that all scenarios have been played.

        Args:
            verdicts: those that came of it, as the baseline has them. What else was played does not count.
            failed: what of it failed, and is still to be put down to something.
            explanation: the fields that explain failures, if any do.
            as_another: judges again as another profile.
            hello: what the subject said of itself.
            reference: the runtime under any profile; it may have been asked about the same scenarios already.
            known: what else failed, put down already.

        To be called under `first_in_first_out()`. Raises: VectorError, if a file of the spec is damaged.
        """
        excused = {verdict.name: verdict.known for verdict in verdicts}
        tried = {verdict.name for verdict in verdicts if verdict.tried}
        observed = {name: each for name, each in self._observed.items() if name in tried}
        before = {each.run.scenario.name: each for each in failed}
        profile, rest = self._profile, before
        played = {name: each.run.scenario for name, each in before.items()}
        explained: dict[str, Verdict] = {}
        breaches, unexplained = [*known], list[Breach]()
        if explanation is not None:
            profile = explanation.profile
            explained, rest = await _as_explained(verdicts, before, explanation, as_another)
            breaches += await by_field(
                explanation, self._clauses, self._profile, played, explained, reference
            )
        for name, each in rest.items():
            judged = self._profile if _is_nearer(before[name], each) else profile
            failure = before[name] if judged is self._profile else each
            own = list(self._by_monitors(failure, judged)) or list(self._by_difference(failure))
            breaches += own
            unexplained += own
        breaches += self._of_the_loop_alone(unexplained, observed, verdicts)
        if explanation is not None:
            named = {breach.clause for breach in breaches}
            gone = await not_there(explanation, self._clauses, self._profile, played, explained, reference)
            breaches += (each for each in gone if each.clause not in named)
        return Seen(
            verdicts=verdicts,
            breaches=tuple(attrs.evolve(each, known=excused.get(each.scenario, "")) for each in breaches),
            reached=frozenset[str]().union(*(each.reached for each in observed.values())),
            as_pi=frozenset[str]().union(*(each.as_pi for each in observed.values())),
            explained=explained,
            cancelled=frozenset(name for name, each in observed.items() if each.cancelled),
            cancels=CANCELLING in offers(hello),
        )

    def _by_monitors(self, failed: Failed, profile: str) -> Iterator[Breach]:
        """What the monitors name of it, of the clauses by which the subject is judged. They judge by the profile that
        explains its failures, which may have others: of those nothing could be said here.
        """
        for finding in _judged(failed.run, force(self._clauses, profile)).broken:
            if finding.clause in self._in_force:
                yield Breach(
                    clause=finding.clause,
                    scenario=failed.run.scenario.name,
                    cause=finding.cause,
                    said=finding.said,
                    allowed=finding.allowed,
                )

    def _of_the_loop_alone(
        self, breaches: Sequence[Breach], observed: Mapping[str, _Observed], verdicts: Iterable[Verdict]
    ) -> Iterator[Breach]:
        """What is wrong of the loop alone, where no field explains it."""
        if SAYS_WHAT_AN_AGENT_SAYS in self._in_force:
            alone = {name for name, each in observed.items() if each.alone}
            right = {each.name for each in verdicts if each.outcome is Outcome.PASS} - alone
            kept = {name for name in self._in_force if right & set(self._clauses[name].evidence)}
            kept = kept.union(*(each.reached for name, each in observed.items() if name not in alone))
            yield from of_the_loop_alone(breaches, alone, kept)

    def _by_difference(self, failed: Failed) -> Iterator[Breach]:
        if not isinstance(failed.run.fault, SubjectLate | None):
            return  # where it broke off says little about why
        found = blame(
            failed.expected.lines, failed.run.lines, self._in_force, cancelling=_cancels(failed.run.scenario)
        )
        if found is not None:
            yield Breach(
                clause=found.clause, scenario=failed.run.scenario.name, cause=found.cause, said=found.said
            )


@attrs.define
class _Observed:
    """What was seen in a scenario, in all attempts at it."""

    cancelled: bool
    """It was played with aborts that cancel."""
    alone: bool
    """The loop ran alone, without an agent."""
    reached: set[str] = attrs.field(factory=set[str])
    as_pi: set[str] = attrs.field(factory=set[str])

    @classmethod
    def of(cls, scenario: Scenario) -> _Observed:
        """Before anything was seen of it."""
        return cls(cancelled=_cancels(scenario), alone=scenario.create.get("target") == "loop")


class AsAnother:
    """Judges anew, as another profile, what a subject has done already.

    Args:
        scenarios: those that it was driven through, with their twins.
        decide: how verdicts are made.
        hello: what the subject said of itself.
        runtime: opens the runtime under a profile.
    """

    def __init__(
        self,
        scenarios: Iterable[Scenario],
        vectors: Vectors,
        decide: Decide,
        hello: Object,
        runtime: Callable[[str], Opener],
    ) -> None:
        self._scenarios = {scenario.name: scenario for scenario in scenarios}
        self._vectors, self._decide, self._hello, self._runtime = vectors, decide, hello, runtime

    async def judged(
        self, profile: str, failed: Mapping[str, Failed]
    ) -> tuple[dict[str, Verdict], dict[str, Failed]]:
        """The verdicts on what does not fail under that profile; and what does, with what would be expected there."""
        scenarios = [self._scenarios[name] for name in failed]
        expected = OfOthers(self._runtime(profile), scenarios, self._vectors, releases_in(profile))
        await expected.consult()
        await expected.meet(self._hello, trio.lowlevel.checkpoint)
        better: dict[str, Verdict] = {}
        still: dict[str, Failed] = {}
        for name, each in failed.items():
            try:
                wanted = expected.of(self._scenarios[name])
            except ReferenceFault:
                still[name] = each
                continue
            if wanted.missing:
                still[name] = each
                continue
            verdict = self._decide(each.run, wanted)
            if verdict.outcome in FAILURES:
                still[name] = attrs.evolve(each, expected=wanted)
            else:
                better[name] = verdict
        return better, still


async def _as_explained(
    verdicts: Iterable[Verdict], failed: Mapping[str, Failed], explanation: Explanation, as_another: AsAnother
) -> tuple[dict[str, Verdict], dict[str, Failed]]:
    """The verdicts on what failed and does not fail as the profile that explains it; and what fails there too."""
    vanished = frozenset(explanation.vanished)
    explained = {
        each.name: attrs.evolve(each, outcome=Outcome.PASS)  # there it does as the runtime, in full
        for each in verdicts
        if each.name in vanished and each.name in failed
    }
    rest = {name: each for name, each in failed.items() if name not in vanished}
    if rest:
        again, rest = await as_another.judged(explanation.profile, rest)
        explained |= again
    return explained, rest


def _is_nearer(first: Failed, second: Failed) -> bool:
    """Whether the subject went further with what was expected first. What it does then is no fault by that profile, and
    must not be called one because of the fields that explain other failures.
    """
    got = Trace(lines=first.run.lines)
    ways = [progress(Trace(lines=each.expected.lines), got) for each in (first, second)]
    return ways[0] > ways[1]


def force(clauses: Clauses, profile: str) -> Force:
    """Which clauses the monitors judge by; those of other profiles too, which are in force nowhere."""
    here = {clause.id for clause in clauses.in_force(profile)}
    return {name: frozenset({profile} if name in here else ()) for name in clauses}


def _judged(run: Run, by: Force) -> Judgement:
    return judge_trace(run.lines, by, cancelling=_cancels(run.scenario))


def _cancels(scenario: Scenario) -> bool:
    options: Object = scenario.create.get("options", {})
    return options.get("abortMode") == "cancel"
