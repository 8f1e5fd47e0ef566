"""Conversations that nobody has written: the runtime withstands them; what is planted in it is found, and shrunk."""

from __future__ import annotations

import subprocess
import sys

import pytest
import trio

from pi_trio.agent.batch import _Updates
from pi_trio.conformance.explore.shares import SITUATIONS
from pi_trio.conformance.explore.token import Token
from pi_trio.profile import PROFILES

from .searching import explored


@pytest.mark.parametrize("profile", PROFILES)
def test_the_runtime_withstands_what_nobody_has_written(profile: str) -> None:
    outcome = explored(50, profile)
    assert outcome.found == {}
    assert outcome.shares.conversations >= 50
    assert outcome.steps > 50 * 20
    assert set(outcome.shares.reached) == set(SITUATIONS)
    assert len(outcome.reached) > 50


def test_a_planted_race_of_two_steps_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is on its way, and the run is aborted: then the call's end does not wait for the report any more."""
    original = _Updates.delivered

    async def delivered(updates: _Updates) -> None:
        if updates._run.signal.aborted:
            await trio.lowlevel.checkpoint()
        else:
            await original(updates)

    monkeypatch.setattr(_Updates, "delivered", delivered)
    outcome = explored(1000, fail_fast=True)
    (found,) = outcome.found.values()
    assert "tool_execution_update" in found.fault.said
    commands = [step["cmd"] for step in Token.read(found.token).scenario.steps]
    assert len(commands) <= 8
    assert "update" in commands
    assert "abort" in commands


def test_the_same_number_leads_to_the_same_conversations() -> None:
    first, second = explored(15, start=7), explored(15, start=7)
    assert (first.steps, first.shares.reached, first.reached) == (
        second.steps,
        second.shares.reached,
        second.reached,
    )


@pytest.mark.parametrize("module", ["pi_trio", "pi_trio.conformance.explore.conversation", "pi_trio.cli"])
def test_nobody_else_imports_hypothesis(module: str) -> None:
    code = f"import sys, {module}; sys.exit('hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
