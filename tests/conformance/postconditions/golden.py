"""What the tests of the postconditions ask about: the scenarios under a ruling, and what becomes of a changed trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import trio

from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import (
    Expectation,
    consult_runtime,
    expected_of_cancelling,
    expected_of_runtime,
)
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.postconditions import unsafe
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Golden, golden_names, read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PI_1_6_0

RELEASE = "1.6.0"
VECTORS = Vectors.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
RULED = sorted(golden_names(VECTORS, RELEASE) & SCENARIOS.keys())


CANCELLED = [name for name in SCENARIOS if read_cancel_golden(VECTORS, RELEASE, name) is not None]


def expect_it(name: str, *, cancelling: bool = False) -> Expectation:
    expect = expected_of_cancelling if cancelling else expected_of_runtime
    return expect(VECTORS, RELEASE, SCENARIOS[name], hello(PI_1_6_0))


def why_unsafe(lines: Sequence[Object], expected: Expectation) -> str:
    assert expected.enters is not None
    return unsafe(
        lines,
        runtime=expected.lines,
        release=expected.unruled_side,
        enters=expected.enters,
        rulings=expected.rulings,
    )


def played(names: Sequence[str], profile: str = f"pi-{RELEASE}") -> Iterator[Run]:
    """What the runtime does, as it is now; each scenario on a runtime of its own."""
    for name in names:
        with first_in_first_out():
            run = trio.run(consult_runtime, runtime_inside(profile, 30), [SCENARIOS[name]])[name]
        assert isinstance(run, Run)
        yield run


def goldens(release: str) -> Iterator[Golden]:
    for name in sorted(golden_names(VECTORS, release)):
        golden = read_golden(VECTORS, release, name)
        assert golden is not None
        yield golden


def why_unsafe_in(golden: Golden, lines: Sequence[Object]) -> str:
    runtime, release = golden.runtime_side(), golden.release_side()
    return unsafe(lines, runtime=runtime, release=release, enters=golden.enters, rulings=golden.rulings())
