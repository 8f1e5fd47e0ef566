"""Real Pi in every order of gates: the laws of a batch that these scopes judge by are its own."""

from __future__ import annotations

import pytest
import trio

from pi_trio.cli import main
from pi_trio.conformance.scopes import Coverage, Gates
from pi_trio.conformance.subjects.choice import release_of_pi

pytestmark = pytest.mark.upstream


@pytest.mark.parametrize(("calls", "updates"), [(3, 0), (2, 1), (1, 2)])
def test_nothing_is_wrong_with_a_release(any_pi, calls: int, updates: int) -> None:
    release, opener = trio.run(release_of_pi, any_pi.release, 30, print)
    scope = Gates(
        calls=calls, updates=updates, beside=("abort", "steer"), profile=f"pi-{release}", subject=opener
    )
    coverage = Coverage(scope)
    coverage.fill()
    assert (coverage.complete, coverage.plays, coverage.found) == (True, scope.orders, {})
    assert coverage.endings == 4, "an abort that is advice, or none; and what is queued is said or stays"


def test_the_command_plays_what_a_release_offers(pi_install, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", "--subject", f"pi@{pi_install.release}", "--scope", "gates-2x0-abort-*"]) == 0
    out = capfd.readouterr().out
    assert (
        "not offered, for want of feature abort: cancelling: gates-2x0-abort-cancel, gates-2x0-abort-steer-"
        in out
    )
    assert "3 scopes, 60 plays in " in out
