"""Ctrl-C while an agent works: the first one aborts the run, the next one ends the process.

trio's own answer to Ctrl-C is an exception somewhere in the program. Here the run is to settle: what has come so far
is in the transcript, and told. A process that hangs, in a thread or in a pipe that nobody reads, ends with the second
Ctrl-C all the same: that is heard by the signal's handler itself, which needs no turn of trio's loop.

SIGTERM and SIGHUP, as it comes of a terminal that is closed, are heard as Ctrl-C is: what runs for the agent has
sessions of its own, and would go on. Whoever has SIGHUP ignored (nohup) goes on.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

import trio

INTERRUPTED: Final = 130
HEARD: Final = b"interrupted; once more ends at once\n"
_STDERR: Final = 2
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Whether one of the signals was heard."""

    def __init__(self) -> None:
        self.heard = False


@contextmanager
def stopping(stop: Callable[[], object], *, at_once: Callable[[], object] = lambda: None) -> Generator[Stop]:
    """Inside, the first signal has `stop` called, in trio; a second one ends the process at once.

    Args:
        stop: has the run settle.
        at_once: what is still to be done where it does not: called by the signal's handler, so it must not wait.

    For the main thread, inside `trio.run`; in another one no signals are heard.
    """
    stopped = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    token = trio.lowlevel.current_trio_token()

    def hear(_number: int, _frame: FrameType | None) -> None:
        if stopped.heard:
            try:
                at_once()
            finally:
                os._exit(INTERRUPTED)
        stopped.heard = True
        _say()
        token.run_sync_soon(stop)

    heeded = [
        number for number in _SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, hear) for number in heeded}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say() -> None:
    """That it was heard. By the system's own write: the signal may have struck inside one of Python's."""
    with suppress(OSError):
        os.write(_STDERR, b"\n" + HEARD if os.isatty(_STDERR) else HEARD)
