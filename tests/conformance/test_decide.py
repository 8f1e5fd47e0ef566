"""Which verdict a trace deserves, beside what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.decide import judge, judge_release
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.slips import TOLD, TOO_EARLY
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome

from .one_prompt import EARLY, GOOD, OTHER, REPLY, THIRD, event, ruled


async def test_as_expected_is_a_pass(run) -> None:
    good = await run(GOOD)
    assert judge(good, Expectation(lines=good.lines)).outcome is Outcome.PASS


async def test_otherwise_is_a_failure_with_all_differences(run) -> None:
    verdict = judge(await run(OTHER), Expectation(lines=(await run(GOOD)).lines))
    assert verdict.outcome is Outcome.FAIL
    (hunk,) = verdict.hunks
    assert hunk.step == 2
    assert hunk.expected[0]["event"] == {"type": "agent_end", "messages": []}
    assert hunk.got[0]["event"] == {"type": "turn_start"}


async def test_under_a_ruling_one_may_do_as_the_release(run, vectors: Vectors) -> None:
    release, runtime = await run(OTHER), await run(GOOD)
    expected = Expectation(lines=runtime.lines, golden=ruled(vectors, release, runtime))
    assert judge(runtime, expected).outcome is Outcome.PASS
    lenient = judge(release, expected)
    assert (lenient.outcome, lenient.reason) == (Outcome.NON_STRICT, "as pi 1.6.0, not as the runtime")
    assert lenient.rulings == ("D-01",)
    assert judge(await run(THIRD), expected).outcome is Outcome.FAIL


async def test_a_release_differs_exactly_as_listed(run, vectors: Vectors) -> None:
    release, runtime = await run(OTHER), await run(GOOD)
    expected = Expectation(lines=runtime.lines, golden=ruled(vectors, release, runtime))
    listed = judge_release(release, expected)
    assert (listed.outcome, listed.reason) == (Outcome.NON_STRICT, "differs from the runtime as D-01 says")
    gone = judge_release(runtime, expected)
    assert gone.outcome is Outcome.FAIL
    assert "nothing differs any more" in gone.reason
    otherwise = judge_release(await run(THIRD), expected)
    assert (otherwise.outcome, otherwise.reason) == (Outcome.FAIL, "differs otherwise than D-01 says")
    early = judge_release(await run(EARLY), expected)
    assert (early.outcome, early.reason) == (Outcome.FAIL, "differs before the command that enters D-01")


async def test_a_release_differs_nowhere_else(run) -> None:
    good = await run(GOOD)
    assert judge_release(good, Expectation(lines=good.lines)).outcome is Outcome.PASS
    assert judge_release(await run(OTHER), Expectation(lines=good.lines)).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("acts", "outcome", "reason"),
    [
        ([None, [{"exit": 3}]], Outcome.CRASH, "its stdout ended; it exited with code 3"),
        ([None, [{"raw": "hi\n"}]], Outcome.FAIL, "it breaks the protocol: not a JSON line"),
        (
            [None, [event("agent_start"), event("agent_end"), REPLY]],
            Outcome.HANG,
            "an operation never settles",
        ),
        (
            [None, [{"say": {"re": "$id", "error": "driver: what?"}}]],
            Outcome.FAIL,
            "it refuses a command: driver: what?",
        ),
    ],
)
async def test_how_it_went_wrong_decides_the_verdict(
    run, acts: list[Any], outcome: Outcome, reason: str
) -> None:
    verdict = judge(await run(acts), Expectation(lines=(await run(GOOD)).lines))
    assert verdict.outcome is outcome
    assert verdict.reason.startswith(reason)


async def test_a_listener_that_is_told_where_it_is_to_be_asked_is_a_slip_of_the_adapter(run) -> None:
    good = (await run(GOOD)).lines
    asked = tuple(_asked(line) if line.get("tell") == "event" else line for line in good)
    verdict = judge(await run(GOOD), Expectation(lines=asked))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAIL, TOLD)
    assert judge(await run(OTHER), Expectation(lines=good)).reason == ""


def _asked(line: dict[str, Any]) -> dict[str, Any]:
    address = {"fn": "listener", "key": line["key"], "event": line["event"]["type"], "nth": 0}
    return {"ask": address, "args": {"event": line["event"]}, "aborted": False}


@pytest.mark.parametrize(
    "acts",
    [
        pytest.param([None, [REPLY]], id="nothing comes at all"),
        pytest.param(
            [None, [event("agent_start"), REPLY], [event("agent_end"), REPLY]], id="the rest comes later"
        ),
    ],
)
async def test_a_hang_in_which_the_reply_was_early_is_said_to_be_one(run, acts: list[Any]) -> None:
    verdict = judge(await run(acts), Expectation(lines=(await run(GOOD)).lines))
    assert (verdict.outcome, verdict.reason.rpartition("; ")[2]) == (Outcome.HANG, TOO_EARLY)


async def test_a_hang_for_another_reason_is_not_said_to_be_one(run) -> None:
    acts = [None, [event("agent_start"), event("agent_end"), REPLY]]
    verdict = judge(await run(acts), Expectation(lines=(await run(GOOD)).lines))
    assert TOO_EARLY not in verdict.reason


async def test_to_hang_where_a_hang_is_expected_is_a_pass(run) -> None:
    hanging = await run([None, [REPLY]])
    assert judge(hanging, Expectation(lines=hanging.lines)).outcome is Outcome.PASS
