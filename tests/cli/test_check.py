"""`pi-trio check`: what it prints, and how it ends."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pi_trio.cli import main
from pi_trio.conformance.vectors import spec_folder

from .conftest import Finished

VECTORS = spec_folder() / "vectors"
SESSIONS = Path(__file__).parent.parent / "conformance" / "logs" / "data"
USER = {"role": "user", "content": "hi", "timestamp": 0}
ANSWER = {
    "role": "assistant",
    "content": [{"type": "text", "text": "ho"}],
    "stopReason": "stop",
    "timestamp": 0,
}
RUN: tuple[dict[str, Any], ...] = (
    {"type": "agent_start"},
    {"type": "turn_start"},
    {"type": "message_start", "message": USER},
    {"type": "message_end", "message": USER},
    {"type": "message_start", "message": ANSWER},
    {"type": "message_end", "message": ANSWER},
    {"type": "turn_end", "message": ANSWER, "toolResults": []},
    {"type": "agent_end", "messages": [USER, ANSWER]},
)
EARLY = (RUN[0], RUN[2], RUN[3], RUN[1], *RUN[4:])
"""The user's message is said before the turn begins."""

CREATED: tuple[dict[str, Any], ...] = (
    {"id": 1, "cmd": "create", "listeners": ["L"]},
    {"re": 1, "ok": None},
    {"id": 2, "cmd": "prompt", "op": "p", "input": "hi"},
)
"""A wire on which an agent is made, and no more is said."""


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    def run(*arguments: str | Path) -> Finished:
        code = main(["check", *map(str, arguments)])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Write lines into a log: bytes as they are, everything else as JSON."""

    def write(*lines: Any, name: str = "events.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(
            b"".join(each if isinstance(each, bytes) else f"{json.dumps(each)}\n".encode() for each in lines)
        )
        return path

    return write


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


def test_a_packed_log(check, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl.gz"
    packed = gzip.compress((SESSIONS / "pi-1.6.0.jsonl").read_bytes())
    path.write_bytes(packed)
    code, out, _ = check(path)
    assert code == 0
    assert out.endswith("; as pi-1.6.0\n")
    path.write_bytes(packed[: len(packed) // 2])
    code, out, _ = check(path)
    assert code == 0
    assert ": NOTE the log ends in the middle of what gzip has packed; that is no fault" in out
    code, out, _ = check(path, "--complete")
    assert code == 1
    assert ": UNREADABLE the log ends in the middle of what gzip has packed" in out
    path.write_bytes(packed[:-8] + bytes(8))
    code, out, _ = check(path)
    assert code == 1
    assert ": UNREADABLE the log cannot be read on: " in out


def test_utf_16_has_a_hint(check, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"type":"agent_start"}\n', encoding="utf-16")
    code, out, _ = check(path)
    assert code == 1
    assert f"{path}:1: UNREADABLE UTF-16, and UTF-8 is needed" in out


@pytest.mark.parametrize(
    ("beginning", "packer"),
    [(b"(\xb5/\xfd", "zstd"), (b"BZh9", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "zip")],
)
def test_what_another_has_packed_has_a_hint(check, tmp_path: Path, beginning: bytes, packer: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(beginning + b"\n" * 20)
    code, out, _ = check(path)
    assert code == 1
    assert f"{path}:1: UNREADABLE packed by {packer}, and only what gzip has packed is read" in out


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


def test_a_missing_log_is_told_before_any_is_read(check, log) -> None:
    assert check(log(*EARLY), "nowhere.jsonl")[:2] == (2, "")


# --- standard input -------------------------------------------------------------------------------------------


@pytest.fixture
def following() -> Generator[subprocess.Popen[bytes]]:
    """A process that judges what it is given."""
    with subprocess.Popen(
        [sys.executable, "-m", "pi_trio.cli", "check", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200"},
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def give(process: subprocess.Popen[bytes], *events: Any) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{json.dumps(event)}\n" for event in events).encode())
    process.stdin.flush()


def test_what_is_found_in_standard_input_is_told_at_once(following: subprocess.Popen[bytes]) -> None:
    give(following, *EARLY[:2])
    assert following.stdout is not None
    assert following.stdout.readline().startswith(b"stdin:2: BROKEN TURN-01  ")
    give(following, *EARLY[2:])
    out, err = following.communicate(timeout=60)
    assert (following.returncode, err) == (1, b"")
    assert out.splitlines()[-1].startswith(b"not conformant: 1 run, 8 events; ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_log_has_its_summary(
    following: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    give(following, *EARLY[:2])
    assert following.stdout is not None
    assert following.stdout.readline().startswith(b"stdin:2: ")
    following.send_signal(number)
    out, err = following.communicate(timeout=60)
    assert (following.returncode, err) == (130, b"")
    assert out.splitlines()[-1].startswith(b"interrupted; so far not conformant: 1 run, 2 events; ")


def test_a_file_may_have_the_name_of_standard_input(
    tmp_path: Path,
) -> None:
    (tmp_path / "stdin").write_text("".join(f"{json.dumps(event)}\n" for event in RUN))
    told = subprocess.run(
        [sys.executable, "-m", "pi_trio.cli", "check", "-", "stdin"],
        input="".join(f"{json.dumps(event)}\n" for event in EARLY).encode(),
        capture_output=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    assert told.returncode == 1
    assert told.stdout.splitlines()[-1].startswith(b"not conformant: 2 runs, ")


def test_without_standard_input_there_is_nothing_to_read(check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert check("-") == (2, "", "pi-trio: -: there is no standard input\n")


def test_who_has_read_enough_may_leave(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(f"{json.dumps(event)}\n" for event in EARLY * 20_000))
    with subprocess.Popen(
        [sys.executable, "-m", "pi_trio.cli", "check", "-v", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""


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


def test_a_bar_is_only_for_a_terminal(check, log) -> None:
    path = log(*EARLY * 3_000)
    _, plain, _ = check(path)
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "pi_trio.cli", "check", str(path)], stdout=subprocess.PIPE, stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ) as process:  # fmt: skip
        os.close(follower)
        shown = b""
        with suppress(OSError):  # so ends the side of a terminal that nobody writes to any more
            while part := os.read(leader, 65_536):
                shown += part
        os.close(leader)
        assert process.stdout is not None
        assert process.stdout.read().decode() == plain
    assert b"MB" in shown
    assert b"BROKEN" not in shown


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


def test_a_line_may_be_too_long(check, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    run = (SESSIONS / "pi-1.6.0.jsonl").read_bytes()
    path.write_bytes(run + b'{"type":"turn_start","x":"' + b"x" * 3_000_000 + b'"}\n' + run)
    line = run.count(b"\n") + 1
    assert "UNREADABLE" not in check(path)[1]
    code, out, _ = check(path, "--longest-line", "2.5")
    assert code == 1
    assert out.startswith(
        f"{path}:{line}: UNREADABLE a line that is longer than 2.5 MB, so it was passed over; "
    )
    assert "UNREADABLE a line that is longer than 1,048 bytes" in check(path, "--longest-line", "0.001")[1]
    with pytest.raises(SystemExit):
        check(path, "--longest-line", "0")
