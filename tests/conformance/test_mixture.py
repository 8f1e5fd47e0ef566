"""What a release would do as a mixture: told from what it does, and only where it can be told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import pytest
import trio

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.decide import judge
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation, consult_runtime, expected_of_others
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.mixture import Untold, carried, entered
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Entry, Golden, golden_names, read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome, Verdict
from pi_trio.profile import get_profile, releases_in

VECTORS = Vectors.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
WITHOUT_LEVEL = "pi-1.6.0,message_thinking_level=pi-0.85.0"


def expect_it(name: str, profile: str) -> Expectation:
    """What is expected of others in a scenario, under a profile that is composed."""
    with first_in_first_out():
        runs = trio.run(consult_runtime, runtime_inside(profile, 30), [SCENARIOS[name]])
    return expected_of_others(
        runs, VECTORS, releases_in(profile), SCENARIOS[name], hello(get_profile(profile))
    )


def judged(name: str, lines: Sequence[Object], expected: Expectation) -> Verdict:
    run = Run(scenario=SCENARIOS[name], lines=tuple(lines), fault=None, ignored=Counter())
    return judge(run, expected)


# Releases are each other's mixtures, in all fields that differ: of those there are recordings.

SHOWS_ELSEWHERE = {"loop_listener_throws_at_update", "prepare_next_turn_throws_with_follow_up"}
"""There a field shows only in what the release does and the runtime, by a ruling, does not."""


@pytest.mark.parametrize(
    ("one", "other", "least"), [("1.6.0", "1.0.3", 0.9), ("1.6.0", "0.85.0", 0.5), ("0.80.2", "0.85.0", 0.9)]
)
def test_what_one_release_does_is_told_from_another(one: str, other: str, least: float) -> None:
    names = sorted(golden_names(VECTORS, one) & golden_names(VECTORS, other) - SHOWS_ELSEWHERE)[::3]
    told = 0
    for name in names:
        theirs, truth = read_golden(VECTORS, one, name), read_golden(VECTORS, other, name)
        assert theirs is not None
        assert truth is not None
        assert entered(theirs.runtime_side(), theirs.enters, truth.runtime_side()) == truth.enters
        try:
            found = carried(theirs, truth.runtime_side())
        except Untold:
            continue
        told += 1
        assert fingerprint(found.release_side()) == fingerprint(truth.release_side()), name
        assert fingerprint(found.runtime_side()) == fingerprint(truth.runtime_side()), name
        assert (found.enters, found.faults()) == (truth.enters, []), name
    assert told >= least * len(names)


# Verdicts under a mixture that no release behaves as.


@pytest.mark.parametrize(
    "name", ["streamfn_rejects", "failed_run_answer_start", "abort_in_stream_that_throws"]
)
def test_who_does_as_the_release_would_in_this_mixture_is_not_strict(name: str) -> None:
    expected = expect_it(name, WITHOUT_LEVEL)
    golden = read_golden(VECTORS, "1.6.0", name)
    assert golden is not None
    assert expected.rulings == golden.rulings()
    assert judged(name, expected.lines, expected).outcome is Outcome.PASS
    side = expected.release_side
    assert side is not None
    verdict = judged(name, side, expected)
    assert verdict.outcome is Outcome.NON_STRICT
    assert verdict.reason == "as pi 1.6.0 would in this mixture, not as the runtime"
    assert judged(name, golden.runtime_side(), expected).outcome is Outcome.FAIL  # which has the field


def test_where_it_cannot_be_told_only_what_is_safe_passes() -> None:
    name = "failed_run_truncated_calls"
    expected = expect_it(name, "pi-1.6.0,truncated_calls=pi-0.80.2")
    golden = read_golden(VECTORS, "1.6.0", name)
    assert golden is not None
    assert (expected.release_side, expected.rulings) == (None, golden.rulings())
    assert expected.enters is not None
    assert expected.lines[expected.enters] == golden.entries[golden.enters].line
    cut = [line for line in expected.lines[:-1] if line.get("event", {}).get("type") != "agent_end"]
    verdict = judged(name, [*cut, expected.lines[-1]], expected)
    assert verdict.outcome is Outcome.FAIL
    assert "no release was recorded in this mixture" in verdict.reason
    otherwise = json.dumps(expected.lines).replace('"Operation aborted"', '"(host text)"')
    assert fingerprint(json.loads(otherwise)) != expected.fingerprint
    verdict = judged(name, json.loads(otherwise), expected)
    assert (verdict.outcome, verdict.reason.partition(":")[0]) == (Outcome.NON_STRICT, "otherwise safe")


def test_a_mixture_is_a_release_where_nothing_shows() -> None:
    expected = expect_it("streamfn_rejects", "pi-1.6.0,truncated_calls=pi-0.80.2")
    assert not expected.mixed
    assert expected.golden == read_golden(VECTORS, "1.6.0", "streamfn_rejects")


# Line by line.

CREATE: Object = {"send": {"cmd": "create"}}
PROMPT: Object = {"send": {"cmd": "prompt", "op": "p1", "input": "go"}}
DONE: Object = {"reply": None}
END: Object = {"end": "settled"}


def said(kind: str, **fields: object) -> Object:
    return {"tell": "event", "key": "L", "event": {"type": kind, **fields}}


def golden_of(*entries: tuple[str, Object]) -> Golden:
    both = [("=", CREATE), ("=", DONE), ("=", PROMPT), *entries, ("=", END)]
    marked = tuple(Entry(mark, line, "" if mark == "=" else "D-01") for mark, line in both)  # type: ignore[arg-type]
    return Golden(scenario="x", release="1.6.0", enters=2, entries=marked)


def told(golden: Golden, lines: Sequence[Object]) -> list[Object]:
    """What the release would do behind the prompt."""
    found = carried(golden, [CREATE, DONE, PROMPT, *lines, END])
    assert found.faults() == []
    return list(found.release_side()[3:-1])


A, B = said("turn_start"), said("turn_end", message={"role": "assistant", "level": "off"})
B2 = said("turn_end", message={"role": "assistant"})
C = said("agent_end", messages=[{"role": "assistant", "level": "off", "text": "x"}, {"role": "assistant"}])
C2 = said("agent_end", messages=[{"role": "assistant", "text": "x"}, {"role": "assistant"}])
D = said("agent_end", messages=[])


def test_a_value_that_goes_is_gone_on_the_other_side_too() -> None:
    assert told(golden_of(("=", B), ("-", C), ("+", D)), [B2, D]) == [B2, C2]


def test_a_value_that_comes_may_not_come_on_the_other_side() -> None:
    golden = golden_of(("=", B2), ("-", C2), ("+", D))
    with pytest.raises(Untold):
        told(golden, [B, D])


def test_an_object_that_is_known_changes_as_it_does_there() -> None:
    golden = golden_of(("=", B2), ("-", said("turn_end", message={"role": "assistant"}, more=[])), ("+", D))
    assert told(golden, [B, D])[1] == said("turn_end", message={"role": "assistant", "level": "off"}, more=[])


def test_a_value_that_changes_in_several_ways_cannot_be_told() -> None:
    one, other = said("turn_end", n=1, m=1), said("turn_end", n=1, m=2)
    golden = golden_of(("=", one), ("=", other), ("-", said("turn_end", n=1, m=3)), ("+", D))
    assert told(golden, [one, other, D]) == [one, other, said("turn_end", n=1, m=3)]
    with pytest.raises(Untold):
        told(golden, [said("turn_end", n=2, m=1), said("turn_end", n=3, m=2), D])


def test_lines_come_and_go_where_both_sides_agree() -> None:
    golden = golden_of(("=", A), ("=", B), ("-", C), ("+", D))
    assert told(golden, [A, DONE, B, D]) == [A, DONE, B, C]
    assert told(golden, [B, D]) == [B, C]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([A, B, DONE, D], "a line comes where the sides part"),
        ([A, B], "what the ruling makes the runtime say goes"),
        ([A, D], "what goes is also said by the release alone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_touches_what_the_ruling_is_about_cannot_be_told(lines: list[Object], why: str) -> None:
    golden = golden_of(("=", A), ("=", B), ("-", said("turn_end", message={"role": "assistant"})), ("+", D))
    with pytest.raises(Untold):
        told(golden, lines)


def test_without_the_command_that_enters_it_no_ruling_is_entered() -> None:
    golden = golden_of(("=", A), ("-", C), ("+", D))
    lines = [CREATE, DONE, A, D, END]
    with pytest.raises(Untold):
        carried(golden, lines)
    assert entered(golden.runtime_side(), golden.enters, lines) is None
