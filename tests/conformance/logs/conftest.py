"""What goes over the wire while the runtime is driven."""

from __future__ import annotations

import pytest
import trio

from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.mirror import cancelling
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside

from .wires import NAMES


@pytest.fixture(scope="session")
def wires() -> dict[str, list[str]]:
    """What went over the wire while the runtime was driven, as the tester shows it, scenario by scenario."""
    chosen = [scenario for scenario in all_scenarios() if scenario.name in NAMES]
    chosen += [cancelling(scenario) for scenario in chosen if scenario.name == "abort_tools_honored"]
    found: dict[str, list[str]] = {}
    with first_in_first_out():
        for number, scenario in enumerate(chosen):
            runs = trio.run(consult_runtime, runtime_inside("pi-1.6.0", 30), [scenario])
            run = runs[scenario.name]
            assert isinstance(run, Run)
            found[f"{scenario.name}{'' if number < len(NAMES) else ' cancelling'}"] = list(run.wire)
    assert len(found) == len(NAMES) + 1
    return found
