"""What a person sees; and that what comes from a subject cannot take over the screen."""

from __future__ import annotations

import re
from collections.abc import Collection
from io import StringIO
from typing import Any

from rich.console import Console

from pi_trio.conformance.compare import hunks
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.terminal import SHOWN, show_report
from pi_trio.conformance.verdict import Leg, Outcome, Report, Verdict

HELLO = {
    "subject": "x[bold]\x1b[31m",
    "version": "1",
    "profile": "pi-1.6.0",
    "hooks": [],
    "commands": ["create"],
}


def verdict(name: str, outcome: Outcome, topic: str = "t", **fields: Any) -> Verdict:
    return Verdict(name=name, title=f"Title of {name}.", topic=topic, outcome=outcome, **fields)


def shown(*verdicts: Verdict, verbose: bool = False, legs: int = 1, put_down: Collection[str] = ()) -> str:
    report = Report(legs=tuple(Leg(label=f"leg {n}", hello=HELLO, verdicts=verdicts) for n in range(legs)))
    console = Console(file=StringIO(), width=80, markup=False, highlight=False)
    show_report(console, report, whole=lambda name: f"show {name}", verbose=verbose, put_down=put_down)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_topics_have_rows_and_the_summary_comes_last() -> None:
    text = shown(verdict("a", Outcome.PASS, topic="run"), verdict("b", Outcome.FAIL, topic="batch"))
    rows = {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith(("run ", "batch "))
    }
    assert rows == {"run": ["1", "·", "·", "·"], "batch": ["·", "·", "·", "1"]}
    assert text.splitlines()[-1] == "1 passed, 0 non-strict, 0 not offered, 1 failed"


def test_the_first_difference_is_shown_with_its_step() -> None:
    send = {"send": {"cmd": "prompt", "op": "p1", "input": "go"}}
    event = {"tell": "event", "key": "L", "event": {"type": "turn_start"}}
    found = hunks(
        [send, event, {"reply": {"a": [1]}}, send, event], [send, event, {"reply": {"a": [2]}}, send]
    )
    text = shown(verdict("a", Outcome.FAIL, hunks=found))
    assert "  step 1: prompt p1" in text
    assert "      same      L turn_start\n" in text
    assert '      expected  reply {"a":[1]}\n' in text
    assert '      got       reply {"a":[2]}\n' in text
    assert "      at reply.a[0]: 1 expected, 2 got\n" in text
    assert "      1 further place differs\n" in text
    assert "  see it whole: show a\n" in text


def test_what_explains_the_failures_comes_before_the_tables() -> None:
    console = Console(file=StringIO(), width=80, markup=False, highlight=False)
    report = Report(legs=(Leg(label="leg", hello=HELLO, verdicts=(verdict("a", Outcome.FAIL),)),))
    show_report(console, report, whole=str, verbose=False, explain=lambda: console.print("mend this"))
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert text.index("leg: ") < text.index("mend this") < text.index("topic ")


def test_a_failure_in_all_legs_is_shown_once() -> None:
    text = shown(verdict("a", Outcome.CRASH, reason="it died", stderr="ouch"), legs=2)
    assert text.count("CRASH a") == 1
    assert text.count("ouch") == 1
    assert "leg 0," not in text


def test_only_some_failures_are_shown_unless_all_are_wanted() -> None:
    many = [verdict(f"s{n}", Outcome.FAIL) for n in range(SHOWN + 3)]
    assert "\n3 more failed; --verbose shows all\n" in shown(*many)
    assert shown(*many).count("FAIL s") == SHOWN
    assert "whose cause" not in shown(*many)
    short = shown(*many, put_down={"s0", "s1", "s2", "s3", "s4"})
    assert "\n5 more failed; --verbose shows all\n  5 whose cause is named elsewhere here: " in short
    assert "beyond the first" not in short
    both = shown(*many, put_down={"s0", "s1"})
    assert re.search(r"^3 more failed; .*\n  2 whose cause .*\n  1 beyond the first \d+$", both, re.MULTILINE)
    assert shown(*many, verbose=True).count("FAIL s") == SHOWN + 3


