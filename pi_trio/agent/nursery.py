"""What an error is to a run: a cancellation of the task, one that stays where it was raised, or one that goes on.

The nurseries of this package are those of `models/nursery.py`, whose errors come out bare.
"""

from __future__ import annotations

import math

import trio

from ..models.nursery import bare, leaves, open_bare_nursery, remark

__all__ = ["bare", "contained", "is_cancelled", "open_bare_nursery", "remark", "stray"]


def is_cancelled(error: BaseException) -> bool:
    """Whether an error is the cancellation of the current task and nothing else, perhaps in somebody's group.

    A `Cancelled` that somebody has kept and raises where nothing is cancelled is an error like any other.
    """
    return (
        all(isinstance(one, trio.Cancelled) for one in leaves(error))
        and trio.current_effective_deadline() == -math.inf
    )


def contained(error: BaseException) -> Exception:
    """An error of the user's code as one that stays where it was raised; others go on: this raises them again.

    A `Cancelled` where nothing is cancelled tells of the code that has kept it, and so it stays.
    """
    if isinstance(error, Exception):
        return error
    if is_cancelled(error) or not all(isinstance(one, trio.Cancelled) for one in leaves(error)):
        raise error
    return stray(error)


def stray(error: BaseException) -> RuntimeError:
    """What a `Cancelled` is where nothing is cancelled."""
    made = RuntimeError("trio.Cancelled was raised where nothing is cancelled")
    made.__cause__ = error
    return made
