"""Of the clauses that a field decides, only those are named that a failure shows."""

from __future__ import annotations

import trio

from pi_trio.conformance.by_field import by_field
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.fitting import Concern, Explanation, Reference
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out

CLAUSES = Clauses.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
PROFILE, OTHER = "pi-0.85.0", "pi-1.0.3"


def named(field: str, *scenarios: str) -> dict[str, list[str]]:
    """The clauses that are named where these scenarios fail as the other release."""
    explanation = Explanation(
        profile=OTHER,
        concerns=(Concern(field=field, releases=(OTHER,), scenarios=scenarios),),
        vanished=scenarios,
    )
    failed: dict[str, Scenario] = {name: SCENARIOS[name] for name in scenarios}
    found: dict[str, list[str]] = {}
    with first_in_first_out():
        for each in trio.run(by_field, explanation, CLAUSES, PROFILE, failed, scenarios, Reference()):
            assert each.said == f"{field} as {OTHER} has it"
            found.setdefault(each.clause, []).append(each.scenario)
    return found


def test_where_no_evidence_was_played_the_difference_names_one() -> None:
    """What the requests of any scenario show is one clause of the field, and not all that it decides."""
    scenarios = ("tool_returns_nothing", "listener_throws_agent_end", "failed_run_steering_drained")
    assert named("system_messages", *scenarios) == {"STREAM-14": list(scenarios)}


def test_each_clause_is_named_with_the_evidence_that_failed() -> None:
    found = named("system_messages", "reset_when_idle", "tool_returns_nothing")
    assert found["RUN-28"] == ["reset_when_idle"]
    for clause, scenarios in found.items():
        assert CLAUSES[clause].field == "system_messages"
        assert "reset_when_idle" in scenarios or clause == "STREAM-14"


def test_a_field_that_decides_any_names_at_least_one() -> None:
    """Also where it shows in nothing that was played."""
    for field in {clause.field for clause in CLAUSES.in_force(PROFILE) if clause.field is not None}:
        found = named(field, "prompt_empty_list")
        assert found
        assert {CLAUSES[clause].field for clause in found} == {field}


def test_a_field_that_decides_nothing_names_nothing() -> None:
    assert named("peek_queued_messages", "text_plain") == {}


def test_all_scenarios_in_which_the_field_shows_are_counted_once() -> None:
    """Those that are no evidence of a clause show the same cause; without them there would be fewer than are told."""
    scenarios = ("text_plain", "text_only_done", "text_no_start_event", "three_turns")
    for field in ("message_thinking_level", "system_messages"):
        found = named(field, *scenarios)
        assert {name for names in found.values() for name in names} == {*scenarios}
