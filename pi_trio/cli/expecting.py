"""What is expected of a subject in the one scenario that somebody looks at: the same as `pi-trio conform` expects.

There are scenarios that nobody recorded, such as one from a file. In those the runtime has not been held to anything,
but what it does is still the best that a subject can be compared with.
"""

from __future__ import annotations

import argparse

import attrs

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.decide import judge_release
from pi_trio.conformance.expected import (
    Expectation,
    OfOthers,
    OfRuntime,
    ReferenceFault,
    consult_runtime,
    sound,
)
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.mirror import mirrored
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.twins import Twin, written
from pi_trio.conformance.vectors import VectorError
from pi_trio.conformance.verdict import Outcome
from pi_trio.profile import releases_in

from .candidates import Candidate
from .material import vectors_of


@attrs.frozen
class Comparison:
    """What a run was held to: whose trace that is, the trace, and what else allows the run to be as it is."""

    whose: str
    lines: tuple[Object, ...]
    allowed: str = ""


async def compared(
    options: argparse.Namespace, profile: str, subject: Candidate, hello: Object, scenario: Scenario, run: Run
) -> Comparison | None:
    """What a run is to be held to; None of the runtime itself, and where the runtime cannot be driven either.

    Args:
        hello: how the subject introduced itself. It is at rest.
    """
    if not subject.by_runtime:
        return None
    try:
        expected = await _expected(options, profile, subject, hello, scenario)
    except (ReferenceFault, VectorError):
        own = mirrored(scenario, hello.get("features", {}))
        reference = await consult_runtime(runtime_inside(profile, options.patience), [own])
        try:
            expected = Expectation(lines=sound(reference[own.name]).lines)
        except ReferenceFault:
            return None
    if not expected.lines:
        return None
    if subject.decide is judge_release:
        return Comparison(f"pi {releases_in(profile)[0]}, as recorded", expected.unruled_side)
    whose = f"the runtime as {profile}"
    if fingerprint(run.lines) == expected.fingerprint:
        return Comparison(whose, expected.lines)
    verdict = subject.decide(run, expected)
    allowed = verdict.reason if verdict.outcome is Outcome.NON_STRICT else ""
    return Comparison(whose, expected.lines, allowed)


async def _expected(
    options: argparse.Namespace, profile: str, subject: Candidate, hello: Object, scenario: Scenario
) -> Expectation:
    """As when it is judged. Raises: ReferenceFault, VectorError."""
    vectors, releases = vectors_of(options), releases_in(profile)
    if subject.decide is judge_release:
        recorded = OfRuntime(vectors, releases[0])
        await recorded.meet(hello, _at_rest)
        return recorded.of(scenario)
    if isinstance(scenario, Twin) and hello.get("features", {}).get("abort") == "cancelling":
        scenario = written(scenario)  # which is all that one of that mode is ever judged by
    others = OfOthers(runtime_inside(profile, options.patience), [scenario], vectors, releases)
    await others.consult()
    await others.meet(hello, _at_rest)
    return others.of(scenario)


async def _at_rest() -> None:
    """The subject has been ended already."""
