"""How far a long run has come: a bar on a terminal, now and then a line in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from rich.console import Console

from pi_trio.conformance.report import terminal
from pi_trio.conformance.report.terminal import say

SILENCE: Final = 10.0
"""Seconds that a run may take without a word."""

_PARTS: Final = 4
"""Lines for a whole run, at most."""


@contextmanager
def progress(
    console: Console, label: str, total: int, *, now: Callable[[], float] = time.monotonic
) -> Generator[Callable[[str], None]]:
    """Gives what is to be called with each name that is done.

    Args:
        total: how many there are.
        now: the clock, in seconds.
    """
    if console.is_terminal:
        with terminal.progress(console, label, total) as tick:
            yield tick
        return
    start, done = now(), 0

    def tick_quietly(_name: str) -> None:
        nonlocal done
        before, done = done * _PARTS // total, done + 1
        if done < total and done * _PARTS // total > before and now() - start >= SILENCE:
            say(console, f"{label}: {done} of {total}")

    yield tick_quietly
