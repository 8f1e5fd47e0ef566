"""Subjects that go wrong in every way they can think of: each gets its own verdict, none gets at the tester."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import trio
from rich.console import Console

from pi_trio.conformance.baseline import Baseline
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.protocol import Limits
from pi_trio.conformance.report.document import document
from pi_trio.conformance.report.terminal import show_report
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.verdict import ExitCode, Leg, Outcome, Report
from pi_trio.jsontext import print_json

PROMPT = {"cmd": "prompt", "op": "p1", "input": "go"}
SCENARIOS = [Scenario(name=name, title="", topic="t", steps=[PROMPT]) for name in ("first", "second")]

REPLY: dict[str, Any] = {"say": {"re": "$id", "ok": None}}
SETTLED = {"say": {"tell": "settled", "op": "p1", "ok": True}}
EVENT = {"say": {"tell": "event", "key": "L", "event": {"type": "agent_start"}}}
GOOD = [EVENT, SETTLED, REPLY]


def raw(text: str) -> dict[str, Any]:
    return {"raw": text}


async def leg_of(peer: Any, acts: list[Any], **options: Any) -> Leg:
    """Two scenarios, in the first of which the acts are played; in the second the subject does as it should."""
    async with open_keeper(peer([None, GOOD]).opener()) as keeper:
        expected = Expectation(lines=(await keeper.drive(SCENARIOS[0])).lines)
    made = peer(
        acts,
        then=[None, GOOD],
        **{name: options.pop(name) for name in ("hello", "opening", "once") if name in options},
    )
    with trio.fail_after(10):
        return await judge_subject(
            "hostile", made.opener(**options), SCENARIOS, expect=lambda _: expected, decide=judge
        )


HOSTILE: dict[str, tuple[list[Any], Outcome, str]] = {
    "garbage": ([None, [raw("\x00\x01 hello\n")]], Outcome.FAIL, "not a JSON line"),
    "half a line, then nothing": ([None, [raw('{"re":'), {"deaf": True}]], Outcome.HANG, "no reply to prompt"),
    "half a line, then death": ([None, [raw('{"re":'), {"exit": 0}]], Outcome.CRASH, "in the middle of a line"),
    "a number that is none": ([None, [raw('{"re":NaN,"ok":null}\n')]], Outcome.FAIL, "not a JSON line"),
    "a number beyond all": ([None, [raw(f'{{"re":{"9" * 400},"ok":null}}\n')]], Outcome.FAIL, "breaks the protocol"),
    "nesting": ([None, [raw('{"re":2,"ok":' + "[" * 5000 + "]" * 5000 + "}\n")]], Outcome.FAIL, "breaks the protocol"),
    "death at once": ([[{"exit": 1}]], Outcome.CRASH, "exited with code 1"),
    "death in the middle": ([None, [EVENT, {"kill": True}]], Outcome.CRASH, "killed by signal 9"),
    "silence": ([None, [EVENT, {"deaf": True}]], Outcome.HANG, "no reply to prompt within 0.3 seconds"),
    "an answer out of turn": ([None, [REPLY, REPLY]], Outcome.FAIL, "it replied to 2, the command was 3"),
    "an answer before the question": (
        [[REPLY, {"say": {"re": 2, "ok": None}}], None], Outcome.FAIL, "it replied to 2, the command was 3",
    ),
    "an answer to nobody": ([None, [{"say": {"re": 99, "ok": None}}]], Outcome.FAIL, "it replied to 99"),
    "a flood of messages": ([None, [{**EVENT, "times": 3000}, REPLY]], Outcome.FAIL, "more than 2000 messages"),
    "a flood without an end of line": ([None, [raw("x" * 300_000)]], Outcome.FAIL, "longer than 200000 bytes"),
    "a flood on stderr": ([None, [{"stderr": "x" * 500_000}, {"exit": 1}]], Outcome.CRASH, "exited with code 1"),
    "an operation that was never begun": (
        [None, [{"say": {"tell": "settled", "op": "p9", "ok": True}}, REPLY]], Outcome.FAIL, "not under way",
    ),
    "a signal of nothing": ([None, [{"say": {"tell": "signal", "ask": "c9"}}, REPLY]], Outcome.FAIL, "never made"),
    "never settled": ([None, [EVENT, REPLY]], Outcome.HANG, "an operation never settles"),
    "nothing at all": ([None, [SETTLED, REPLY]], Outcome.FAIL, ""),
    "a second hello": ([None, [{"say": {"tell": "hello"}}, SETTLED, REPLY]], Outcome.FAIL, ""),
}  # fmt: skip


LIVED_THROUGH = {"never settled", "nothing at all", "a second hello"}
"""After these it is not started anew, and does the same again."""


@pytest.mark.parametrize("name", HOSTILE)
async def test_it_is_the_subjects_failure_and_costs_one_scenario(peer, name: str, tmp_path) -> None:
    acts, outcome, told = HOSTILE[name]
    limits = Limits(line=200_000, messages=2000)
    leg = await leg_of(peer, [*acts], patience=0.3, limits=limits, once=str(tmp_path / "once"))
    first, second = leg.verdicts
    assert first.outcome is outcome
    assert told in first.reason
    assert second.outcome is (first.outcome if name in LIVED_THROUGH else Outcome.PASS)
    assert not first.traceback
    shown(leg)


@pytest.mark.parametrize(
    ("opening", "told"),
    [
        ([raw("Welcome!\n")], "no valid hello: not a JSON line"),
        ([raw("[]\n")], "no valid hello: a message is an object"),
        ([{"exit": 0}], "no valid hello: its stdout ended; it exited with code 0"),
        ([{"deaf": True}], "no hello within 0.3 seconds"),
        ([raw("x" * 300_000)], "no valid hello: a line is longer than 200000 bytes"),
        ([{"say": {"re": 1, "ok": None}}], "the first message is not a hello"),
    ],
)
async def test_a_subject_that_does_not_introduce_itself_is_not_judged(
    peer, opening: list[Any], told: str
) -> None:
    leg = await leg_of(peer, [], opening=opening, hello_within=0.3, limits=Limits(line=200_000))
    assert leg.verdicts == ()
    assert told in leg.fault
    assert Report(legs=(leg,)).exit_code() is ExitCode.NOT_STARTED
    shown(leg)


NONSENSE: list[Any] = [
    {"listeners": ["sync"], "keyless": [[], {}, 5], "toolModes": {"a": 1}, "burst": "no", "partials": None},
    {"abort": {}, "delivery": 7, "targets": "loop", "loopHooks": 3, "update": [], "liveState": "x" * 1000},
    {"keyless": "execute", "toolModes": [["sequential"]], "targets": [None], "loopHooks": [{}]},
    {"options": 5, "settable": [[], {}, None], "abort": ["cancelling"], "partials": {}},
]


@pytest.mark.parametrize("features", NONSENSE)
@pytest.mark.parametrize("more", [{}, {"order": "partial"}, {"quiescence": "none"}])
async def test_nonsense_in_the_hello_is_nothing_offered(peer, features: Any, more: Any) -> None:
    leg = await leg_of(peer, [None, GOOD], hello={"features": features, **more})
    assert {verdict.outcome for verdict in leg.verdicts} <= {Outcome.PASS, Outcome.NOT_OFFERED}


async def test_three_deaths_in_a_row_end_it(peer) -> None:
    dying = peer([None, [{"exit": 3}]])
    scenarios = [Scenario(name=f"s{n}", title="", topic="t", steps=[PROMPT]) for n in range(20)]
    expected = Expectation(lines=({"send": {"cmd": "create"}}, {"send": PROMPT}, {"end": "settled"}))
    leg = await judge_subject("dying", dying.opener(), scenarios, expect=lambda _: expected, decide=judge)
    assert {verdict.outcome for verdict in leg.verdicts} == {Outcome.CRASH}
    assert [bool(verdict.hunks) for verdict in leg.verdicts] == [True] * 3 + [False] * 17


EVIL = "\x1b[2J\x07\ud800\u202e[bold]\n"


async def test_what_it_says_cannot_reach_the_terminal_or_break_the_report(peer, tmp_path) -> None:
    """Control characters, lone surrogates, markup: on the terminal, in the document, and in a baseline."""
    said = {"tell": "event", "key": EVIL, "event": {"type": "agent_start", "message": EVIL}}
    acts = [None, [{"say": said}, {"say": {"re": "$id", "error": f"driver: {EVIL}"}}]]
    leg = await leg_of(peer, acts, hello={"subject": EVIL, "version": EVIL, "profile": EVIL})
    assert {verdict.outcome for verdict in leg.verdicts} == {Outcome.FAIL}
    text = shown(leg)
    assert not set("\x1b\x07\ud800\u202e") & set(text)
    report = Report(legs=(leg,))
    assert json.loads(print_json(document(report, "pi-1.6.0")))["legs"][0]["hello"]["subject"] == EVIL
    path = tmp_path / "known.toml"
    Baseline().updated(report, [each.name for each in SCENARIOS]).write(path)
    assert len(Baseline.read(path, drafts=True).entries) == 2


def shown(leg: Leg) -> str:
    """The report of a leg, as on a terminal."""
    file = io.StringIO()
    console = Console(markup=False, highlight=False, emoji=False, file=file, width=200)
    show_report(console, Report(legs=(leg,)), whole=lambda name: name, verbose=True)
    return file.getvalue()
