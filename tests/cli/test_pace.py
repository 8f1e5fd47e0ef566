"""How far a long run has come, where there is no terminal; and where there is one, who is waited for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import StringIO
from typing import Any

import pytest
import trio
import trio.testing
from rich.console import Console

from pi_trio.cli.pace import SILENCE, SOON, progress, told
from pi_trio.conformance.faults import SubjectUnstartable


@pytest.mark.parametrize(
    ("seconds", "lines"),
    [
        (0, []),
        (SILENCE / 4, ["it: 4 of 8"]),
        (SILENCE, [f"it: {number} of 8" for number in range(1, 8)]),
    ],
)
def test_who_takes_long_says_a_word_now_and_then(seconds: float, lines: list[str]) -> None:
    """`seconds` is what each of the eight takes."""
    file, times = StringIO(), [0.0]
    with progress(Console(file=file), "it", now=lambda: times[-1]) as tick:
        for number in range(1, 9):
            times.append(number * seconds)
            tick("name", 8)
    assert file.getvalue().splitlines() == lines


def test_where_nobody_knows_how_many_there_are_it_is_told_how_many_have_been() -> None:
    file, times = StringIO(), [0.0]
    with progress(Console(file=file), "it", now=lambda: times[-1]) as tick:
        for number in (1, 2):
            times.append(number * SILENCE)
            tick("name", None)
    assert file.getvalue().splitlines() == ["it: 1", "it: 2"]


def test_what_takes_long_and_counts_in_parts_says_how_many_of_those() -> None:
    """The first of many may take the most of the time, and the last may not be the end of it."""
    file, times = StringIO(), [0.0]
    with progress(Console(file=file), "it", now=lambda: times[-1]) as tick:
        for number, step in enumerate((0, 0, 1, 0), 1):
            times.append(number * SILENCE)
            tick("name", 1, step=step, also=f"{number} parts")
    assert file.getvalue().splitlines() == [
        "it: 0 of 1, 1 parts", "it: 0 of 1, 2 parts", "it: 1 of 1, 4 parts"
    ]  # fmt: skip


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("late", [0.0, SOON + 1])
async def test_on_a_terminal_it_is_told_who_is_waited_for(
    terminal: bool, late: float, autojump_clock: trio.testing.MockClock
) -> None:
    @asynccontextmanager
    async def opener() -> AsyncGenerator[Any]:
        await trio.sleep(late)
        yield "subject"

    file = StringIO()
    async with told("it", opener, Console(file=file, force_terminal=terminal))():
        await trio.sleep(SOON + 1)
    expected = "waiting for the hello of it (up to 60 seconds)\n" if terminal and late else ""
    assert file.getvalue() == expected


async def test_who_does_not_start_is_told_as_ever() -> None:
    @asynccontextmanager
    async def opener() -> AsyncGenerator[Any]:
        await trio.lowlevel.checkpoint()
        raise SubjectUnstartable("no hello")
        yield

    with pytest.raises(SubjectUnstartable):
        async with told("it", opener, Console(file=StringIO(), force_terminal=True))():
            pass
