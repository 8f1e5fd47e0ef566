"""Every field of the profile shows: whoever has one of them as the next release has it is found out.

For each release, each field and each neighbour that has another value there: the runtime with that one value, judged
as the release, fails in some scenario. What only adds or takes away a hook or a command is no failure by itself, but
shows in what is offered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import OfOthers, lacking
from pi_trio.conformance.fitting import Reference, Rulings
from pi_trio.conformance.fitting.order import in_order
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome
from pi_trio.profile import FIELDS, PROFILES, get_profile, releases_in

OFFERED_ONLY = frozenset(
    {"stop_hook", "prepare_next_turn_with_context", "prepare_request", "peek_queued_messages"}
)
"""Fields that say what there is, and not what it does. That it is called in the right way other fields say."""

VECTORS = Vectors.shipped()
NAMES = list(PROFILES)
CASES = [
    (base, field, donor)
    for index, base in enumerate(NAMES)
    for field in FIELDS
    for donor in NAMES[max(0, index - 1) : index + 2]
    if getattr(PROFILES[base], field) != getattr(PROFILES[donor], field)
]


def cases(*, offered_only: bool) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if (case[1] in OFFERED_ONLY) is offered_only]
    return pytest.mark.parametrize(("base", "field", "donor"), chosen)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


async def outcomes(reference: Reference, base: str, field: str, mixed: str) -> AsyncGenerator[Outcome]:
    """What is said of a mixture by the vectors of a release, in one scenario after the other that tells them apart."""
    for scenario in in_order(all_scenarios(), Rulings(VECTORS), field):
        right, wrong = [await reference.trace(get_profile(name), scenario) for name in (base, mixed)]
        if right.key == wrong.key or right.missing or wrong.missing:
            continue
        by = OfOthers(runtime_inside(base, 30), [scenario], VECTORS, releases_in(base))
        await by.consult()
        leg = await judge_subject(
            mixed, runtime_inside(mixed, 30), [scenario], expect=by.of, decide=judge, meet=by.meet
        )
        for verdict in leg.verdicts:
            yield verdict.outcome


@cases(offered_only=False)
def test_a_value_of_another_release_fails(reference: Reference, base: str, field: str, donor: str) -> None:
    """In some scenario, and in none it passes; where a ruling applies, it may be safe in its own way."""

    async def fails() -> bool:
        async with aclosing(outcomes(reference, base, field, f"{base},{field}={donor}")) as found:
            async for outcome in found:
                assert outcome in (Outcome.FAIL, Outcome.NON_STRICT)
                if outcome is Outcome.FAIL:
                    return True
        return False

    with first_in_first_out():
        assert trio.run(fails)


@cases(offered_only=True)
def test_what_is_only_there_or_not_decides_what_can_be_played(base: str, field: str, donor: str) -> None:
    mixed = get_profile(f"{base},{field}={donor}")
    here, there = hello(PROFILES[base]), hello(mixed)
    assert any(bool(lacking(each, here)) != bool(lacking(each, there)) for each in all_scenarios())
