"""`pi-trio check`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .checking import ANSWER, EARLY, RUN, SESSIONS, VECTORS

CREATED: tuple[dict[str, Any], ...] = (
    {"id": 1, "cmd": "create", "listeners": ["L"]},
    {"re": 1, "ok": None},
    {"id": 2, "cmd": "prompt", "op": "p", "input": "hi"},
)
"""A wire on which an agent is made, and no more is said."""


def test_a_conformant_log(check, log) -> None:
    code, out, err = check(log(*RUN))
    assert (code, err) == (0, "")
    assert out.startswith("conformant: 1 run, 8 events; ")
    assert out.endswith(" clauses reached; as pi-0.80.2 or pi-0.85.0\n")


def test_a_fault_is_shown_where_it_is(check, log) -> None:
    path = log(*EARLY)
    code, out, _ = check(path)
    assert code == 1
    first, said, allowed, summary = out.splitlines()
    assert first.startswith(f"{path}:2: BROKEN TURN-01  ")
    assert first.endswith("  (MUST)")
    assert said == "    message_start without turn_start (run begun)"
    assert allowed == "    allowed: turn_start (TURN-01)"
    assert summary.startswith("not conformant: 1 run, 8 events; ")
    assert "; broken: TURN-01; " in summary


def test_what_is_counted_has_a_number_of_its_own(check, log) -> None:
    _, out, _ = check(log(*RUN[:1]))
    assert "; 1 clause reached; " in out
    short = [*RUN[:-1], {"type": "agent_end", "messages": []}]
    assert "other messages than were said: it has 0, and 2 were said\n" in check(log(*short))[1]


def test_the_same_fault_is_shown_three_times_and_counted(check, log) -> None:
    path = log(*EARLY * 7)
    _, out, _ = check(path)
    assert out.count(": BROKEN TURN-01") == 3
    assert "\nand 4 more of TURN-01: message_start without turn_start (run begun)\n" in out
    _, out, _ = check(path, "-v")
    assert out.count(": BROKEN TURN-01") == 7
    assert "more of" not in out


def test_what_the_releases_do_is_counted_by_ruling(check) -> None:
    path = VECTORS / "pi-1.6.0" / "stream_double_start.jsonl"
    code, out, _ = check(path)
    assert code == 0
    assert "as Pi does it, where a ruling is stricter: D-06 in 1; --verbose shows them\n" in out
    assert " AS PI " not in out
    code, out, _ = check(path, "-v")
    assert " AS PI STREAM-08  " in out
    assert "  (RULING D-06)\n" in out


def test_lines_that_cannot_be_read(check, log) -> None:
    path = log(
        *RUN, b"npm warn\n" * 5, b'{"type":"turn_start"}{"type":"turn_end"}\n', *RUN, b'{"type":"agent_s'
    )
    code, out, _ = check(path)
    assert code == 1
    assert f"{path}:9: UNREADABLE no JSON: Expecting value at column 1\n" in out
    assert (
        f"{path}:14: UNREADABLE two objects have run into one line; the second begins at column 22\n" in out
    )
    assert f"{path}:23: NOTE the log ends in the middle of a line; that is no fault\n" in out
    assert "\nand 2 more of no JSON: Expecting value\n" in out
    assert "not conformant: 2 runs, 16 events; " in out
    assert "; 6 things that cannot be read; " in out


def test_a_key_given_twice_is_told_with_the_fault(check, log) -> None:
    _, out, _ = check(log(RUN[0], b'{"type":"turn_start","type":"turn_end"}\n', *RUN[2:]))
    assert "    in this line type is given twice, and the last one counts\n" in out


def test_control_characters_do_not_reach_the_terminal(check, log) -> None:
    _, out, _ = check(
        log({"type": "\x1b[2J"}, RUN[0], {"type": "tool_execution_end", "toolCallId": "\x1b[2J[red]"})
    )
    assert "\x1b" not in out
    assert "[red]" in out


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        ((), "there is no line in it"),
        (({"type": "turn_begin"},), "a log has an event in each line"),
        (
            ({"type": "session", "version": 3}, {"type": "message", "id": "1"}),
            "this is the file of a session",
        ),
        (CREATED[::2], "these are the commands of a tester alone"),
        (CREATED[1::2], "this is what a subject says alone"),
        (CREATED[:2], "no agent that is created here is asked for anything"),
    ],
)
def test_nothing_to_judge(check, log, lines: Any, advice: str) -> None:
    code, out, _ = check(log(*lines))
    assert code == 1
    *_, said, summary = out.splitlines()
    assert said.startswith(advice)
    assert summary.startswith("nothing to judge: 0 runs, 0 events")


def test_the_middle_of_a_run(check, log) -> None:
    path = log(*RUN, *RUN[:3])
    code, out, _ = check(path)
    assert code == 0
    assert f"{path}:11: NOTE the log ends in the middle of a run (message open); that is no fault\n" in out
    code, out, _ = check(path, "--complete")
    assert code == 1
    assert f"{path}:11: BROKEN RUN-02" in out


def test_a_log_that_begins_in_the_middle_of_a_run(check, log) -> None:
    path = log(*RUN[3:])
    code, out, _ = check(path)
    assert code == 1
    assert out.startswith(f"{path}:1: NOTE it begins in the middle of a run; ")
    assert "--midway\n" in out
    assert "\nnot conformant: 1 run, 5 events; " in out
    code, out, _ = check(path, "--midway")
    assert code == 0
    assert out.startswith("conformant: 1 run, 5 events; ")
    assert check(log(*RUN[3:], *RUN), "--midway")[1].startswith("conformant: 2 runs, 13 events; ")
    heard = [{"tell": "event", "key": "L", "event": event} for event in RUN[3:]]
    path = log(*heard)
    assert check(path)[1].startswith(f"{path}:1: NOTE it begins in the middle of a run; ")
    assert check(path, "--midway")[1].startswith("conformant: 1 run, 5 events; ")


def test_as_a_profile(check, log) -> None:
    path = log(*RUN)
    code, out, _ = check(path, "--profile", "pi-1.6.0")
    assert code == 1
    assert "MSG-05" in out
    assert out.endswith("judged as pi-1.6.0\n")
    code, out, _ = check(path, "--profile", "pi-1.6.0,message_thinking_level=pi-0.85.0")
    assert code == 0
    assert out.endswith("judged as pi-1.6.0,message_thinking_level=pi-0.85.0\n")


def test_several_logs(check, log) -> None:
    good, bad = log(*RUN), log(*EARLY, name="early.jsonl")
    code, out, _ = check(good, bad, good)
    assert code == 1
    assert out.count("events.jsonl") == 0
    assert f"\n{bad}: 1 run, 8 events; as pi-0.80.2 or pi-0.85.0\n" in out
    assert "not conformant: 2 runs, 16 events in 2 logs; " in out
    _, out, _ = check(good, bad, "-v")
    assert f"\n{good}: 1 run, 8 events; " in out
    code, out, _ = check(good, SESSIONS / "pi-1.6.0.jsonl")
    assert code == 0
    assert out.endswith("; no release fits them all\n")
    assert "\neach log fits a release: judge them apart, or, with --profile, all as the one " in out
    assert "each log fits" not in check(good, good)[1]
    assert "each log fits" not in check(good, SESSIONS / "pi-1.6.0.jsonl", "--profile", "pi-1.6.0")[1]


def test_the_sides_of_a_wire_in_a_log_each(check, log) -> None:
    """The tester's has nothing to judge, and what the subject says is judged all the same."""
    heard = [{"tell": "event", "key": "L", "event": event} for event in RUN]
    tester, subject = log(*CREATED[::2], name="tester.jsonl"), log(CREATED[1], *heard, {"re": 2, "ok": None})
    code, out, _ = check(tester, subject)
    assert code == 0
    first, last = out.splitlines()
    assert first.startswith(f"{tester}: nothing to judge: these are the commands of a tester alone")
    assert last.startswith("conformant: 1 run, 8 events in 2 logs; ")


