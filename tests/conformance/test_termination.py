"""A tester that is told to end takes along what it has started, however impolite that is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from pi_trio.conformance.termination import sigterm_as_ctrl_c

TESTER = """\
import signal, sys
import trio
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.termination import sigterm_as_ctrl_c

async def main():
    async with open_process_subject([sys.executable, "-c", sys.argv[1]], profile="pi-1.6.0") as subject:
        print(subject._process.pid, flush=True)
        await subject.request({"id": 1, "cmd": "create"})

if "ignored" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    with sigterm_as_ctrl_c():
        trio.run(main)
except BaseException as error:
    sys.exit(130 if "KeyboardInterrupt" in repr(error) else 1)
"""

IMPOLITE = """\
import json, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
hello = {"tell": "hello", "protocol": 1, "subject": "s", "version": "1", "profile": "p", "hooks": [], "commands": []}
print(json.dumps(hello), flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.parametrize("more", [[], ["ignored"]])
def test_sigterm_ends_an_impolite_subject_too(more: list[str]) -> None:
    command = [sys.executable, "-c", TESTER, IMPOLITE, *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tester:
        assert tester.stdout is not None
        subject = int(tester.stdout.readline())
        os.kill(subject, 0)
        tester.send_signal(signal.SIGTERM)
        assert tester.wait(20) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(subject, 0)


def test_it_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), sigterm_as_ctrl_c():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_python_did_not_set_gives_way_to_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a handler that a host program has set in C, Python knows no more than that there is one."""
    before, set_handler = signal.getsignal(signal.SIGTERM), signal.signal
    monkeypatch.setattr(signal, "signal", lambda *given: (set_handler(*given), None)[1])
    try:
        with sigterm_as_ctrl_c():
            pass
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        set_handler(signal.SIGTERM, before)


def test_there_is_no_moment_at_which_sigterm_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Ctrl-C is ignored, SIGTERM becomes one that is heeded, from the first moment on."""
    before, set_handler = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal

    def struck(number: int, handler: Any) -> Any:
        former = set_handler(number, handler)
        if number == signal.SIGTERM and callable(handler):
            signal.raise_signal(signal.SIGTERM)
        return former

    monkeypatch.setattr(signal, "signal", struck)
    former = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt), sigterm_as_ctrl_c():
            pass
    finally:
        set_handler(signal.SIGTERM, former)
        set_handler(signal.SIGINT, before)
