"""First in, first out: trio's scheduler made predictable, for subjects that are compared in total order.

Trio runs the tasks of a scheduling pass in random order, on purpose. A subject process promises Pi's own
order inside a step, which is the order of becoming runnable, so there the random choice is replaced by the
one that keeps the order. That needs two private names of trio. **No other module touches them**, and
`first_in_first_out` checks its own effect each time it is first used: if a new trio works differently, it
says so instead of comparing wrongly.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager

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


@contextmanager
def first_in_first_out() -> Generator[None]:
    """Inside, every `trio.run` of this process schedules tasks in the order in which they become runnable.

    Raises:
        SchedulingError: trio does not behave as this module expects.
    """
    try:
        before = (_trio_run._r, _trio_run._ALLOW_DETERMINISTIC_SCHEDULING)
    except AttributeError as missing:
        raise SchedulingError(f"trio {trio.__version__} has no {missing.name}") from None
    _trio_run._r = _KeepOrder()
    # Importing hypothesis sets this flag, which makes trio sort and shuffle each pass instead.
    _trio_run._ALLOW_DETERMINISTIC_SCHEDULING = False  # type: ignore[misc]
    try:
        if not _in_order:
            _check()
        yield
    finally:
        _trio_run._r, _trio_run._ALLOW_DETERMINISTIC_SCHEDULING = before  # type: ignore[misc]


_in_order: list[int] = []


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
