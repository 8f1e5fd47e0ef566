"""The tester can fail: faults of real ports, planted in the runtime, are reported by what `conform` judges with."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import OfRuntime, consult_runtime
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.scripting import DONE, answers, result, streams
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import ExitCode, Outcome, Report, Verdict

from .planted import FAULTS, Fault

VECTORS = Vectors.shipped()
RUNTIME = runtime_inside("pi-1.6.0", 30)
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
INDISPENSABLE = {"F01", "F04", "F05", "F06", "F10", "F11", "F12", "F19", "F22", "F24", "F26"}

every_one = pytest.mark.parametrize(
    "fault", [pytest.param(fault, id=f"{fault.id}-{fault.make.__name__}") for fault in FAULTS]
)


def conform(names: Iterable[str]) -> tuple[ExitCode, dict[str, Verdict]]:
    """What `pi-trio conform` finds out about the runtime in this process."""

    async def judge_runtime() -> Report:
        by = OfRuntime(VECTORS, "1.6.0")
        leg = await judge_subject(
            "runtime",
            RUNTIME,
            [SCENARIOS[name] for name in names],
            expect=by.of,
            decide=judge,
            meet=by.meet,
        )
        return Report(legs=(leg,))

    with first_in_first_out():
        report = trio.run(judge_runtime)
    return report.exit_code(), {verdict.name: verdict for verdict in report.legs[0].verdicts}


def answered(scenario: Scenario) -> Scenario:
    """The scenario, and an answer to each request and each tool that it does not expect."""
    unexpected = (answers("execute", result("late")), streams(DONE))
    return Scenario.from_json(
        {**scenario.to_json(), "answers": [*scenario.to_json()["answers"], *unexpected]}
    )


def plant(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault.owner, fault.name, fault.make(getattr(fault.owner, fault.name)))


@every_one
def test_it_is_reported(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [fault.shows, *fault.spares]
    code, verdicts = conform(names)
    assert code is ExitCode.CONFORMANT
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}

    plant(fault, monkeypatch)
    code, verdicts = conform(names)
    assert code is ExitCode.NOT_CONFORMANT
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {
        fault.shows: fault.outcome,
        **dict.fromkeys(fault.spares, Outcome.PASS),
    }
    assert verdicts[fault.shows].hunks


@every_one
def test_it_breaks_nothing_else(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(fault, monkeypatch)
    with first_in_first_out():
        runs = trio.run(consult_runtime, RUNTIME, [answered(SCENARIOS[fault.shows])])
    run = runs[fault.shows]
    assert isinstance(run, Run)
    assert run.fault is None
    assert run.lines[-1] == {"end": "hang" if fault.outcome is Outcome.HANG else "settled"}


def test_none_of_the_indispensable_is_missing() -> None:
    assert {fault.id for fault in FAULTS} >= INDISPENSABLE
