"""What is wrong of the loop alone is put down to the loop, if an agent does it right."""

from __future__ import annotations

from pi_trio.conformance.loop_alone import of_the_loop_alone
from pi_trio.conformance.standing import Breach


def breach(clause: str, scenario: str) -> Breach:
    return Breach(clause=clause, scenario=scenario, cause=clause, said="something")


LOOP = breach("STREAM-03", "loop_text")


def found(*breaches: Breach, kept: str = "STREAM-03") -> list[tuple[str, str]]:
    alone = {"loop_text", "loop_updates"}
    return [(each.clause, each.scenario) for each in of_the_loop_alone(breaches, alone, {kept})]


def test_what_an_agent_does_right_is_a_matter_of_the_loop_alone() -> None:
    assert found(LOOP) == [("RUN-33", "loop_text")]


def test_each_scenario_is_told_once() -> None:
    assert found(LOOP, LOOP, breach("STREAM-03", "loop_updates")) == [
        ("RUN-33", "loop_text"),
        ("RUN-33", "loop_updates"),
    ]


def test_what_an_agent_does_wrong_too_is_none() -> None:
    assert found(LOOP, breach("STREAM-03", "text_plain")) == []


def test_nor_is_what_no_agent_was_seen_to_do() -> None:
    assert found(LOOP, kept="STREAM-05") == []


def test_runs_that_fail_are_meant_to_differ() -> None:
    assert found(breach("FAIL-06", "loop_text"), kept="FAIL-06") == []
