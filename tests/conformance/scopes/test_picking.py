"""The scheduler under control: it finds every order that there is, and `pass` no more than trio itself has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from math import factorial

import trio

from pi_trio.conformance.scheduling import picked
from pi_trio.conformance.scopes.choices import Path
from pi_trio.conformance.scopes.picking import Grain, pick

Note = Callable[[str], None]


def every_play(program: Callable[[Note], Awaitable[None]], grain: Grain) -> Iterator[tuple[str, ...]]:
    """What was noted, in each schedule. The schedule is controlled as soon as something was noted."""
    path: Path | None = Path()
    while path is not None:
        yield tuple(noted_on(path, program, grain))
        path.check()
        path = path.next()


def noted_on(path: Path, program: Callable[[Note], Awaitable[None]], grain: Grain) -> list[str]:
    noted: list[str] = []
    with picked(lambda ready: pick(ready, path, grain) if noted else ready):
        trio.run(program, noted.append)
    return noted


async def three_tools(note: Note) -> None:
    """Each reports once, and ends."""

    async def tool(name: str) -> None:
        await trio.lowlevel.checkpoint()
        note(f"{name} reports")
        await trio.lowlevel.checkpoint()
        note(f"{name} ends")

    note("begins")
    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(tool, name)


def test_three_tools_with_one_report_each_have_ninety_orders() -> None:
    plays = [*every_play(three_tools, "one")]
    assert len(plays) == factorial(9) // factorial(3) ** 3 == 1680
    assert len(set(plays)) == 90


def test_in_passes_nobody_gets_ahead() -> None:
    plays = [*every_play(three_tools, "pass")]
    assert len(plays) == 6**3
    assert len(set(plays)) == 6**2
    assert all({word[2:] for word in play[1:4]} == {"reports"} for play in plays)


def test_tasks_that_would_do_the_same_are_one_choice() -> None:
    async def alike(note: Note) -> None:
        names = iter("abc")

        async def tool() -> None:
            name = next(names)
            await trio.lowlevel.checkpoint()
            note(name)

        note("begins")
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(tool)

    plays = [*every_play(alike, "one")]
    assert len(plays) == factorial(6) // 2**3 // factorial(3)
    assert len(set(plays)) == 6
