"""What is put down to clauses while a subject is judged, given what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

import attrs
import pytest
import trio

from pi_trio.conformance.causes import AsAnother, Causes
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.decide import judge_release
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.faults import SubjectDied, SubjectFault, SubjectMissed
from pi_trio.conformance.fitting import Explanation, Reference
from pi_trio.conformance.kept import Failed, Kept
from pi_trio.conformance.lines import event_of
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.standing import Seen, Standing, standings
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome, Verdict
from pi_trio.jsonvalue import thaw
from pi_trio.profile import get_profile

VECTORS = Vectors.shipped()
CLAUSES = Clauses.shipped()
PROFILE = "pi-1.6.0"
HELLO = hello(get_profile(PROFILE))


class Nothing:
    """Judged as another profile, all fails as before, or by what is expected there."""

    def __init__(self, wanted: Expectation | None = None) -> None:
        self._wanted = wanted

    async def judged(
        self, _profile: str, failed: Mapping[str, Failed]
    ) -> tuple[dict[str, Verdict], dict[str, Failed]]:
        if self._wanted is None:
            return {}, dict(failed)
        return {}, {name: attrs.evolve(each, expected=self._wanted) for name, each in failed.items()}


def recorded(name: str, release: str = "1.6.0") -> Run:
    """What a release did, as if it was driven now."""
    recording = VECTORS.read(release, name)
    assert recording is not None
    return Run(scenario=recording.scenario, lines=tuple(recording.lines), fault=None, ignored=Counter())


def seen(
    run: Run,
    expected: Expectation,
    explanation: Explanation | None = None,
    another: Expectation | None = None,
) -> Seen:
    causes, kept = Causes(CLAUSES, PROFILE), Kept()
    verdict = causes.of(kept.of(judge_release))(run, expected)
    failed, other = kept.among([verdict]), cast(AsAnother, Nothing(another))
    return trio.run(causes.put_down, [verdict], failed, explanation, other, HELLO, Reference())


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


def test_what_is_right_as_judged_is_not_wrong_because_of_what_explains_other_failures() -> None:
    """The state has no tools. As the other profile its prompt would be another one, but this one is as it should be."""
    run, other = recorded("initial_messages_with_system"), recorded("initial_messages_with_system", "0.80.2")
    changed = [thaw(line) for line in run.lines]
    state = next(line["reply"] for line in changed if "tools" in (line.get("reply") or {}))
    state["tools"] = []
    explanation = Explanation(profile="pi-1.6.0,system_messages=pi-0.80.2", concerns=(), vanished=())
    found = seen(
        attrs.evolve(run, lines=tuple(changed)),
        Expectation(lines=run.lines),
        explanation,
        Expectation(lines=other.lines),
    )
    assert found.breaches
    assert [breach.said for breach in found.breaches if "systemPrompt" in breach.said] == []


@pytest.mark.parametrize("message", [None, 5, "system", [], {}, {"role": []}])
def test_a_request_with_any_value_for_its_first_message_is_put_down_to_something(message: object) -> None:
    run = recorded("text_plain")
    requests = [line for line in run.lines if "args" in line and line["ask"]["fn"] == "streamFn"]
    assert requests
    odd = [thaw(line) for line in run.lines]
    for line in odd:
        if "args" in line and line["ask"]["fn"] == "streamFn":
            line["args"]["context"]["messages"][0] = message
    found = seen(attrs.evolve(run, lines=tuple(odd)), Expectation(lines=run.lines))
    assert [breach.scenario for breach in found.breaches] == ["text_plain"]


def broken_off(fault: SubjectFault) -> Run:
    """A run that said what was due until the first update, and then broke off."""
    run = recorded("text_plain")
    first = next(
        at for at, line in enumerate(run.lines) if (event_of(line) or {}).get("type") == "message_update"
    )
    return attrs.evolve(run, lines=(*run.lines[:first], {"end": fault.end}), fault=fault)


def test_who_waits_in_vain_puts_it_down_to_what_did_not_come() -> None:
    found = seen(broken_off(SubjectMissed("waited in vain")), Expectation(lines=recorded("text_plain").lines))
    assert [breach.clause for breach in found.breaches] == ["STREAM-03"]


def test_who_dies_breaks_nothing_by_that() -> None:
    found = seen(broken_off(SubjectDied("it is gone")), Expectation(lines=recorded("text_plain").lines))
    assert found.breaches == ()
