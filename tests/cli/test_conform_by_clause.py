"""`pi-trio conform` tells which clauses hold, and names each that is broken once."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from pi_trio.cli import main
from pi_trio.conformance.clauses import Clauses

CLAUSES = Clauses.shipped()

LATE_TURN = shlex.join([sys.executable, "-m", "tests.conformance.subjects_in_python.late_turn"])
"""A subject that says `turn_start` behind the user's message."""


def judged(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """The verdicts by clause."""
    file = tmp_path / "report.json"
    main(["conform", *arguments, "--json", str(file)])
    return {each["id"]: each for each in json.loads(file.read_text())["clauses"]}


def with_standing(clauses: dict[str, Any], standing: str) -> list[str]:
    return [name for name, each in clauses.items() if each["standing"] == standing]


def test_the_runtime_keeps_every_clause(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    clauses = judged(tmp_path)
    assert list(clauses) == [each.id for each in CLAUSES.in_force("pi-1.6.0") if not each.of_transport]
    assert with_standing(clauses, "HOLDS") == list(clauses)
    shown = capfd.readouterr().out
    musts = sum(each["level"] == "MUST" for each in clauses.values())
    assert f"clauses: {musts} of {musts} MUST hold; " in shown


def test_one_fault_is_one_cause_however_many_scenarios_show_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    clauses = judged(tmp_path, "--exec", LATE_TURN)
    assert with_standing(clauses, "BROKEN") == ["TURN-01"]
    (cause,) = clauses["TURN-01"]["causes"]
    assert len(cause["scenarios"]) > 400
    assert "BROKEN TURN-01  A turn begins with turn_start  (MUST): one cause, " in capfd.readouterr().out
