"""How far a long run has come, where there is no terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from pi_trio.cli.pace import SILENCE, progress


@pytest.mark.parametrize(
    ("seconds", "lines"),
    [
        (0, []),
        (SILENCE / 4, ["it: 4 of 8", "it: 6 of 8"]),
        (SILENCE, ["it: 2 of 8", "it: 4 of 8", "it: 6 of 8"]),
    ],
)
def test_who_takes_long_says_a_word_now_and_then(seconds: float, lines: list[str]) -> None:
    """`seconds` is what each of the eight takes."""
    file, times = StringIO(), [0.0]
    with progress(Console(file=file), "it", 8, now=lambda: times[-1]) as tick:
        for number in range(1, 9):
            times.append(number * seconds)
            tick("name")
    assert file.getvalue().splitlines() == lines
