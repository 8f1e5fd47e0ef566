"""SIGTERM taken as Ctrl-C, so that what the tester has started does not outlive it.

A subject that does not care for the end of its input has to be killed, and that takes a tester that leaves its
blocks. SIGTERM, which CI systems and `timeout` send, would end the process on the spot. Who has been told once, and is
at its last words, need not hear it again.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def sigterm_as_ctrl_c() -> Generator[None]:
    """Inside, SIGTERM raises KeyboardInterrupt where Ctrl-C would. For the main thread only, around `trio.run`.

    A process that ignores Ctrl-C, as in the background of a script, heeds it inside: trio has one way to be
    interrupted.

    Raises:
        ValueError: this is another thread.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:  # first of all: until then a SIGTERM that has become Ctrl-C would be ignored with it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    before = (
        signal.signal(signal.SIGTERM, _interrupt) or signal.SIG_DFL
    )  # None: it was not Python that set it
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is _interrupt:
            signal.signal(signal.SIGTERM, before)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def hear_no_more() -> None:
    """From now on this process heeds neither Ctrl-C nor SIGTERM: it has been told, and is about to end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)  # trio delivers it at a place where nothing of its own is torn
