"""Nurseries whose errors come out bare.

A trio nursery wraps whatever ends it in an exception group, even a lone cancellation. In this package at most one
error matters at a time: children keep their errors to themselves, so what comes out of a nursery is a cancellation,
an interrupt from the keyboard, or the error of its body. That one is raised as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType

import trio


class open_bare_nursery(AbstractAsyncContextManager[trio.Nursery]):  # noqa: N801  (as trio's)
    """A nursery that raises one error and never a group of its own; see `bare` for which.

    A class, because each turn opens one, and `asynccontextmanager` would make an asynchronous generator of it, of which
    trio keeps a list.
    """

    def __init__(self) -> None:
        self._manager = trio.open_nursery()

    async def __aenter__(self) -> trio.Nursery:
        return await self._manager.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        try:
            return await self._manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            raise bare(group) from None


def bare(error: BaseException) -> BaseException:
    """The one error of a nursery's group that matters: an interrupt, else the first error, else the cancellation."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    errors = [one for one in leaves(error) if not isinstance(one, trio.Cancelled)]
    interrupts = [one for one in errors if not isinstance(one, Exception)]
    chosen = next(iter(interrupts or errors or leaves(error)))
    for other in errors:
        if other is not chosen:
            remark(chosen, "together with it", other)
    return chosen


def remark(error: BaseException, when: str, other: BaseException) -> None:
    """Note another error on one; an error that takes no notes, or cannot be shown, goes without."""
    with suppress(Exception):
        error.add_note(f"{when}: {other!r}")


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors of a group, and of the groups in it; any other error is the only one."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves(one)
    else:
        yield error
