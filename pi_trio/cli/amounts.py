"""Amounts on a command line: so many seconds, so many megabytes, so many processes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress


def amount_of(unit: str) -> Callable[[str], float]:
    """A parser of arguments: it takes a finite number above 0, and says in that unit what is needed."""

    def parse(text: str) -> float:
        with suppress(ValueError):
            if 0 < (value := float(text)) < float("inf"):
                return value
        raise argparse.ArgumentTypeError(f"a number of {unit} above 0 is needed")

    return parse


def number_of_jobs(text: str) -> int:
    """A parser of arguments: it takes a whole number from 1."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError("a number from 1 is needed")
    return int(text)
