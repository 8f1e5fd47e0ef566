"""The runtime keeps what rulings promise, Pi does not, and where no ruling applies nothing is said against either."""

from __future__ import annotations

import pytest

from pi_trio.conformance.postconditions import ALWAYS, broken
from pi_trio.conformance.postconditions.said import conversations
from pi_trio.profile import PROFILES

from .golden import CANCELLED, RELEASE, RULED, VECTORS, expect_it, goldens, why_unsafe, why_unsafe_in

every_release = pytest.mark.parametrize("release", [profile.release for profile in PROFILES.values()])


@every_release
def test_the_runtime_keeps_what_rulings_promise(release: str) -> None:
    found = {each.scenario: why_unsafe_in(each, each.runtime_side()) for each in goldens(release)}
    assert found
    assert {name: why for name, why in found.items() if why} == {}


@every_release
def test_real_pi_does_not_keep_it(release: str) -> None:
    """In each golden trace, what the release does breaks a promise of one of the very rulings that apply."""
    kept = [
        each.scenario for each in goldens(release) if not any(broken(each.release_side(), each.rulings()))
    ]
    safe = [each.scenario for each in goldens(release) if not why_unsafe_in(each, each.release_side())]
    assert (kept, safe) == ([], [])


def test_where_no_ruling_applies_both_keep_it() -> None:
    """The predicates say nothing against what release and runtime agree on."""
    found = {}
    for name in sorted(VECTORS.names(RELEASE) - set(RULED))[::2]:
        recording = VECTORS.read(RELEASE, name)
        assert recording is not None
        wrong = [
            what
            for each in conversations(recording.lines)
            for predicate in ALWAYS
            for what in predicate(each)
        ]
        found.update({name: wrong} if wrong else {})
    assert found == {}


AS_SAFE = {
    "abort_and_delta_same_tick",
    "together_abort_and_failure_in_tools",
    "together_abort_and_hold_at_end",
    "together_abort_and_hold_in_stream",
}
"""There the run is as well rid of its waits in the advisory mode: the modes differ in words, or in order."""


@pytest.mark.parametrize("name", CANCELLED)
def test_an_abort_that_is_advice_does_not_cancel(name: str) -> None:
    expected = expect_it(name, cancelling=True)
    assert why_unsafe(expected.lines, expected) == ""
    advisory = [expected.lines[0], *expected.unruled_side[1:]]
    assert bool(why_unsafe(advisory, expected)) == (name not in AS_SAFE)
