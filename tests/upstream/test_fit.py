"""Real Pi fitted to the profiles: each release is found to be what it is, and is found out as another."""

from __future__ import annotations

import re

import pytest
import trio

from pi_trio.cli import main
from pi_trio.conformance.expected import lacking
from pi_trio.conformance.fitting import (
    Certainty,
    Explanation,
    Failure,
    Fitted,
    Reference,
    Rulings,
    fields_concerned,
    fit,
)
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import release_of_pi
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import FIELDS, PROFILES, get_profile

pytestmark = pytest.mark.upstream

RULINGS = Rulings(Vectors.shipped())

HIDDEN = {"pi-0.80.2": {"prepared_messages"}}
"""Fields that cannot show in a release: `prepare_next_turn` is called there when the turn is over already."""


def fitted(release: str) -> Fitted:
    async def asked() -> Fitted:
        _, opener = await release_of_pi(release, 30, print)
        async with open_keeper(opener) as keeper:
            await keeper.start()
            return await fit(keeper, all_scenarios(), RULINGS)

    with first_in_first_out():
        return trio.run(asked)


def test_every_field_of_a_release_is_told_and_right(any_pi) -> None:
    name = f"pi-{any_pi.release}"
    found = fitted(any_pi.release)
    assert (found.base, found.profile) == (name, name)
    for finding in found.findings:
        hidden = finding.field in HIDDEN.get(name, ())
        assert finding.told is (Certainty.UNSHOWN if hidden else Certainty.SHOWN), finding
        assert name in finding.releases, finding
        values = {getattr(PROFILES[release], finding.field) for release in finding.releases}
        assert hidden or len(values) == 1, finding
    assert found.driven < 60


def test_the_command_names_it(pi_install, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["fit", "--subject", f"pi@{pi_install.release}"])
    shown = capfd.readouterr().out
    assert shown.endswith(f"\n--profile pi-{pi_install.release}\n")
    assert re.search(r"^durations +\S+ +(yes|no) +the same +\w+$", shown, re.MULTILINE)
    assert code == 0


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


@pytest.mark.parametrize("judged_as", PROFILES)
def test_as_another_release_it_fails_by_the_fields_that_differ(
    any_pi, judged_as: str, reference: Reference
) -> None:
    name = f"pi-{any_pi.release}"
    scenarios = [each for each in all_scenarios() if each.name not in RULINGS.names][::3]

    async def asked() -> tuple[Explanation, int]:
        _, opener = await release_of_pi(any_pi.release, 30, print)
        failures: list[Failure] = []
        async with open_keeper(opener) as keeper:
            await keeper.start()
            for scenario in scenarios:
                trace = await reference.trace(get_profile(judged_as), scenario)
                if not trace.missing and not lacking(scenario, keeper.hello):
                    run = await keeper.drive(scenario)
                    failure = Failure(scenario=scenario, lines=run.lines)
                    failures += [failure] if failure.got.key != trace.key else []
        explanation = await fields_concerned(
            judged_as, failures, RULINGS, hello=keeper.hello, reference=reference
        )
        return explanation, len(failures)

    with first_in_first_out():
        explanation, failed = trio.run(asked)
    named = {concern.field for concern in explanation.concerns}
    differ = {
        field for field in FIELDS if getattr(PROFILES[name], field) != getattr(PROFILES[judged_as], field)
    }
    assert named <= differ
    assert bool(named) is bool(failed) is (name != judged_as)
    assert len(explanation.vanished) >= failed - 1
    for concern in explanation.concerns:
        assert name in concern.releases
        assert judged_as not in concern.releases
