"""Who is as careful as the runtime in another way is not strict; who only seems to be fails."""

from __future__ import annotations

import pytest

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.decide import judge, judge_runtime
from pi_trio.conformance.verdict import Outcome

from ..planted import FAULTS, Fault
from ..planted.otherwise import SAFE, UNSAFE, Way
from .golden import RELEASE, expect_it, played


@pytest.mark.parametrize("way", SAFE, ids=lambda way: way.make.__name__)
def test_who_is_as_careful_in_another_way_is_not_strict(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.owner, way.name, way.make(getattr(way.owner, way.name)))
    for run in played(way.shows):
        expected = expect_it(run.scenario.name)
        verdict = judge(run, expected)
        assert (verdict.outcome, run.scenario.name) == (Outcome.NON_STRICT, run.scenario.name), verdict.reason
        assert verdict.reason.startswith("otherwise safe: ")
        assert verdict.hunks
        assert judge_runtime(run, expected).outcome is Outcome.FAIL


@pytest.mark.parametrize("way", UNSAFE, ids=lambda way: way.make.__name__)
def test_who_only_seems_to_be_fails(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.owner, way.name, way.make(getattr(way.owner, way.name)))
    for run in played(way.shows):
        verdict = judge(run, expect_it(run.scenario.name))
        assert verdict.outcome in (Outcome.FAIL, Outcome.HANG), run.scenario.name


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("abort_answers_every_call=pi-1.0.3", "failed_run_sequential_orphan"),
        ("durations=pi-1.0.3", "listener_throws_tool_execution_update"),
        ("message_thinking_level=pi-0.85.0", "stream_end_without_done_no_result"),
    ],
)
def test_who_follows_another_release_in_it_fails(field: str, name: str) -> None:
    """That what closes a run is as in an older release is no ruling's matter."""
    for run in played([name], f"pi-{RELEASE},{field}"):
        assert judge(run, expect_it(name)).outcome is Outcome.FAIL


BEHIND = ("F04", "F05", "F14", "F15", "F17", "F19", "F20", "F24", "F28", "F30")
"""Faults that show behind the command that enters a ruling, so that the promises are all that can find them there."""
SOME = [
    "tool_duplicate_call_ids_state", "failed_run_end_held", "stream_double_start_then_tool", "failed_run_keeps_queues",
    "failed_run_tool_ends_during_failure_events", "stream_end_without_done_no_result", "abort_then_listener_fails",
    "failed_run_leaves_tool_running_end_after_idle", "listener_throws_message_start", "loop_listener_throws_in_tools",
    "loop_stream_ends_without_result", "together_update_and_failure_in_tools", "failed_run_stream_goes_on",
    "second_listener_throws", "stream_ends_empty",
]  # fmt: skip


@pytest.mark.parametrize(
    "fault",
    [pytest.param(each, id=f"{each.id}-{each.make.__name__}") for each in FAULTS if each.id in BEHIND],
)
def test_no_planted_fault_passes_for_safe(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault.owner, fault.name, fault.make(getattr(fault.owner, fault.name)))
    behind = 0
    for run in played(SOME):
        expected = expect_it(run.scenario.name)
        verdict = judge(run, expected)
        assert not verdict.reason.startswith("otherwise safe"), run.scenario.name
        enters = expected.enters
        assert enters is not None
        same = fingerprint(run.lines[: enters + 1]) == fingerprint(expected.lines[: enters + 1])
        behind += same and verdict.outcome in (Outcome.FAIL, Outcome.HANG)
    assert behind
