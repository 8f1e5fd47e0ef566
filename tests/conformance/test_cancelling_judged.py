"""Judging by the golden traces of the cancelling abort."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from pi_trio.conformance.cancelling import cancel_golden_path, read_cancel_golden
from pi_trio.conformance.decide import judge
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation, OfRuntime, ReferenceFault, expected_of_cancelling
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.twins import twin, written_name
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Leg, Outcome
from pi_trio.profile import PI_1_6_0

RELEASE = "1.6.0"
VECTORS = Vectors.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}


def test_the_runtime_is_judged_in_this_mode_too() -> None:
    """What differs, what is ruled for other reasons as well, and what is neither."""
    some = {*[name for name in SCENARIOS if read_cancel_golden(VECTORS, RELEASE, name)][::4]}
    some |= {"text_plain", "tool_single", "streamfn_rejects", "stream_double_start"}
    some |= {"abort_tools_honored", "abort_in_stream_that_throws"}
    by = OfRuntime(VECTORS, RELEASE)

    async def judge_runtime() -> Leg:
        scenarios = [twin(SCENARIOS[name]) for name in sorted(some)]
        runtime = runtime_inside(f"pi-{RELEASE}", 30)
        return await judge_subject("runtime", runtime, scenarios, expect=by.of, decide=judge, meet=by.meet)

    with first_in_first_out():
        leg = trio.run(judge_runtime)
    assert {verdict.outcome for verdict in leg.verdicts} == {Outcome.PASS}
    rulings = {written_name(verdict.name): verdict.rulings for verdict in leg.verdicts}
    assert rulings.keys() == some
    assert rulings["text_plain"] == ()
    assert rulings["abort_tools_honored"] == ("D-10",)
    assert rulings["stream_double_start"] == ("D-06",)
    assert {"D-02", "D-10"} < set(rulings["abort_in_stream_that_throws"])


def expect_it(spec: Path, name: str) -> Expectation:
    return expected_of_cancelling(Vectors(spec), RELEASE, SCENARIOS[name], hello(PI_1_6_0))


def test_a_golden_trace_has_to_agree_with_the_other_mode(tmp_path: Path) -> None:
    name, other = "abort_tools_honored", "abort_in_stream"
    spec = tmp_path / "spec"
    for path in (VECTORS.path(RELEASE, name), VECTORS.path(RELEASE, other)):
        copy = spec / path.relative_to(VECTORS.spec)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    as_in_the_other_mode = expect_it(spec, name)
    assert as_in_the_other_mode.rulings == ()
    assert as_in_the_other_mode.lines[0]["send"]["options"]["abortMode"] == "cancel"

    foreign = cancel_golden_path(VECTORS, RELEASE, other).read_bytes()
    place = cancel_golden_path(Vectors(spec), RELEASE, name)
    place.parent.mkdir(parents=True)
    place.write_bytes(foreign)
    with pytest.raises(
        ReferenceFault, match="does not agree with the other mode: run `pi-trio vectors cancel"
    ):
        expect_it(spec, name)
    place.write_bytes(cancel_golden_path(VECTORS, RELEASE, name).read_bytes().replace(b'"D-10"', b'""'))
    with pytest.raises(ReferenceFault, match="name no ruling"):
        expect_it(spec, name)


def test_where_aborts_cancel_nobody_may_do_as_the_release() -> None:
    """A release never cancels; so where that shows, its trace is no way out."""
    assert expect_it(VECTORS.spec, "abort_in_stream_that_throws").release_side is None
    ruled = expect_it(VECTORS.spec, "stream_double_start").release_side
    assert ruled is not None
    assert ruled[0]["send"]["options"] == {"abortMode": "cancel"}
