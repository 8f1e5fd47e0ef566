"""A hole in the monitors' tables is found by a recording, and the tables are whole again behind it."""

from __future__ import annotations

from pi_trio.conformance.monitors.order import TABLES, TRANSITIONS
from pi_trio.conformance.mutants import tables
from pi_trio.conformance.mutants.explained import TABLES as EXPLAINED


def test_nearly_every_transition_is_needed() -> None:
    before = {machine: dict(table) for machine, table in TABLES.items()}
    trials = tables.try_tables()
    assert [trial.transition for trial in trials] == list(TRANSITIONS)
    assert {trial.transition for trial in trials if not trial.killed} == EXPLAINED.keys()
    assert {machine: dict(table) for machine, table in TABLES.items()} == before
    assert {machine: list(table) for machine, table in TABLES.items()} == {
        machine: list(table) for machine, table in before.items()
    }
