"""The calls by which the built-in tools are compared with those of Pi's releases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .case import Case
from .editing import edits
from .reading import reads, writes
from .running import runs

__all__ = ["Case", "all_cases"]


def all_cases() -> Iterator[Case]:
    """All of them; each has its own name."""
    return chain(reads(), writes(), edits(), runs())
