"""What is expected of a subject: as recorded, as reviewed under a ruling, and of composed profiles."""

from __future__ import annotations

import pytest

from pi_trio.conformance.expected import (
    Expectation,
    ReferenceFault,
    consult_runtime,
    expected_of_others,
    expected_of_runtime,
    lacking,
)
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import golden_path, propose
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.vectors import Recording, Vectors

from .conftest import HELLO
from .one_prompt import GOOD, OTHER, PROMPT, SCENARIO, THIRD, record, ruled


async def test_the_runtime_has_to_do_as_the_release_did(run, vectors: Vectors) -> None:
    good = await run(GOOD)
    record(vectors, good)
    assert expected_of_runtime(vectors, "1.6.0", SCENARIO, HELLO) == Expectation(lines=good.lines)


async def test_under_a_ruling_the_runtime_has_to_do_as_was_reviewed(run, vectors: Vectors) -> None:
    good, other = await run(GOOD), await run(OTHER)
    record(vectors, other)
    golden = ruled(vectors, other, good)
    expected = expected_of_runtime(vectors, "1.6.0", SCENARIO, HELLO)
    assert expected.lines == good.lines
    assert expected.golden == golden
    assert expected.rulings == ("D-01",)


async def test_without_a_recording_nothing_can_be_judged(vectors: Vectors) -> None:
    with pytest.raises(
        ReferenceFault, match=r"no recording of it by pi 1\.6\.0: run `pi-trio vectors record"
    ):
        expected_of_runtime(vectors, "1.6.0", SCENARIO, HELLO)


async def test_a_scenario_that_has_changed_has_to_be_recorded_again(run, vectors: Vectors) -> None:
    record(vectors, await run(GOOD))
    changed = Scenario(name="x", title="X.", topic="t", steps=[{**PROMPT, "input": "stop"}])
    with pytest.raises(ReferenceFault, match="has changed since"):
        expected_of_runtime(vectors, "1.6.0", changed, HELLO)


async def test_a_golden_trace_has_to_agree_with_the_recording(run, vectors: Vectors) -> None:
    record(vectors, await run(GOOD))
    ruled(vectors, await run(OTHER), await run(THIRD))
    with pytest.raises(ReferenceFault, match="does not agree with the recording"):
        expected_of_runtime(vectors, "1.6.0", SCENARIO, HELLO)


async def test_a_golden_trace_has_to_be_reviewed(run, vectors: Vectors) -> None:
    good = await run(GOOD)
    record(vectors, good)
    golden = propose("x", "1.6.0", good.lines, (await run(OTHER)).lines, "")
    assert golden is not None
    golden.write(golden_path(vectors, "1.6.0", "x"))
    with pytest.raises(ReferenceFault, match="name no ruling"):
        expected_of_runtime(vectors, "1.6.0", SCENARIO, HELLO)


async def test_others_have_to_do_as_the_runtime_does(run, vectors: Vectors) -> None:
    good = await run(GOOD)
    assert expected_of_others({"x": good}, vectors, ["9.9.9"], SCENARIO, HELLO).lines == good.lines
    record(vectors, good)
    assert expected_of_others({"x": good}, vectors, ["1.6.0"], SCENARIO, HELLO).lines == good.lines


async def test_a_runtime_that_departs_from_its_vectors_judges_nobody(run, vectors: Vectors) -> None:
    record(vectors, await run(GOOD))
    with pytest.raises(ReferenceFault, match="does not agree with its own vectors"):
        expected_of_others({"x": await run(OTHER)}, vectors, ["1.6.0"], SCENARIO, HELLO)


async def test_a_runtime_that_breaks_off_judges_nobody(peer, vectors: Vectors) -> None:
    runs = await consult_runtime(peer([[{"stderr": "why"}, {"exit": 1}]]).opener(), [SCENARIO])
    with pytest.raises(ReferenceFault, match=r"the runtime broke off: .*\nwhy"):
        expected_of_others(runs, vectors, ["1.6.0"], SCENARIO, HELLO)


async def test_composed_of_several_it_has_to_do_as_one_of_them(run, vectors: Vectors) -> None:
    good, other, third = await run(GOOD), await run(OTHER), await run(THIRD)
    record(vectors, other)
    ruled(vectors, other, good)
    vectors.write(Recording(scenario=SCENARIO, release="2.0.0", lines=third.lines))

    def expected(did: Run, *releases: str) -> Expectation:
        return expected_of_others({"x": did}, vectors, releases, SCENARIO, HELLO)

    assert expected(good, "1.6.0", "2.0.0").rulings == ("D-01",)
    assert expected(third, "1.6.0", "2.0.0") == Expectation(lines=third.lines)
    assert expected(good, "2.0.0", "1.6.0").rulings == ("D-01",)
    with pytest.raises(ReferenceFault, match="does not agree with its own vectors"):
        expected(third, "1.6.0")


async def test_composed_of_several_it_may_do_as_none_of_them(run, vectors: Vectors) -> None:
    record(vectors, await run(OTHER))
    good = await run(GOOD)
    expected = expected_of_others({"x": good}, vectors, ["1.6.0", "2.0.0"], SCENARIO, HELLO)
    assert expected == Expectation(lines=good.lines)


async def test_what_a_release_lacks_needs_no_recording(run, vectors: Vectors) -> None:
    good = await run(GOOD)
    record(vectors, good)
    hooked = Scenario(name="y", title="Y.", topic="t", create={"hooks": ["finishTurn"]}, steps=[PROMPT])
    poor = {**HELLO, "hooks": []}
    lacks = ("hook finishTurn",)
    assert lacking(hooked, poor) == lacks
    assert lacking(hooked, {**HELLO, "hooks": ["finishTurn"]}) == ()
    assert expected_of_runtime(vectors, "1.6.0", hooked, poor).missing == lacks
    assert expected_of_others({"y": good}, vectors, ["1.6.0"], hooked, poor).missing == lacks
