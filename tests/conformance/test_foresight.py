"""Driving by expectation: subjects whose reply does not say that they have finished."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.faults import SubjectDied, SubjectLate, SubjectSilent
from pi_trio.conformance.giving_up import Losses
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.keeper import Keeper, open_keeper
from pi_trio.conformance.kept import Kept
from pi_trio.conformance.lockstep import Guide, Run
from pi_trio.conformance.ruled import propose
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.verdict import Leg, Outcome

PROMPT = {"cmd": "prompt", "op": "p1", "input": "go"}
SCENARIO = Scenario(name="x", title="X.", topic="t", steps=[PROMPT])
REPLY: dict[str, Any] = {"say": {"re": "$id", "ok": None}}
SETTLED = {"say": {"tell": "settled", "op": "p1", "ok": True}}
UNHURRIED = {"quiescence": "none"}


def event(kind: str) -> dict[str, Any]:
    return {"say": {"tell": "event", "key": "L", "event": {"type": kind}}}


def ask(ask_id: str, kind: str) -> dict[str, Any]:
    args = {"event": {"type": kind}}
    return {"say": {"ask": ask_id, "fn": "listener", "key": "L", "args": args, "aborted": False}}


START, END = event("agent_start"), event("agent_end")


async def played(peer, acts: list[Any], guide: Run | None = None, **options: Any) -> Run:
    """A run; with a guide, of a subject without quiescence."""
    made = peer(acts, hello=UNHURRIED if guide is not None else None)
    lines = () if guide is None else guide.lines
    async with open_keeper(made.opener(patience=options.get("patience", 2))) as keeper:
        return await keeper.drive(SCENARIO, Guide(lines=lines, order=lines))


@pytest.fixture
async def good(peer) -> Run:
    """What is expected: asked at agent_start and, when that is answered, told of agent_end."""
    return await played(peer, [None, [ask("a", "agent_start"), REPLY], [END, SETTLED, REPLY]])


@pytest.mark.parametrize(
    "acts",
    [
        [None, [REPLY, ask("a", "agent_start")], [REPLY, END, SETTLED]],
        [None, [ask("a", "agent_start"), REPLY], [END, REPLY, SETTLED]],
        [None, [ask("a", "agent_start"), REPLY], [END, SETTLED, REPLY]],
    ],
)
async def test_the_reply_may_come_at_any_moment(peer, good: Run, acts: list[Any]) -> None:
    assert (await played(peer, acts, good)).lines == good.lines


async def test_what_does_not_come_is_waited_for_and_missed(peer, good: Run) -> None:
    run = await played(peer, [None, [REPLY, ask("a", "agent_start")], [REPLY, END]], good, patience=0.3)
    assert isinstance(run.fault, SubjectLate)
    assert run.fault.message == "2 reactions were expected, and only 1 came in time"
    assert run.lines[-2:] == (END["say"], {"end": "late"})


async def test_what_is_not_expected_in_a_step_settles_it_at_once(peer, good: Run) -> None:
    run = await played(peer, [None, [REPLY, START]], good, patience=1000)
    assert isinstance(run.fault, SubjectLate)
    assert run.fault.message == "it does something that is not expected in this step"
    assert run.lines[-2:] == (START["say"], {"end": "late"})


async def test_what_must_not_come_is_seen_at_the_end(peer, good: Run) -> None:
    acts = [None, [REPLY, ask("a", "agent_start")], [REPLY, END, SETTLED], [REPLY, START]]
    run = await played(peer, acts, good)
    assert run.fault is None
    assert run.lines[-3:] == ({"reply": None}, START["say"], {"end": "settled"})


async def test_two_replies_to_one_command_break_the_protocol(peer, good: Run) -> None:
    run = await played(peer, [None, [REPLY, REPLY]], good)
    assert run.lines[-1] == {"end": "fault"}


async def test_a_death_while_it_is_waited_for_is_a_crash(peer, good: Run) -> None:
    run = await played(peer, [None, [REPLY, {"stderr": "ouch"}, {"exit": 3}]], good)
    assert run.lines[-1] == {"end": "crash"}
    assert run.fault is not None
    assert run.fault.stderr == "ouch"


async def test_what_came_before_a_death_is_written_down(peer, good: Run) -> None:
    """Reactions of the same step, behind the reply or before; and each once, on the wire too."""
    for acts in ([REPLY, ask("a", "agent_start")], [ask("a", "agent_start"), REPLY]):
        run = await played(peer, [None, acts, [REPLY, END, {"exit": 3}]], good)
        assert run.lines[-2:] == (END["say"], {"end": "crash"})
        assert sum("agent_end" in line for line in run.wire) == 1


async def test_what_is_unknown_is_met_once_though_the_subject_is_late(peer, good: Run) -> None:
    strange = {"say": {"tell": "weather"}}
    run = await played(peer, [None, [REPLY, ask("a", "agent_start")], [REPLY, strange, START]], good)
    assert isinstance(run.fault, SubjectLate)
    assert run.ignored == {"tell weather": 1}


@pytest.mark.parametrize("comes", [True, False])
async def test_what_is_unknown_keeps_nobody_waiting(peer, good: Run, comes: bool) -> None:
    """Neither for what must still come, nor for what must not."""
    strange = {"every": 0.02, "say": {"tell": "weather"}}
    acts = [None, [REPLY, strange, ask("a", "agent_start")], [REPLY, END, *([SETTLED] if comes else [])]]
    with trio.fail_after(30):
        run = await played(peer, acts, good, patience=1)
    if comes:
        assert run.lines == good.lines
    else:
        assert isinstance(run.fault, SubjectLate)


async def test_verdicts(peer, good: Run) -> None:
    expected = Expectation(lines=good.lines)

    async def outcome(*acts: Any) -> Outcome:
        return judge(await played(peer, [None, *acts], good, patience=0.3), expected).outcome

    assert await outcome([REPLY, ask("b", "agent_start")], [REPLY, END, SETTLED]) is Outcome.PASS
    assert await outcome([REPLY, ask("b", "agent_start")], [REPLY, SETTLED]) is Outcome.FAIL
    assert await outcome([REPLY, ask("b", "turn_start")], [REPLY, END, SETTLED]) is Outcome.FAIL
    assert await outcome([REPLY, {"exit": 1}]) is Outcome.CRASH


async def test_under_a_ruling_one_may_follow_the_release(peer, good: Run) -> None:
    """Such a subject is told beforehand what to follow, so it gets a second chance."""
    release = await played(peer, [None, [ask("a", "agent_start"), REPLY], [START, SETTLED, REPLY]])
    golden = propose("x", "1.6.0", release.lines, good.lines, "D-01")
    assert golden is not None
    expected = Expectation(lines=good.lines, golden=golden)

    async def verdict(last: Any) -> tuple[Outcome, int]:
        made = peer([None, [REPLY, ask("a", "agent_start")], [REPLY, last, SETTLED]], hello=UNHURRIED)
        kept = Kept()
        leg = await judge_subject(
            "x",
            made.opener(patience=0.5),
            [SCENARIO],
            expect=lambda _: expected,
            decide=kept.of(judge),
        )
        return leg.verdicts[0].outcome, len(kept.among(leg.verdicts))

    assert await verdict(END) == (Outcome.PASS, 0)
    assert await verdict(START) == (Outcome.NON_STRICT, 0)
    assert await verdict(event("turn_end")) == (Outcome.FAIL, 1)


# Giving up.


async def leg_of(peer, expected: Expectation, acts: list[Any], count: int) -> Leg:
    made = peer(acts, hello=UNHURRIED)
    scenarios = [attrs.evolve(SCENARIO, name=f"s{n}") for n in range(count)]
    return await judge_subject(
        "x", made.opener(patience=0.05), scenarios, expect=lambda _: expected, decide=judge
    )


async def test_who_says_nothing_at_all_is_given_up_and_driven_once(peer, good: Run, monkeypatch) -> None:
    monkeypatch.setattr("pi_trio.conformance.judge.SILENCES", 2)
    drives = 0
    drive = Keeper.drive

    async def counted(self: Keeper, scenario: Scenario, guide: Guide | None = None) -> Run:
        nonlocal drives
        drives += 1
        return await drive(self, scenario, guide)

    release = await played(peer, [None, [ask("a", "agent_start"), REPLY], [START, SETTLED, REPLY]])
    golden = propose("x", "1.6.0", release.lines, good.lines, "D-01")
    monkeypatch.setattr(Keeper, "drive", counted)
    leg = await leg_of(peer, Expectation(lines=good.lines, golden=golden), [], 4)
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.FAIL] * 4
    assert [verdict.tried for verdict in leg.verdicts] == [True, True, False, False]
    assert leg.verdicts[3].reason == "not tried any more: 2 scenarios in a row it said nothing at all"
    assert drives == 2


async def test_who_lacks_something_only_is_given_more_time(peer, good: Run, monkeypatch) -> None:
    monkeypatch.setattr("pi_trio.conformance.judge.SILENCES", 2)
    monkeypatch.setattr("pi_trio.conformance.judge.MISSES", 4)
    acts = [None, [REPLY, ask("a", "agent_start")], [REPLY, END]]
    leg = await leg_of(peer, Expectation(lines=good.lines), acts, 6)
    assert [verdict.tried for verdict in leg.verdicts] == [True] * 4 + [False] * 2
    assert leg.verdicts[5].reason == "not tried any more: 4 scenarios in a row it was waited for in vain"


def test_losses_of_several_kinds_count_as_parts() -> None:
    lost = Losses({SubjectDied: 2, SubjectSilent: 4})
    for fault in (SubjectDied("a"), None, SubjectDied("b"), SubjectSilent("c")):
        lost.note(fault)
        assert not lost.over
    assert lost.reason == ""
    lost.note(SubjectLate("something else is no loss"))
    for fault in (SubjectSilent("d"), SubjectSilent("e"), SubjectDied("f")):
        lost.note(fault)
    assert lost.over
    said = "3 scenarios in a row it gave no reply, or came to no end, or it died, or did not start again"
    assert lost.reason == f"not tried any more: {said}"
    lost.note(None)
    assert lost.over
