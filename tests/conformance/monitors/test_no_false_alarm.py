"""The releases keep their clauses, the runtime keeps them and the rulings: the monitors say so of all recordings."""

from __future__ import annotations

import pytest

from pi_trio.conformance.monitors import judge_events, judge_trace

from .recordings import FORCE, RELEASES, SIDES, creates, heard, traces

every_side = pytest.mark.parametrize("side", SIDES)
every_release = pytest.mark.parametrize("release", RELEASES)


@every_side
@every_release
@pytest.mark.parametrize("told", [True, False], ids=["told which release", "any release"])
def test_nothing_that_is_recorded_breaks_a_clause(side: str, release: str, told: bool) -> None:
    for trace in traces(side, release):
        judgement = judge_trace(trace.lines, FORCE, [release] if told else None, cancelling=side == "cancel")
        assert judgement.broken == (), trace
        assert release in judgement.candidates, trace
        if side != "pi":
            assert judgement.as_pi == (), trace


@every_release
def test_what_one_listener_heard_is_enough(release: str) -> None:
    """A plain log, as `check` has it: of the first listener, who misses nothing."""
    judged = 0
    for trace in traces("pi", release):
        made = creates(trace.lines)
        if len(made) != 1 or made[0].get("target") == "loop":
            continue
        for events in list(heard(trace.lines).values())[:1]:
            judged += 1
            judgement = judge_events(events, FORCE)
            assert judgement.broken == (), trace
            assert release in judgement.candidates, trace
    assert judged > 300


@every_release
def test_a_release_is_not_strict_where_a_ruling_says_so_and_only_there(release: str) -> None:
    ruled = {trace.name for trace in traces("ruled", release)}
    found = {
        trace.name for trace in traces("pi", release) if judge_trace(trace.lines, FORCE, [release]).as_pi
    }
    assert found <= ruled
    assert len(found) > len(ruled) / 2


def test_releases_are_told_apart_by_what_they_say() -> None:
    """Over all its recordings taken together, each release is no other one."""
    for release in RELEASES:
        left = set(RELEASES)
        for trace in traces("pi", release):
            left &= judge_trace(trace.lines, FORCE).candidates
        assert left == {release}
