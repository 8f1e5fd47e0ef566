"""Which release a subject behaves as that dies of some things, or does not start again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.fitting import Certainty, Fitted
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.subject import Subject
from pi_trio.jsonvalue import thaw
from pi_trio.profile import FIELDS, PROFILES, get_profile

from .asking import MIXTURES, deviating, die_of_a_request, fitted, told


def test_a_crash_drops_no_field_that_other_scenarios_can_tell() -> None:
    """It dies of every tool that throws, and of nothing else."""

    def die(message: Object) -> Object:
        if "went wrong" in str(message) or message.get("event", {}).get("isError"):
            raise RuntimeError("no such thing as an error")
        return message

    found = fitted(deviating("pi-1.6.0,durations=pi-1.0.3", die))
    assert found.profile == "pi-1.6.0,durations=pi-1.0.3"
    assert told(found, "durations").told is Certainty.SHOWN
    assert found.broken
    assert all(fault.end == "crash" for fault in found.broken.values())
    for finding in found.unclear():
        assert {*finding.broken} <= found.broken.keys()


def test_who_dies_again_and_again_is_given_up() -> None:
    found = fitted(deviating("pi-1.6.0", die_of_a_request))
    assert found.driven < 20
    assert told(found, "identity").told is Certainty.UNCLEAR
    assert told(found, "identity").broken


def lived(lives: Sequence[str]) -> Fitted:
    """The runtime, opened again and again: each life is "good", "short" (it dies in its first run), or "none"; the last
    one is repeated.
    """
    left = [*lives]

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        life = left.pop(0) if len(left) > 1 else left[0]
        if life == "none":
            raise SubjectUnstartable("it exited with code 9")
        opener = deviating("pi-1.6.0", die_of_a_request if life == "short" else thaw)
        async with opener() as subject:
            yield subject

    return fitted(opened)


def test_a_failed_restart_costs_one_scenario() -> None:
    found = lived(["short", "none", "good"])
    assert (found.profile, found.unclear()) == ("pi-1.6.0", ())
    crash, restart = found.broken.values()
    assert (crash.end, restart.end) == ("crash", "crash")
    assert restart.message == "it does not start again: it exited with code 9"


def test_who_does_not_start_again_is_given_up_after_three() -> None:
    found = lived(["short", "none"])
    assert (found.driven, len(found.broken)) == (1, 4)
    assert {finding.told for finding in found.findings} <= {Certainty.UNCLEAR, Certainty.UNSHOWN}


def test_what_was_found_stays_when_the_subject_is_given_up() -> None:
    """It does well for a while, and then dies of everything."""
    left = 30

    def tire(message: Object) -> Object:
        nonlocal left
        left -= message.get("fn") == "streamFn"
        return die_of_a_request(message) if left < 0 else message

    found = fitted(deviating(MIXTURES[0], tire))
    assert found.broken
    assert found.unclear()
    truth = get_profile(MIXTURES[0])
    shown = [finding for finding in found.findings if finding.told is Certainty.SHOWN]
    assert len(shown) > len(FIELDS) / 3
    for finding in shown:
        values = [getattr(PROFILES[name], finding.field) for name in finding.releases]
        assert getattr(truth, finding.field) in values