def test_the_report_as_json(check, log, tmp_path: Path) -> None:
    path, report = log(*EARLY * 5, b"x\n", {"type": "agent_settled"}), tmp_path / "report.json"
    check(path, "--json", report)
    document = json.loads(report.read_text())
    assert document["summary"].startswith("not conformant: 5 runs, 40 events; ")
    assert (document["conformant"], document["interrupted"]) == (False, False)
    (of_log,) = document["logs"]
    assert (of_log["log"], of_log["runs"], of_log["broken"], of_log["unreadable"]) == (str(path), 5, 5, 1)
    assert of_log["fits"] == [{"fromLine": 1, "profiles": ["pi-0.80.2", "pi-0.85.0"]}]
    assert of_log["notJudged"] == {"agent_settled": 1}
    (finding,) = document["findings"]
    assert (finding["clause"], finding["kind"], finding["count"]) == ("TURN-01", "broken", 5)
    assert [place["line"] for place in finding["places"]] == [2, 10, 18]
    assert finding["places"][0]["allowed"] == ["turn_start (TURN-01)"]
    assert [each["count"] for each in document["unreadable"]] == [1]
    assert "RUN-01" in document["reached"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl"], "pi-trio: nowhere.jsonl: No such file or directory\n"),
        (["."], "pi-trio: .: that is a folder\n"),
        (["-", "--profile", "pi-9"], "pi-trio: --profile pi-9: "),
        (["a\0b"], "pi-trio: a\N{REPLACEMENT CHARACTER}b: a null byte is in the name\n"),
    ],
)
def test_wrong_usage(check, arguments: list[str], said: str) -> None:
    code, out, err = check(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(said)


def test_what_has_no_end_is_shown_in_part(check, log) -> None:
    long = "x" * 100_000
    calls = [{"type": "toolCall", "id": f"{n}{long}", "name": "a", "arguments": {}} for n in range(30)]
    answer = {**ANSWER, "content": calls, "stopReason": "toolUse"}
    starts = [
        {"type": "tool_execution_start", "toolCallId": call["id"], "toolName": "a", "args": {}}
        for call in calls
    ]
    path = log(*RUN[:4], {"type": "message_start", "message": answer}, {"type": "message_end", "message": answer},
               *starts, {"type": "tool_execution_end", "toolCallId": long}, {"type": long})  # fmt: skip
    code, out, _ = check(path)
    assert code == 1
    assert len(out) < 20_000
    assert ", and 48 more\n" in out


def test_one_log_that_no_release_fits_says_where_it_changes(check, log) -> None:
    header = {"type": "session", "version": 3, "id": "x"}
    newer = json.loads(json.dumps(RUN).replace('"stop"', '"stop", "thinkingLevel": "off"'))
    newer.insert(5, {"type": "message_update", "assistantMessageEvent": {"type": "text_start"}})
    code, out, _ = check(log(header, *RUN, header, *newer))
    assert code == 0
    fits = "from line 1 on as pi-0.80.2 or pi-0.85.0, from line 10 on as pi-1.0.3 or pi-1.6.0"
    assert out.endswith(f"; no release fits all of it: {fits}\n")
    assert (
        "not judged in a session, whose updates lack the message and whose extensions change what was said: "
        in out
    )
    assert ": MSG-02, MSG-04\n" in out
    assert "each log fits" not in out