def test_rulings_needs_and_unknown_things_are_listed() -> None:
    text = shown(
        verdict("a", Outcome.NON_STRICT, rulings=("D-01", "D-02")),
        verdict("b", Outcome.NOT_OFFERED, missing=("command update",)),
        verdict("c", Outcome.PASS, ignored={"tell weather": 2}, rulings=("D-03",)),
    )
    assert "a  D-01, D-02" in text
    assert "where a ruling departs from the release (see `pi-trio explain D-03`): D-03 in 1\n" in text
    assert "command update: 1 scenario (b)" in text
    assert "unknown to the protocol, and ignored: tell weather (2)" in text


def test_a_traceback_of_the_tester_is_for_who_asks() -> None:
    fault = verdict(
        "a", Outcome.HARNESS, reason="KeyError: 'x'", traceback="Traceback (most recent call last):"
    )
    assert "Traceback" not in shown(fault)
    assert "--verbose shows its traceback" in shown(fault)
    assert "Traceback" in shown(fault, verbose=True)


def test_what_is_missing_is_named() -> None:
    assert "missing required commands: prompt, continue," in shown(verdict("a", Outcome.PASS))
    assert "no scenario passed" in shown(verdict("a", Outcome.NOT_OFFERED))


def test_a_subject_cannot_write_on_the_screen() -> None:
    text = shown(verdict("a", Outcome.CRASH, reason="\x1b[2J[red]", stderr="\x07\x9b31m"))
    assert "x[bold]" in text
    assert not set(text) & {"\x1b", "\x07", "\x9b"}


A = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
B = {"tell": "event", "key": "L", "event": {"type": "turn_start"}}


def test_what_comes_once_more_is_told_from_what_was_expected() -> None:
    sent: Object = {"send": {"cmd": "sync"}}
    cases: tuple[tuple[list[Object], list[Object], str], ...] = (
        ([sent, A, B], [sent, A, A, B], "got       L agent_start   (once more)"),
        ([sent, A], [sent, A, A], "got       L agent_start   (once more)"),
        ([sent, A, A, B], [sent, A, B], "expected  L agent_start   (once more)"),
    )
    for expected, got, told in cases:
        text = shown(verdict("x", Outcome.FAIL, hunks=hunks(expected, got)))
        assert told in text
        assert text.count("(once more)") == 1


def test_what_an_error_says_is_shown_in_full() -> None:
    found = hunks([{"reply": None}], [{"error": "(host text)"}])
    text = shown(verdict("x", Outcome.FAIL, hunks=found, words={0: "list index\x1b out of range"}))
    assert "in full: list index\N{REPLACEMENT CHARACTER} out of range" in text


def test_how_many_were_not_tried_any_more_is_told() -> None:
    lost = verdict("b", Outcome.CRASH, tried=False)
    assert "not driven through 1 more" in shown(verdict("a", Outcome.CRASH), lost)
    assert "not driven" not in shown(verdict("a", Outcome.CRASH))


def test_what_is_not_in_the_release_is_no_lack_of_the_subject() -> None:
    text = shown(
        verdict("a", Outcome.NOT_OFFERED, missing=("command update",)),
        verdict("b", Outcome.NOT_OFFERED, missing=("command reset", "hook shouldStopAfterTurn")),
    )
    assert "\nnot offered:\n  command update: 1 scenario (a)\n" in text
    heading = "not in pi-1.6.0, so nothing that the subject lacks:"
    assert f"\n{heading}\n  hook shouldStopAfterTurn: 1 scenario (b)\n" in text


def test_what_gains_most_is_named_first() -> None:
    lacking = (
        [("hook afterToolCall", "hook beforeToolCall")] * 5
        + [("command update",)] * 2
        + [("command update", "hook afterToolCall")]
    )
    text = shown(*(verdict(f"s{n}", Outcome.NOT_OFFERED, missing=each) for n, each in enumerate(lacking)))
    assert (
        "what would let most of them run:\n  hook afterToolCall, hook beforeToolCall: 5 scenarios\n"
        "  then command update: 3 more\n" in text
    )


def test_a_difference_of_whole_lines_has_no_path() -> None:
    text = shown(verdict("a", Outcome.FAIL, hunks=hunks([{"reply": None}], [{"reply": {}, "more": 1}])))
    assert "at :" not in text


def test_it_is_told_that_the_worst_of_several_subjects_counts() -> None:
    assert "each scenario counts once: the worst that came of these 3\n" in shown(
        verdict("a", Outcome.PASS), legs=3
    )
