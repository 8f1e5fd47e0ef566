"""Scenarios that nobody records, as the runtime plays them."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside


def played(scenarios: Sequence[Scenario], release: str) -> list[Run]:
    with first_in_first_out():
        runs = trio.run(consult_runtime, runtime_inside(f"pi-{release}", 30), scenarios)
    found = list(runs.values())
    assert all(isinstance(run, Run) for run in found)
    return [run for run in found if isinstance(run, Run)]
