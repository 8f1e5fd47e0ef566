"""Scenarios that nobody records, as the runtime plays them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import trio

from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.mirror import cancelling
from pi_trio.conformance.monitors import Judgement, judge_trace
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.scripting import topic
from pi_trio.conformance.subjects.choice import runtime_inside

from .recordings import FORCE


def played(scenarios: Sequence[Scenario], release: str) -> list[Run]:
    with first_in_first_out():
        runs = trio.run(consult_runtime, runtime_inside(f"pi-{release}", 30), scenarios)
    found = list(runs.values())
    assert all(isinstance(run, Run) for run in found)
    return [run for run in found if isinstance(run, Run)]


def judged_runs(rare: Sequence[Object], release: str, *, cancels: bool) -> Iterator[tuple[Run, Judgement]]:
    """The scenarios as they are played in one of the modes of the abort, and what the monitors say of each."""
    scenarios = topic("rare", *rare)
    if cancels:
        scenarios = tuple(map(cancelling, scenarios))
    for run in played(scenarios, release):
        yield run, judge_trace(run.lines, FORCE, [release], cancelling=cancels)
