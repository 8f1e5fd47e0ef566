"""The scopes that there are: all batches of up to three calls with up to two reports each.

Those that have many orders are on the whole list only. A listener fails in schedules alone: what has to come of that
is said by rulings, which bind the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, TypeAlias

from pi_trio.conformance.keeper import Opener

from .gates import Gates
from .schedules import Schedules
from .scope import Aside, Beside, Mode, Scope

_BESIDE: Final[tuple[tuple[Beside, ...], ...]] = ((), ("abort",), ("steer",), ("abort", "steer"))

QUICK: Final = 2_000
"""Orders of gates that a scope of the short list has, at most."""

_LATE: Final = (*product((1, 2, 3), (0, 1), _BESIDE[:2]),)
"""Those in which calls report too late, too."""

_ALONE: Final[tuple[tuple[Aside, ...], ...]] = (("abort",), ("steer",), ("fail",))
_ASIDE: Final[tuple[tuple[Aside, ...], ...]] = (*_BESIDE, ("fail",), ("abort", "fail"))

_Batch: TypeAlias = tuple[int, int, tuple[Aside, ...]]

_FEW: Final[tuple[_Batch, ...]] = (
    *product((1,), (0, 1), _ASIDE),
    *product((2,), (0,), _ASIDE),
    (1, 2, ()),
    (2, 1, ()),
    (3, 0, ()),
)
"""Batches that have some hundreds of schedules, at most."""

_MANY: Final[tuple[_Batch, ...]] = ((2, 2, ()), *product((2,), (1,), _ALONE), *product((3,), (0,), _ALONE))
"""Those that have thousands."""

_SLOW: Final[tuple[_Batch, ...]] = ((1, 1, ()), (1, 2, ()), (1, 1, ("fail",)), (2, 1, ()))
"""With a listener that takes its time; the last one has thousands."""


def catalogue(profile: str, *, whole: bool) -> tuple[Scope, ...]:
    """The scopes in which the runtime behaves as a release.

    Args:
        whole: also those that take long.
    """
    return (*_gates(profile, whole=whole), *_schedules(profile, whole=whole))


def catalogue_for_others(profile: str, *, whole: bool, subject: Opener) -> tuple[Gates, ...]:
    """The scopes that anybody can be driven through; `subject` opens who is."""
    return _gates(profile, whole=whole, subject=subject)


def _gates(profile: str, *, whole: bool, subject: Opener | None = None) -> tuple[Gates, ...]:
    every = (
        Gates(
            calls=calls,
            updates=updates,
            beside=beside,
            mode=mode,
            late=late,
            profile=profile,
            subject=subject,
        )
        for late, kinds in ((False, product((1, 2, 3), (0, 1, 2), _BESIDE)), (True, _LATE))
        for calls, updates, beside in kinds
        for mode in _modes(beside)
    )
    return tuple(scope for scope in every if whole or scope.orders <= QUICK)


def _schedules(profile: str, *, whole: bool) -> Iterator[Schedules]:
    for calls, updates, beside in (*_FEW, *(_MANY if whole else ())):
        for mode in _modes(beside):
            yield Schedules(calls=calls, updates=updates, beside=beside, mode=mode, profile=profile)
    for calls, updates, beside in _SLOW if whole else _SLOW[:-1]:
        yield Schedules(calls=calls, updates=updates, beside=beside, slow=True, profile=profile)
    for calls, updates in ((2, 0), (2, 1), (3, 0), *([(3, 1)] if whole else [])):
        yield Schedules(calls=calls, updates=updates, grain="pass", profile=profile)


def _modes(beside: tuple[Aside, ...]) -> tuple[Mode, ...]:
    return ("signal", "cancel") if "abort" in beside else ("signal",)
