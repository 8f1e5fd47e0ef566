"""Which of the runnable tasks goes on, when a path of choices decides it.

`one`: any of them, and the others wait; so a task may be left behind for as long as one likes. `pass`: all of them
once, in any order, before any of them again, as in trio itself. Tasks that have not begun yet and would do the same
are one choice: whichever is taken, the same happens.
"""

from __future__ import annotations

import inspect
from typing import Any, Literal, TypeAlias

import trio

from .choices import Path

Grain: TypeAlias = Literal["one", "pass"]


def pick(ready: list[trio.lowlevel.Task], path: Path, grain: Grain) -> list[trio.lowlevel.Task]:
    """Those that run now, first to last."""
    picked: list[trio.lowlevel.Task] = []
    while ready and not (picked and grain == "one"):
        different: dict[object, trio.lowlevel.Task] = {}
        for task in ready:
            different.setdefault(_what_it_would_do(task), task)
        picked.append([*different.values()][path.choose(len(different))])
        ready.remove(picked[-1])
    return picked


def _what_it_would_do(task: trio.lowlevel.Task) -> object:
    """The same for tasks that have not begun yet, in one nursery, with one function and the same arguments."""
    coroutine: Any = task.coro
    if inspect.getcoroutinestate(coroutine) != inspect.CORO_CREATED:
        return task
    given = tuple((name, id(value)) for name, value in sorted(coroutine.cr_frame.f_locals.items()))
    return (id(task.parent_nursery), coroutine.cr_code, given)
