"""Small right implementations that differ from Pi where they may: they are never blamed for that."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import OfOthers
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Leg, Outcome

ROOT = Path(__file__).parent.parent.parent

#: What the subjects do not do: convert arguments, announce tools, and contain what a failed run leaves behind.
BEYOND = {"arguments", "transcript", "failure", "low_level"}
BEYOND_BY_NAME = {"after_tool_call_only_for_executed"}


def launches_several(scenario: Scenario) -> bool:
    """Whether calls are launched in one step, as the recording has it."""
    recording = Vectors.shipped().read("1.6.0", scenario.name)
    launched = most = 0
    for line in recording.lines if recording is not None else ():
        launched += "tell" not in line and line.get("ask", {}).get("fn") == "execute"
        most = max(most, launched)
        launched *= "send" not in line
    return most > 1


SCENARIOS = [
    each for each in all_scenarios() if each.topic not in BEYOND and each.name not in BEYOND_BY_NAME
]  # fmt: skip

#: Those in which calls run side by side.
PARALLEL = [each for each in SCENARIOS if each.topic in ("batch", "updates") and launches_several(each)]


def subject(module: str, *arguments: str) -> Opener:
    """One of the subjects, as a program."""
    place = f"tests.conformance.subjects_in_python.{module}"
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {place} import main; main()"
    command = [sys.executable, "-S", "-c", script, *arguments]
    return lambda: open_process_subject(command, profile="pi-1.6.0", patience=20)


@pytest.fixture(scope="module")
def others() -> OfOthers:
    expectations = OfOthers(runtime_inside("pi-1.6.0", 30), SCENARIOS, Vectors.shipped(), ["1.6.0"])
    with first_in_first_out():
        trio.run(expectations.consult)
    return expectations


def judged(others: OfOthers, opener: Opener, scenarios: list, jobs: int = 1) -> Counter[Outcome]:
    async def run() -> Leg:
        return await judge_subject(
            "x", opener, scenarios, expect=others.of, meet=others.meet, decide=judge, jobs=jobs
        )

    with first_in_first_out():
        leg = trio.run(run)
    wrong = {
        verdict.name: (verdict.outcome, verdict.reason)
        for verdict in leg.verdicts
        if verdict.outcome not in (Outcome.PASS, Outcome.NON_STRICT, Outcome.NOT_OFFERED)
    }
    assert not wrong
    return Counter(verdict.outcome for verdict in leg.verdicts)


@pytest.mark.parametrize("module", ["threaded", "synchronous"])
def test_all_that_they_offer_is_right(others: OfOthers, module: str) -> None:
    some = SCENARIOS[::3]
    assert judged(others, subject(module), some)[Outcome.PASS] > 0.4 * len(some)


def test_threads_are_never_blamed_for_their_order(others: OfOthers) -> None:
    """Twenty times what runs side by side."""
    outcomes = judged(others, subject("threaded"), PARALLEL * 20, jobs=2)
    assert outcomes[Outcome.PASS] > 20 * len(PARALLEL) / 2


def test_who_does_not_wait_is_never_blamed_for_it(others: OfOthers) -> None:
    outcomes = judged(others, subject("threaded", "--hurried"), PARALLEL, jobs=4)
    assert outcomes[Outcome.PASS] > len(PARALLEL) / 2
