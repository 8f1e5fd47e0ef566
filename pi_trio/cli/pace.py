"""How far a long run has come: a bar on a terminal, now and then a line in a log; and who is waited for."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import trio
from rich.console import Console

from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.report import terminal
from pi_trio.conformance.report.prose import clean
from pi_trio.conformance.report.terminal import Tick, make_console, say
from pi_trio.conformance.subject import Subject
from pi_trio.conformance.subjects.remote import HELLO_WITHIN

SILENCE: Final = 10.0
"""Seconds that a run may take without a word."""

SOON: Final = 2.0
"""Seconds that a subject may take to introduce itself without a word on a terminal."""


@contextmanager
def progress(console: Console, label: str, *, now: Callable[[], float] = time.monotonic) -> Generator[Tick]:
    """Gives what is to be called with each name that is done.

    Args:
        now: the clock, in seconds.
    """
    if console.is_terminal:
        with terminal.progress(console, label) as tick:
            yield tick
        return
    spoke, done = now(), 0

    def tick_quietly(_name: str, total: int | None, /, *, step: int = 1, also: str = "") -> None:
        nonlocal spoke, done
        done += step
        if (done != total or not step) and now() - spoke >= SILENCE:
            spoke = now()
            so_far = f"{done}" if total is None else f"{done} of {total}"
            say(console, f"{label}: {', '.join(filter(None, (so_far, also)))}")

    yield tick_quietly


def told(label: str, opener: Opener, console: Console | None = None) -> Opener:
    """The same opener, but on a terminal it is told who does not introduce himself soon."""
    console = console or make_console(stderr=True)
    if not console.is_terminal:
        return opener

    async def tell_soon(came: trio.Event) -> None:
        with trio.move_on_after(SOON):
            await came.wait()
            return
        say(console, clean(f"waiting for the hello of {label} (up to {HELLO_WITHIN:g} seconds)"))

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        with single_errors():
            async with trio.open_nursery() as nursery:
                came = trio.Event()
                nursery.start_soon(tell_soon, came)
                async with opener() as subject:
                    came.set()
                    yield subject

    return opened
