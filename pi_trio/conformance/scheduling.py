"""Trio's scheduler made predictable: first in, first out; or as somebody says who tries every schedule.

Trio runs the tasks of a scheduling pass in random order, on purpose. A subject process promises Pi's own
order inside a step, which is the order of becoming runnable, so there the random choice is replaced by the
one that keeps the order. And where every order is to be seen, it is replaced by somebody's choice. That needs
a few private names of trio. **No other module touches them**, and each way checks its own effect when it is
first used: if a new trio works differently, it says so instead of comparing wrongly.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

import trio
import trio._core._run as _trio_run

from ..errors import PiTrioError


class SchedulingError(PiTrioError):
    """This release of trio cannot be made to run tasks first in, first out."""


class _KeepOrder(random.Random):
    """Trio reverses a pass (and then takes it from its end) when `random()` is below one half; so it keeps
    the order.
    """

    def random(self) -> float:
        return 0.0

    def shuffle(self, x: object) -> None:  # noqa: ARG002
        raise SchedulingError(f"trio {trio.__version__} shuffles its tasks where that should be switched off")


Pick: TypeAlias = Callable[[list[trio.lowlevel.Task]], list[trio.lowlevel.Task]]
"""Says which of the runnable tasks run now, first to last. They are given in the order in which they were made."""


class _AsPicked(random.Random):
    """With its flag set, trio sorts a pass, has `shuffle` change it in place, and takes it from its end."""

    def __init__(self, pick: Pick) -> None:
        super().__init__()
        self._pick = pick
        self._context = _private("GLOBAL_RUN_CONTEXT")

    def shuffle(self, x: Any) -> None:
        ready: list[trio.lowlevel.Task] = x
        now = self._pick(list(ready))
        later = [task for task in ready if task not in now]
        ready[:] = reversed(now)
        self._context.runner.runq.extend(later)


@contextmanager
def first_in_first_out() -> Generator[None]:
    """Inside, every `trio.run` of this process schedules tasks in the order in which they become runnable.

    Raises:
        SchedulingError: trio does not behave as this module expects.
    """
    # Importing hypothesis sets the flag, which makes trio sort and shuffle each pass instead.
    with _scheduled(_KeepOrder(), sorts=False):
        if not _in_order:
            _check()
        yield


@contextmanager
def picked(pick: Pick) -> Generator[None]:
    """Inside, every `trio.run` of this process runs those tasks that `pick` says; the others stay runnable.

    Raises:
        SchedulingError: trio does not behave as this module expects.
    """
    if not _one_by_one:
        _check_picking()
    with _scheduled(_AsPicked(pick), sorts=True):
        yield


@contextmanager
def _scheduled(chance: random.Random, *, sorts: bool) -> Generator[None]:
    before = _private("_r"), _private("_ALLOW_DETERMINISTIC_SCHEDULING")
    _trio_run._r = chance
    _trio_run._ALLOW_DETERMINISTIC_SCHEDULING = sorts  # type: ignore[misc]
    try:
        yield
    finally:
        _trio_run._r, _trio_run._ALLOW_DETERMINISTIC_SCHEDULING = before  # type: ignore[misc]


def _private(name: str) -> Any:
    try:
        return getattr(_trio_run, name)
    except AttributeError:
        raise SchedulingError(f"trio {trio.__version__} has no {name}") from None


_in_order: list[int] = []
_one_by_one: list[int] = []


def _check() -> None:
    """See that tasks really run first in, first out."""
    seen: list[int] = []

    async def note(number: int) -> None:
        seen.append(number)
        await trio.lowlevel.checkpoint()
        seen.append(number)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(note, number)

    trio.run(main)
    if seen != [*range(8), *range(8)]:
        raise SchedulingError(f"trio {trio.__version__} does not run tasks first in, first out: {seen}")
    _in_order[:] = seen


def _check_picking() -> None:
    """See that a task can be held back until all that were made before it have ended."""
    seen: list[int] = []

    async def note(number: int) -> None:
        seen.append(number)
        await trio.lowlevel.checkpoint()
        seen.append(number)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for number in range(4):
                nursery.start_soon(note, number)

    with _scheduled(_AsPicked(lambda ready: ready[-1:]), sorts=True):
        trio.run(main)
    if seen != [3, 3, 2, 2, 1, 1, 0, 0]:
        raise SchedulingError(f"trio {trio.__version__} does not run the tasks that are picked: {seen}")
    _one_by_one[:] = seen
