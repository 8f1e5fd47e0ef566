"""A whole leg: scenario after scenario, and what a subject that dies, hangs or never starts costs."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
import trio

from pi_trio.conformance.baseline import Baseline, Entry
from pi_trio.conformance.causes import AsAnother, Causes
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.compare import canonical
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation, ReferenceFault
from pi_trio.conformance.fitting import Reference
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.kept import Kept
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.standing import Seen
from pi_trio.conformance.verdict import Leg, Outcome, Verdict

from .conftest import HELLO
from .one_prompt import GOOD, OTHER, PROMPT, REPLY, event, settled


def scenarios(*names: str) -> list[Scenario]:
    return [Scenario(name=name, title="", topic="t", steps=[PROMPT]) for name in names]


async def leg_of(peer_, expected: Expectation, *names: str, **options: Any) -> Leg:
    return await judge_subject(
        "peer", peer_.opener(**options), scenarios(*names), expect=lambda _: expected, decide=judge
    )


async def test_a_crash_costs_one_scenario(peer, run, tmp_path: Path) -> None:
    expected = Expectation(lines=(await run([None, [settled(), REPLY]])).lines)
    fragile = peer([None, [{"stderr": "ouch"}, {"exit": 3}]], once=str(tmp_path / "once"))
    leg = await leg_of(fragile, expected, "a", "b")
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.CRASH, Outcome.HANG]
    assert leg.verdicts[0].stderr == "ouch"


async def test_a_subject_that_does_not_start_again_is_not_tried_for_ever(peer, run, tmp_path: Path) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    flag = tmp_path / "once"
    script = f"import os,sys; sys.exit('gone') if os.path.exists({str(flag)!r}) else open({str(flag)!r}, 'w').close()\n"
    dying = peer([None, [{"exit": 3}]])
    launcher = tmp_path / "launcher.py"
    launcher.write_text(f"{script}os.execv(sys.executable, [sys.executable, *{dying.command[1:]!r}])\n")
    dying.command[1:] = [str(launcher)]
    leg = await leg_of(dying, expected, *"abcde")
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.CRASH] * 5
    assert leg.verdicts[0].reason == "its stdout ended; it exited with code 3"
    for verdict in leg.verdicts[1:3]:
        assert verdict.reason.startswith("it does not start again: no valid hello")
        assert verdict.stderr == "gone"
    for verdict in leg.verdicts[3:]:
        assert verdict.reason.startswith("not tried any more: 3 scenarios in a row")
        assert not verdict.tried


async def test_a_failed_start_costs_one_scenario(peer, run, tmp_path: Path) -> None:
    """Fewer than three losses in a row, deaths and failed starts together, and the next one tries again."""
    expected = Expectation(lines=(await run(GOOD)).lines)
    fragile = peer([None, {"die": [{"exit": 3}], "go": GOOD[1]}])
    starts = tmp_path / "starts"
    launcher = tmp_path / "launcher.py"
    launcher.write_text(
        f"import os,sys\nwith open({str(starts)!r}, 'a+') as file:\n    file.write('x')\n    count = file.tell()\n"
        f"sys.exit(9) if count in (2, 4) else os.execv(sys.executable, [sys.executable, *{fragile.command[1:]!r}])\n"
    )
    fragile.command[1:] = [str(launcher)]
    inputs = ["die", "go", "go", "die", "go", "go"]
    given = [
        Scenario(name=f"s{n}", title="", topic="t", steps=[{**PROMPT, "input": text}])
        for n, text in enumerate(inputs)
    ]
    leg = await judge_subject("peer", fragile.opener(), given, expect=lambda _: expected, decide=judge)
    crash, good = Outcome.CRASH, Outcome.PASS
    assert [verdict.outcome for verdict in leg.verdicts] == [crash, crash, good, crash, crash, good]
    assert all(verdict.tried for verdict in leg.verdicts)


async def test_a_subject_that_never_says_a_word_is_given_up(
    peer, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_trio.conformance.judge.SILENCES", 2)
    expected = Expectation(lines=(await run(GOOD)).lines)
    leg = await leg_of(peer([[{"deaf": True}]]), expected, "a", "b", "c", patience=0.1)
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.HANG] * 3
    assert leg.verdicts[1].reason == "no reply to create within 0.1 seconds"
    assert (
        leg.verdicts[2].reason
        == "not tried any more: 2 scenarios in a row it gave no reply, or came to no end"
    )


async def test_a_subject_that_never_comes_to_rest_is_given_up(
    peer, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_trio.conformance.judge.SILENCES", 2)
    monkeypatch.setattr("pi_trio.conformance.lockstep.MAX_STEPS", 5)
    expected = Expectation(lines=(await run(GOOD)).lines)
    asks = [
        [{"say": {"ask": f"a{n}", "fn": "convertToLlm", "args": {"messages": []}}}, REPLY] for n in range(9)
    ]
    leg = await leg_of(peer(asks), expected, "a", "b", "c")
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.HANG] * 3
    assert [verdict.tried for verdict in leg.verdicts] == [True, True, False]
    assert leg.verdicts[1].reason == "the scenario does not end: 5 commands were sent"


async def test_a_subject_that_does_not_start_is_a_leg_without_verdicts(peer, run) -> None:
    leg = await leg_of(
        peer(opening=[{"stderr": "no"}, {"exit": 1}]), Expectation(lines=(await run(GOOD)).lines), "a"
    )
    assert (leg.hello, leg.verdicts, leg.stderr) == (None, (), "no")
    assert leg.fault.startswith("no valid hello")


async def test_what_is_not_offered_is_not_run(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    poor = peer([None, [{"exit": 1}]], hello={"commands": ["create", "sync"]})
    leg = await leg_of(poor, expected, "a")
    (verdict,) = leg.verdicts
    assert (verdict.outcome, verdict.missing) == (Outcome.NOT_OFFERED, ("command prompt",))
    assert "prompt" in leg.missing_commands()


@pytest.mark.parametrize(
    ("error", "told", "traced"),
    [(ReferenceFault("record it"), "record it", False), (ValueError("a bug"), "ValueError: a bug", True)],
)
async def test_a_fault_of_the_tester_is_not_the_subjects(
    peer, error: Exception, told: str, traced: bool
) -> None:
    def expect(scenario: Scenario) -> Expectation:
        raise error

    leg = await judge_subject("peer", peer(GOOD).opener(), scenarios("a", "b"), expect=expect, decide=judge)
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.HARNESS] * 2
    assert leg.verdicts[0].reason == told
    assert ("Traceback" in leg.verdicts[0].traceback) is traced


async def test_progress_is_told(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    told: list[tuple[str, int]] = []
    await judge_subject(
        "peer",
        peer(GOOD).opener(),
        scenarios("a", "b"),
        expect=lambda _: expected,
        decide=judge,
        progress=lambda *one: told.append(one),
    )
    assert told == [("a", 2), ("b", 2)]


# Deaths.


async def test_three_deaths_in_a_row_are_enough(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    leg = await leg_of(peer([None, [{"stderr": "ouch"}, {"exit": 3}]]), expected, "a", "b", "c", "d", "e")
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.CRASH] * 5
    assert [bool(verdict.stderr) for verdict in leg.verdicts] == [True, True, True, False, False]
    assert (
        leg.verdicts[4].reason == "not tried any more: 3 scenarios in a row it died, or did not start again"
    )


# Several at once.


FICKLE: list[Any] = [
    None,
    {"well": GOOD[1], "badly": OTHER[1], "die": [{"exit": 3}], "rubbish": [{"raw": "hi\n"}]},
]
"""Does well in some scenarios, and fails or dies in others, by the prompt that it gets."""


@pytest.mark.parametrize("jobs", [2, 3, 50])
async def test_the_number_of_processes_does_not_show(peer, run, jobs: int) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    deeds = [
        "well",
        "badly",
        "die",
        "well",
        "rubbish",
        "die",
        "die",
        "well",
        "die",
        "die",
        "die",
        "well",
        "badly",
    ]
    given = [
        Scenario(name=f"s{n}", title="", topic="t", steps=[{**PROMPT, "input": deed}])
        for n, deed in enumerate(deeds)
    ]

    def expect(scenario: Scenario) -> Expectation:
        sent = {"send": {**PROMPT, "input": scenario.steps[0]["input"]}}
        return Expectation(lines=tuple(sent if "send" in line and line["send"] == PROMPT else line
                                       for line in expected.lines))  # fmt: skip

    async def judged(number: int) -> tuple[Leg, list[tuple[str, Any]]]:
        kept = Kept()
        leg = await judge_subject(
            "peer",
            peer(FICKLE).opener(),
            given,
            expect=expect,
            decide=kept.of(judge),
            jobs=number,
        )
        return leg, [(each.run.scenario.name, each.run.lines) for each in kept.among(leg.verdicts)]

    (leg, failed), other = await judged(1), await judged(jobs)
    assert [verdict.outcome for verdict in leg.verdicts] == [
        *(
            Outcome.PASS,
            Outcome.FAIL,
            Outcome.CRASH,
            Outcome.PASS,
            Outcome.FAIL,
            Outcome.CRASH,
            Outcome.CRASH,
        ),
        *(Outcome.PASS, Outcome.CRASH, Outcome.CRASH, Outcome.CRASH, Outcome.CRASH, Outcome.CRASH),
    ]
    assert [name for name, _ in failed] == [
        "s1",
        "s2",
        "s4",
        "s5",
        "s6",
        "s8",
        "s9",
        "s10",
    ]
    assert (leg, failed) == other


async def test_a_failure_that_a_baseline_knows_is_one_still(peer, run) -> None:
    expected, kept = Expectation(lines=(await run(GOOD)).lines), Kept()
    leg = await judge_subject(
        "peer", peer(OTHER).opener(), scenarios("a", "b"), expect=lambda _: expected,
        decide=kept.of(judge), mark=lambda verdict: attrs.evolve(verdict, outcome=Outcome.KNOWN),
    )  # fmt: skip
    assert [failure.run.scenario.name for failure in kept.among(leg.verdicts)] == ["a", "b"]


async def test_progress_is_in_order_whatever_the_number(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    told: list[tuple[str, int]] = []
    await judge_subject(
        "peer", peer(GOOD).opener(), scenarios(*"abcdef"),
        expect=lambda _: expected, decide=judge, jobs=3, progress=lambda *one: told.append(one),
    )  # fmt: skip
    assert told == [(name, 6) for name in "abcdef"]


# The first failure.


@pytest.mark.parametrize("jobs", [1, 3])
async def test_the_first_failure_ends_it(peer, run, jobs: int) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    leg = await judge_subject(
        "peer", peer(OTHER).opener(), scenarios(*"abcdef"),
        expect=lambda _: expected, decide=judge, jobs=jobs, fail_fast=True,
    )  # fmt: skip
    assert [verdict.name for verdict in leg.verdicts] == ["a"]
    assert leg.unrun == 5


async def test_what_was_played_beside_the_last_failure_is_not_kept(run) -> None:
    """Nor do the clauses hear of it: the number of processes does not show."""
    given = [
        Scenario(name=f"s{n}", title="", topic="t", steps=[{**PROMPT, "input": f"s{n}"}]) for n in range(4)
    ]
    expected, clauses = Expectation(lines=(await run(GOOD)).lines), Clauses.shipped()

    async def seen(jobs: int) -> tuple[list[str], Seen]:
        kept, causes, decided = Kept(), Causes(clauses, "pi-1.6.0"), trio.Event()

        class Poor:
            """Says nothing of a run; and in the first scenario only when another one has been decided."""

            hello = HELLO

            async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
                reply = {"re": command["id"], "ok": None}
                if command["cmd"] != "prompt":
                    return [reply]
                if command["input"] == "s0" and jobs > 1:
                    await decided.wait()
                return [{"tell": "settled", "op": "p1", "ok": True}, reply]

        def decide(played: Run, expectation: Expectation) -> Verdict:
            decided.set()
            return judge(played, expectation)

        leg = await judge_subject(
            "poor", lambda: nullcontext(Poor()), given, expect=lambda _: expected,
            decide=causes.of(kept.of(decide)), jobs=jobs, fail_fast=True,
        )  # fmt: skip
        failed = kept.among(leg.verdicts)
        assert leg.hello is not None
        nobody = cast(AsAnother, None)
        found = await causes.put_down(leg.verdicts, failed, None, nobody, leg.hello, Reference())
        return [each.run.scenario.name for each in failed], found

    with trio.fail_after(10):
        one = await seen(1)
        assert one[0] == ["s0"]
        for _ in range(10):  # who of the two comes first is left to chance
            assert await seen(2) == one


async def test_what_is_kept_of_a_failure_is_bounded(peer, run) -> None:
    """However much a subject says: it is kept until all scenarios have been played."""
    expected, kept = Expectation(lines=(await run(GOOD)).lines), Kept()
    many = {"tell": "prepareArguments", "tool": "a", "args": [{}] * 20_000}
    flood = peer([None, [{"say": many, "times": 20}, settled(), REPLY]])
    leg = await judge_subject(
        "peer", flood.opener(), scenarios("a"), expect=lambda _: expected, decide=kept.of(judge)
    )
    (failed,) = kept.among(leg.verdicts)
    assert [{**line, "args": None} for line in failed.run.lines[3:-1]] == [{**many, "args": None}]
    assert failed.run.lines[-1] == {"end": "settled"}
    assert failed.run.wire == ()


async def test_nobody_else_is_waited_for_after_the_first_failure(peer, run) -> None:
    acts = [None, {"badly": OTHER[1], "sleep": [{"deaf": True}]}]
    given = [
        Scenario(name=f"s{n}", title="", topic="t", steps=[{**PROMPT, "input": deed}])
        for n, deed in enumerate(["badly", "sleep", "sleep"])
    ]
    expected = Expectation(lines=(await run(GOOD)).lines)
    with trio.fail_after(10):
        leg = await judge_subject(
            "peer", peer(acts).opener(patience=1000), given,
            expect=lambda _: expected, decide=judge, jobs=3, fail_fast=True,
        )  # fmt: skip
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.FAIL]
    assert leg.unrun == 2


async def test_a_known_failure_is_not_the_first(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    baseline = Baseline((Entry("a", "later"), Entry("b*", "never")))
    leg = await judge_subject(
        "peer", peer(OTHER).opener(), scenarios(*"abcd"),
        expect=lambda _: expected, decide=judge, mark=baseline.mark, fail_fast=True,
    )  # fmt: skip
    assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.KNOWN, Outcome.KNOWN, Outcome.FAIL]
    assert leg.unrun == 1


async def test_a_failure_keeps_the_wire_and_a_success_does_not(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    assert (await leg_of(peer(GOOD), expected, "a")).verdicts[0].wire == ()
    wire = (await leg_of(peer(OTHER), expected, "a")).verdicts[0].wire
    assert [line[0] for line in wire] == list("><><<<<><")
    assert wire[0] == '> {"id":1,"cmd":"create"}'
    assert wire[6] == '< {"re":2,"ok":null}'


async def test_what_came_before_a_death_is_on_the_wire(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    dying = peer([None, [event("agent_start"), {"exit": 1}]])
    wire = (await leg_of(dying, expected, "a")).verdicts[0].wire
    assert wire[-1] == '< {"tell":"event","key":"L","event":{"type":"agent_start"}}'


async def test_what_a_verdict_keeps_is_bounded(peer, run) -> None:
    """However much a subject says: its verdicts are kept until all are there."""
    expected = Expectation(lines=(await run(GOOD)).lines)
    said = {"tell": "event", "key": "L", "event": {"type": "agent_end", "messages": ["x" * 50] * 1000}}
    flood = peer(
        [None, [{"say": {"tell": "x", "a": said}, "times": 50}, {"say": said, "times": 20}, settled(), REPLY]]
    )
    (verdict,) = (await leg_of(flood, expected, "a")).verdicts
    assert len("".join(verdict.wire)) < 80_000
    assert verdict.wire[0].endswith("messages before")
    assert verdict.wire[-1] == '< {"re":3,"ok":null}'
    (hunk,) = verdict.hunks
    assert 0 < len(canonical([*hunk.got])) < 150_000
    assert len(hunk.got) > 2


async def test_what_it_says_behind_its_last_reply_is_charged_to_it(peer, run) -> None:
    """As far as it has come in the same breath; and it is seen behind the last scenario too."""
    expected = Expectation(lines=(await run(GOOD)).lines)
    late = {
        "event": event("turn_start"),
        "ask": {"say": {"ask": "late", "fn": "getApiKey", "args": {}}},
        "garbage": {"raw": "garbage\n"},
        "reply": {"say": {"re": 3, "ok": None}},
    }
    for what, deed in late.items():
        words = json.dumps({"re": 3, "ok": None}) + "\n" + deed.get("raw", f"{json.dumps(deed.get('say'))}\n")
        leg = await leg_of(peer([*GOOD, [{"raw": words}]]), expected, "a")
        assert [verdict.outcome for verdict in leg.verdicts] == [Outcome.FAIL], what
    unknown = json.dumps({"re": 3, "ok": None}) + '\n{"tell":"weather"}\n'
    leg = await leg_of(peer([*GOOD, [{"raw": unknown}]]), expected, "a")
    assert [(verdict.outcome, verdict.ignored) for verdict in leg.verdicts] == [
        (Outcome.PASS, {"tell weather": 1})
    ]


async def test_the_hosts_own_words_are_kept_for_a_failure(peer, run) -> None:
    expected = Expectation(lines=(await run(GOOD)).lines)
    failing = peer([None, [event("agent_start"), {"say": {"re": "$id", "error": "list index out of range"}}]])
    (verdict,) = (await leg_of(failing, expected, "a")).verdicts
    assert verdict.hunks[0].got[0] == {"error": "(host text)"}
    assert verdict.words[verdict.hunks[0].start] == "list index out of range"


async def test_what_cannot_be_compared_is_not_offered(peer, run) -> None:
    lines = (await run(GOOD)).lines
    expected = Expectation(lines=lines, missing=("a recording",))
    (verdict,) = (await leg_of(peer(GOOD), expected, "a")).verdicts
    assert (verdict.outcome, verdict.missing) == (Outcome.NOT_OFFERED, ("a recording",))
