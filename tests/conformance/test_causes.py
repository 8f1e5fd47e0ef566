"""What is put down to clauses while a subject is judged, given what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

import trio

from pi_trio.conformance.causes import AsAnother, Causes, Failed
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.decide import judge_release
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.fitting import Explanation
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.standing import Seen, Standing, standings
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome, Verdict
from pi_trio.profile import get_profile

VECTORS = Vectors.shipped()
CLAUSES = Clauses.shipped()
PROFILE = "pi-1.6.0"
HELLO = hello(get_profile(PROFILE))


class Nothing:
    """Judged as another profile, all fails as before."""

    async def judged(
        self, _profile: str, failed: Mapping[str, Failed]
    ) -> tuple[dict[str, Verdict], dict[str, Failed]]:
        return {}, dict(failed)


def recorded(name: str, release: str = "1.6.0") -> Run:
    """What a release did, as if it was driven now."""
    recording = VECTORS.read(release, name)
    assert recording is not None
    return Run(scenario=recording.scenario, lines=tuple(recording.lines), fault=None, ignored=Counter())


def seen(run: Run, expected: Expectation, explanation: Explanation | None = None) -> Seen:
    causes = Causes(CLAUSES, PROFILE)
    verdict = causes.of(judge_release)(run, expected)
    return trio.run(causes.put_down, [verdict], explanation, cast(AsAnother, Nothing()), HELLO)


def test_a_ruling_that_is_seen_broken_in_the_way_of_the_releases_does_not_hold() -> None:
    golden = read_golden(VECTORS, "1.6.0", "failed_run_end_held")
    assert golden is not None
    run = recorded("failed_run_end_held")
    found = seen(run, Expectation(lines=tuple(golden.runtime_side()), golden=golden))
    assert [verdict.outcome for verdict in found.verdicts] == [Outcome.NON_STRICT]
    assert found.as_pi
    assert not found.as_pi & found.reached
    # Whether or not the scenario is among its evidence.
    for clause in standings([CLAUSES[name] for name in found.as_pi], found):
        assert clause.standing is Standing.NON_STRICT, clause.clause.id


def test_a_fault_by_a_clause_that_is_not_in_force_is_put_down_to_the_difference() -> None:
    run, other = recorded("text_plain"), recorded("text_plain", "0.85.0")
    explanation = Explanation(profile="pi-1.6.0,message_thinking_level=pi-0.85.0", concerns=(), vanished=())
    found = seen(run, Expectation(lines=other.lines), explanation)
    assert found.breaches
    assert {each.clause for each in found.breaches} <= {each.id for each in CLAUSES.in_force(PROFILE)}
