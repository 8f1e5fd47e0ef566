"""The scopes that there are: all batches of up to three calls with up to two reports each.

Those with many orders take minutes; they are marked, and played when all are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, TypeAlias

from pi_trio.conformance.keeper import Opener

from .gates import Gates
from .schedules import Schedules
from .scope import Beside, Mode, Scope

_BESIDE: Final[tuple[tuple[Beside, ...], ...]] = ((), ("abort",), ("steer",), ("abort", "steer"))

QUICK: Final = 2_000
"""Orders of gates that a scope of the short list has, at most."""

_Batch: TypeAlias = tuple[int, int, tuple[Beside, ...]]

_FEW: Final[tuple[_Batch, ...]] = (
    *product((1,), (0, 1), _BESIDE),
    *product((2,), (0,), _BESIDE),
    (1, 2, ()),
    (2, 1, ()),
    (3, 0, ()),
)
"""Batches that have some hundreds of schedules, at most."""

_MANY: Final[tuple[_Batch, ...]] = (
    (2, 2, ()),
    (2, 1, ("abort",)),
    (2, 1, ("steer",)),
    (3, 0, ("abort",)),
    (3, 0, ("steer",)),
)
"""Those that have thousands."""


def catalogue(profile: str, *, whole: bool) -> tuple[Scope, ...]:
    """The scopes in which the runtime behaves as a release.

    Args:
        whole: also those that take long.
    """
    return (*gates(profile, whole=whole), *_schedules(profile, whole=whole))


def gates(profile: str, *, whole: bool, subject: Opener | None = None) -> tuple[Gates, ...]:
    """Those among them that anybody can be driven through; `subject` opens who is."""
    every = (
        Gates(calls=calls, updates=updates, beside=beside, mode=mode, profile=profile, subject=subject)
        for calls, updates, beside in product((1, 2, 3), (0, 1, 2), _BESIDE)
        for mode in _modes(beside)
    )
    return tuple(scope for scope in every if whole or scope.orders <= QUICK)


def _schedules(profile: str, *, whole: bool) -> Iterator[Schedules]:
    for calls, updates, beside in (*_FEW, *(_MANY if whole else ())):
        for mode in _modes(beside):
            yield Schedules(calls=calls, updates=updates, beside=beside, mode=mode, profile=profile)
    for calls, updates in ((1, 1), (1, 2), *([(2, 1)] if whole else [])):
        yield Schedules(calls=calls, updates=updates, slow=True, profile=profile)
    for calls, updates in ((2, 0), (2, 1), (3, 0), *([(3, 1)] if whole else [])):
        yield Schedules(calls=calls, updates=updates, grain="pass", profile=profile)


def _modes(beside: tuple[Beside, ...]) -> tuple[Mode, ...]:
    return ("signal", "cancel") if "abort" in beside else ("signal",)
