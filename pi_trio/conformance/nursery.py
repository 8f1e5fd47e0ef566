"""Nurseries behind a context manager, without their groups showing.

The nurseries of the tester only have helpers in them, which do not fail. So an error that leaves one is the
error of the block, and whoever wrote the block expects it as it was raised.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def single_errors() -> Generator[None]:
    """Around a nursery: the error of its block comes out as it is, not in a group of one."""
    try:
        yield
    except BaseExceptionGroup as group:
        if len(group.exceptions) != 1:
            raise
        error = group.exceptions[0]
    else:
        return
    raise error
