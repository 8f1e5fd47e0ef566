"""How verdicts add up, and the exit code that they give."""

from __future__ import annotations

import pytest

from pi_trio.conformance.protocol import REQUIRED_COMMANDS
from pi_trio.conformance.verdict import ExitCode, Leg, Outcome, Report, Verdict, summary

HELLO = {"commands": list(REQUIRED_COMMANDS), "hooks": []}


def verdict(outcome: Outcome, name: str = "", same_as: str = "") -> Verdict:
    return Verdict(name=name or outcome.lower(), title="", topic="t", outcome=outcome, same_as=same_as)


def report(*outcomes: Outcome, hello: dict | None = HELLO, fault: str = "") -> Report:
    verdicts = tuple(verdict(outcome, f"s{n}") for n, outcome in enumerate(outcomes))
    return Report(legs=(Leg(label="x", hello=hello, verdicts=verdicts, fault=fault),))


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([Outcome.PASS], 0),
        ([Outcome.PASS, Outcome.NON_STRICT, Outcome.NOT_OFFERED], 0),
        ([], 1),
        ([Outcome.NOT_OFFERED], 1),
        ([Outcome.NON_STRICT], 1),
        ([Outcome.PASS, Outcome.FAIL], 1),
        ([Outcome.PASS, Outcome.HANG], 1),
        ([Outcome.PASS, Outcome.CRASH], 1),
        ([Outcome.PASS, Outcome.HARNESS], 4),
        ([Outcome.FAIL, Outcome.HARNESS], 4),
    ],
)
def test_the_exit_code(outcomes: list[Outcome], code: int) -> None:
    assert report(*outcomes).exit_code() == code


def test_a_subject_that_did_not_start_has_a_code_of_its_own() -> None:
    assert report(hello=None, fault="no").exit_code() is ExitCode.NOT_STARTED


@pytest.mark.parametrize("name", REQUIRED_COMMANDS)
def test_every_required_command_has_to_be_offered(name: str) -> None:
    hello = {"commands": [each for each in REQUIRED_COMMANDS if each != name], "hooks": []}
    lacking = report(Outcome.PASS, hello=hello)
    assert lacking.missing_commands() == (name,)
    assert lacking.exit_code() is ExitCode.NOT_CONFORMANT


def test_the_worst_leg_counts() -> None:
    legs = [
        Leg(label=label, hello=HELLO, verdicts=(verdict(outcome, "a"), verdict(Outcome.PASS, "b")))
        for label, outcome in (("one", Outcome.PASS), ("two", Outcome.CRASH))
    ]
    both = Report(legs=tuple(legs))
    assert both.tally() == {Outcome.CRASH: 1, Outcome.PASS: 1}
    assert summary(both.tally()) == "1 passed, 0 non-strict, 0 not offered, 1 failed"


def test_coinciding_scenarios_count_once_unless_they_differ() -> None:
    verdicts = (
        verdict(Outcome.PASS, "a", "T"), verdict(Outcome.PASS, "b", "T"), verdict(Outcome.FAIL, "c", "T"),
        verdict(Outcome.PASS, "d", "U"),
    )  # fmt: skip
    counts = Report(legs=(Leg(label="x", hello=HELLO, verdicts=verdicts),)).tally()
    assert counts == {Outcome.PASS: 2, Outcome.FAIL: 1}


def test_what_was_not_run_counts_each_time() -> None:
    verdicts = (verdict(Outcome.NOT_OFFERED, "a", "T"), verdict(Outcome.NOT_OFFERED, "b", "T"))
    counts = Report(legs=(Leg(label="x", hello=HELLO, verdicts=verdicts),)).tally()
    assert counts == {Outcome.NOT_OFFERED: 2}


def test_what_was_not_tried_is_counted_apart() -> None:
    lost = Verdict(name="b", title="", topic="t", outcome=Outcome.CRASH, tried=False)
    given_up = Report(legs=(Leg(label="x", hello=HELLO, verdicts=(verdict(Outcome.CRASH, "a"), lost)),))
    assert given_up.untried() == 1
    assert given_up.tally() == {Outcome.CRASH: 2}


def test_the_summary_names_a_fault_of_the_tester_only_if_there_is_one() -> None:
    assert summary(report(Outcome.PASS).tally()) == "1 passed, 0 non-strict, 0 not offered, 0 failed"
    assert summary(report(Outcome.HARNESS).tally()).endswith("0 failed, 1 tester faults")
