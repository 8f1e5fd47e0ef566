"""The lab itself: it is exact (real Pi on both sides is equal), and it can fail."""

from __future__ import annotations

import copy

import pytest

from pi_trio.conformance.vectors import Vectors

from .cases import ABORT, HOLD, answer, call, case, frames, secured
from .compare import differences, judge, shown
from .decisions import APIS, DECISIONS, Decision, Difference
from .faults import case_of, cases_of
from .lockstep import Outcome
from .running import Trusted, against_pi

NEWEST = "1.6.0"
ANTHROPIC = "anthropic-messages"


@pytest.mark.upstream
async def test_what_pi_does_is_determined_by_the_case() -> None:
    outcomes = await against_pi(list(cases_of(ANTHROPIC, seed=7, count=60)), NEWEST, itself=True)
    judged = judge(outcomes, NEWEST, decisions=())
    assert [shown(*each) for each in judged.differing] == []
    assert judged.equal == len(outcomes)
    assert all("hang" not in outcome.theirs for outcome in outcomes)


@pytest.mark.upstream
async def test_holds_and_aborts_come_when_everything_has_been_said() -> None:
    text = [f"event: {name}\ndata: {data}\n\n" for name, data in SAID]
    held = case(ANTHROPIC, MODEL, [call(CONTEXT)], [answer([text[0], HOLD, text[1] + text[2], ABORT])])
    (outcome,) = await against_pi([held], NEWEST, itself=True)
    (result,) = outcome.theirs["calls"]
    assert [hold["events"] for hold in result["holds"]] == [1, 3]
    assert result["holds"][1]["partial"]["content"] == [{"type": "text", "text": "hé"}]
    assert result["message"]["stopReason"] == "aborted"


@pytest.mark.upstream
async def test_tls(trusted: Trusted) -> None:
    cases = [secured(each) for each in cases_of(ANTHROPIC, seed=8, count=10)]
    outcomes = await against_pi(cases, NEWEST, itself=True, trusted=trusted)
    assert judge(outcomes, NEWEST, decisions=()).equal == len(cases)
    assert sum(len(outcome.theirs["requests"]) for outcome in outcomes) > 5


@pytest.mark.upstream
async def test_answers_are_used_in_order_and_requests_are_kept() -> None:
    tries = [answer([], status=500, headers={"retry-after-ms": "1"}), answer([])]
    asked = case(ANTHROPIC, MODEL, [call(CONTEXT, {"maxRetries": 1})], [*tries, frames([])])
    (outcome,) = await against_pi([asked], NEWEST, itself=True)
    assert [request["target"] for request in outcome.theirs["requests"]] == ["/v1/messages?beta=true"] * 2
    assert outcome.theirs["requests"][0]["body"]["messages"][0]["role"] == "user"
    assert outcome.theirs["unused"] == 1


def test_a_case_is_made_anew_by_its_token() -> None:
    cases = list(cases_of(ANTHROPIC, seed=1, count=50))
    assert cases == list(cases_of(ANTHROPIC, seed=1, count=50))
    assert cases[17] == case_of(f"{ANTHROPIC}:1:17")
    assert len({each["name"].split()[1] for each in cases}) > 8


def test_differences() -> None:
    theirs = {"a": [1, {"b": 2}], "c": True, "d": None}
    ours = {"a": [1, {"b": 3}, 4], "c": 1, "e": None}
    assert [each.path for each in differences(theirs, ours)] == ["a[1].b", "a[2]", "c", "d", "e"]
    assert list(differences(theirs, copy.deepcopy(theirs))) == []
    assert list(differences({"a": 1, "b": 2}, {"b": 2, "a": 1.0})) == []


def outcome_of(theirs: str, ours: str) -> Outcome:
    calls = [
        {"events": [], "holds": [], "message": {"errorMessage": text, "timestamp": 1}}
        for text in (theirs, ours)
    ]
    sides = [{"calls": [each], "requests": [], "unused": 0} for each in calls]
    return Outcome(case(ANTHROPIC, MODEL, [call(CONTEXT)], []), *sides)


def test_a_difference_fails_unless_a_decision_covers_it() -> None:
    decision = Decision(
        id="T-00", title="", covers=lambda _, difference: difference.ours == "x", apis=(ANTHROPIC,)
    )
    judged = judge([outcome_of("a", "x"), outcome_of("a", "y"), outcome_of("a", "a")], NEWEST, [decision])
    assert (judged.equal, judged.decided) == (1, {"T-00": 1})
    ((_, found),) = judged.differing
    assert found == [Difference("calls[0].message.errorMessage", "a", "y")]


def test_a_decision_that_is_never_needed_is_stale() -> None:
    decision = Decision(id="T-00", title="", covers=lambda *_: True, apis=(ANTHROPIC,), releases=("1.0.3",))
    judged = judge([outcome_of("a", "a")], NEWEST, [decision])
    assert judged.stale(NEWEST, [ANTHROPIC], [decision]) == []
    assert judged.stale("1.0.3", [ANTHROPIC], [decision]) == ["T-00"]
    assert judged.stale("1.0.3", ["openai-responses"], [decision]) == []


def test_the_spec_tells_every_decision() -> None:
    told = (Vectors.shipped().spec / "deviations" / "transport.md").read_text(encoding="utf-8")
    assert [each.id for each in DECISIONS if f"| {each.id} |" not in told] == []
    assert all(each.title and set(each.apis) <= set(APIS) for each in DECISIONS)


def test_the_words_of_a_host_language_need_not_be_equal() -> None:
    theirs = "Could not parse Anthropic SSE event ping: Unexpected end of JSON input; data={; raw=data: {"
    ours = "Could not parse Anthropic SSE event ping: something else; data={; raw=data: {"
    assert judge([outcome_of(theirs, ours)], NEWEST).equal == 1
    assert judge([outcome_of(theirs, ours.replace("data={", "data=["))], NEWEST).equal == 0


CONTEXT = {"messages": [{"role": "user", "content": "hi", "timestamp": 1}]}
MODEL = {
    "id": "m",
    "name": "M",
    "api": ANTHROPIC,
    "provider": "anthropic",
    "baseUrl": "{server}",
    "reasoning": False,
    "input": ["text"],
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    "contextWindow": 1000,
    "maxTokens": 100,
}
SAID = [
    ("message_start", '{"type":"message_start","message":{"id":"i","model":"m","usage":{}}}'),
    (
        "content_block_start",
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    ),
    (
        "content_block_delta",
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hé"}}',
    ),
]
