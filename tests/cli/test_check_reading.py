"""`pi-trio check`: how it reads logs, from files that are packed or damaged and from standard input."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from .checking import EARLY, RUN, SESSIONS


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
    assert check(SESSIONS / "pi-1.6.0.jsonl", "--longest-line", "1e300")[0] == 0
    for size in ("0", "nan", "inf", "-1", "1e400"):
        with pytest.raises(SystemExit):
            check(path, "--longest-line", size)


def test_a_missing_log_is_told_before_any_is_read(check, log) -> None:
    assert check(log(*EARLY), "nowhere.jsonl")[:2] == (2, "")


# --- standard input and output ------------------------------------------------------------------------------


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


class Bad(io.RawIOBase):
    """A disk that is broken."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: object) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_what_cannot_be_read_is_no_fault_of_the_tester(check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Bad())))
    code, out, err = check("-")
    assert (code, err) == (1, "")
    first, advice, _ = out.splitlines()
    assert first == "stdin:1: UNREADABLE the log cannot be read: Input/output error"
    assert advice == "not even its beginning can be read"


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
