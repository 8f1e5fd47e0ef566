"""Judges subjects for `pi-trio conform`: as each profile that is asked for, by scenarios and by clauses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import attrs

from pi_trio.conformance.baseline import Baseline
from pi_trio.conformance.causes import AsAnother, Causes
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.expected import OfOthers, OfRuntime
from pi_trio.conformance.fitting import Explanation, Reference, Rulings, fields_concerned
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.kept import Kept
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.standing import ClauseVerdict, Seen, standings
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.unheeded import unheeded
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Leg, Report
from pi_trio.profile import releases_in

from .candidates import Candidate, candidates
from .material import need_recordings
from .pace import progress


@attrs.frozen(kw_only=True)
class Judged:
    """What came of judging as one profile.

    Attributes:
        explanation: the fields that explain failures, if any do.
        clauses: the verdict on each clause in force; none if no subject started.
        put_down: the failed scenarios that were put down to clauses, or to fields of the profile, but for one example
            of each cause.
    """

    report: Report
    explanation: Explanation | None = None
    clauses: tuple[ClauseVerdict, ...] = ()
    put_down: frozenset[str] = frozenset()


async def judge_all(
    options: argparse.Namespace,
    profiles: Sequence[str | None],
    scenarios: Sequence[Scenario],
    vectors: Vectors,
    baseline: Baseline,
) -> dict[str, Judged]:
    """What came of it, by the profile that was judged as.

    Args:
        scenarios: those that are meant, and the twins that are.

    To be called under `first_in_first_out()`. Raises: UsageError, SubjectUnavailable, VectorError.
    """
    clauses = Clauses.shipped()
    judged: dict[str, Judged] = {}
    for wanted in profiles:
        profile, subjects = await candidates(options, wanted)
        releases = releases_in(profile)
        need_recordings(vectors, releases[0])
        judging = _Judging(options, profile, scenarios, vectors, baseline, clauses)
        for subject in subjects:
            await judging.judge(subject)
            if judging.legs[-1].stopped:
                break
        judged[profile] = judging.judged()
        if judging.legs[-1].stopped:
            break
    return judged


class _Judging:
    """Subjects on their way through the scenarios, as one profile."""

    def __init__(
        self,
        options: argparse.Namespace,
        profile: str,
        scenarios: Sequence[Scenario],
        vectors: Vectors,
        baseline: Baseline,
        clauses: Clauses,
    ) -> None:
        self.legs: list[Leg] = []
        self._options, self._profile, self._scenarios = options, profile, scenarios
        self._vectors, self._baseline, self._clauses = vectors, baseline, clauses
        self._explanation: Explanation | None = None
        self._seen: list[Seen] = []
        self._console = make_console(stderr=True)

    async def judge(self, subject: Candidate) -> None:
        """Judge one of them."""
        options, profile, vectors = self._options, self._profile, self._vectors
        releases = releases_in(profile)
        by: OfRuntime | OfOthers = OfRuntime(vectors, releases[0])
        if subject.by_runtime:
            by = OfOthers(runtime_inside(profile, options.patience), self._scenarios, vectors, releases)
            await by.consult()
        kept, causes = Kept(), Causes(self._clauses, profile)
        with progress(self._console, f"{subject.label}, as {profile}") as tick:
            leg = await judge_subject(
                subject.label, subject.opener, self._scenarios,
                expect=by.of, decide=causes.of(kept.of(subject.decide)), meet=by.meet, strict=options.strict,
                mark=self._baseline.mark, jobs=options.jobs if subject.many else 1, fail_fast=options.fail_fast,
                progress=tick,
            )  # fmt: skip
        self.legs.append(leg)
        if leg.hello is None:
            return
        explanation, reference = None, Reference()
        failed = kept.among(leg.verdicts)
        in_other_mode = unheeded(
            failed, kept.passed(leg.verdicts), self._scenarios, hello=leg.hello, expect=by.of, decide=subject.decide,
            in_force=self._clauses.in_force(profile),
        )  # fmt: skip
        of_mode = {breach.scenario for breach in in_other_mode}
        failed = [each for each in failed if each.run.scenario.name not in of_mode]
        if failed and subject.by_runtime:
            found = await fields_concerned(
                profile,
                failed,
                Rulings(vectors),
                passed=kept.passed(leg.verdicts),
                hello=leg.hello,
                reference=reference,
            )
            if found.concerns:
                self._explanation = explanation = found
        another = AsAnother(
            self._scenarios,
            vectors,
            subject.decide,
            leg.hello,
            lambda name: runtime_inside(name, options.patience),
        )
        seen = await causes.put_down(
            leg.verdicts, failed, explanation, another, leg.hello, reference, known=in_other_mode
        )
        self._seen.append(seen)

    def judged(self) -> Judged:
        """What came of all of them."""
        report = Report(legs=tuple(self.legs))
        seen = Seen(
            verdicts=tuple(report.worst()),
            breaches=tuple(breach for one in self._seen for breach in one.breaches),
            reached=frozenset[str]().union(*(one.reached for one in self._seen)),
            as_pi=frozenset[str]().union(*(one.as_pi for one in self._seen)),
            explained={name: verdict for one in self._seen for name, verdict in one.explained.items()},
            cancelled=frozenset[str]().union(*(one.cancelled for one in self._seen)),
            cancels=any(one.cancels for one in self._seen),
        )
        clauses = standings(self._clauses.in_force(self._profile), seen) if self._seen else ()
        examples = {cause.first.scenario for verdict in clauses for cause in verdict.causes}
        put_down = frozenset({*seen.explained, *(breach.scenario for breach in seen.breaches)}) - examples
        return Judged(report=report, explanation=self._explanation, clauses=clauses, put_down=put_down)
