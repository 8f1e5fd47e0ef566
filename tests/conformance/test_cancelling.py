"""The cancelling abort, in every scenario: as the advisory one without an abort, and as reviewed with one."""

from __future__ import annotations

import pytest
import trio

from pi_trio.conformance.cancelling import cancel_golden_path, in_both_modes, read_cancel_golden
from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors

RELEASE = "1.6.0"
VECTORS = Vectors.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}

Traces = dict[str, tuple[tuple[Object, ...], tuple[Object, ...]]]


@pytest.fixture(scope="module")
def traces() -> Traces:
    async def run() -> Traces:
        async with open_keeper(runtime_inside(f"pi-{RELEASE}", 30)) as keeper:
            return {name: await in_both_modes(one, keeper.drive) for name, one in SCENARIOS.items()}

    with first_in_first_out():
        return trio.run(run)


def aborts(lines: tuple[Object, ...]) -> bool:
    commands = [line["send"] for line in lines if "send" in line]
    parts = [part for command in commands for part in command.get("cmds", [command])]
    return any(part["cmd"] == "abort" for part in parts)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_cancelling_mode_is_as_reviewed(name: str, traces: Traces) -> None:
    advisory, cancelling = traces[name]
    golden = read_cancel_golden(VECTORS, RELEASE, name)
    if golden is None:
        assert fingerprint(cancelling) == fingerprint(advisory)
        return
    assert golden.faults() == []
    assert fingerprint(golden.release_side()) == fingerprint(advisory)
    assert fingerprint(golden.runtime_side()) == fingerprint(cancelling)
    assert golden.rulings() == ("D-10",)
    assert aborts(advisory), "without an abort the modes are the same"
    assert cancelling[-1] == {"end": "settled"}, "an abort ends every wait"


def test_each_golden_trace_has_its_scenario() -> None:
    paths = cancel_golden_path(VECTORS, RELEASE, "").parent.glob("*.jsonl")
    assert {path.stem for path in paths} <= SCENARIOS.keys()
