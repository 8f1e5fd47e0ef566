"""Real Pi fitted to the profiles: each release is found to be what it is."""

from __future__ import annotations

import re

import pytest
import trio

from pi_trio.cli import main
from pi_trio.conformance.fitting import (
    Certainty,
    Fitted,
    Rulings,
    fit,
)
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import release_of_pi
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES

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
