"""Otherwise safe: what a ruling promises, apart from how the runtime keeps the promise.

A ruling names something that Pi loses or leaves in disorder. Another implementation may be as careful as the
runtime and do it in another way. So where a trace is neither the runtime's nor the release's, it is asked for what
the ruling is about: the *postconditions*, small predicates on the trace. `nesting.py` is the grammar of what is
said, `listening.py` has what is promised to those who hear it, and `promises.py` one predicate for each of the other
rulings; `closings.py` and `ordinary.py` see to it that nothing is missing, and that nothing else differs.

All of them are asked for under every ruling, because who escapes one disorder by way of another is not safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from ..compare import fingerprint
from ..protocol import Object
from . import listening, promises
from .closings import debts
from .nesting import nesting
from .ordinary import strays
from .said import Conversation, conversations

Predicate: TypeAlias = Callable[[Conversation], Iterator[str]]

ALWAYS: Final[tuple[Predicate, ...]] = (
    nesting, promises.containment, promises.settling, listening.listeners, listening.awaiting, listening.delivery,
    promises.pending, promises.queues,
)  # fmt: skip

OF_RULINGS: Final[dict[str, tuple[Predicate, ...]]] = {
    "D-01": (promises.containment, nesting),
    "D-02": (nesting,),
    "D-03": (nesting, promises.containment),
    "D-04": (listening.delivery, listening.awaiting, listening.listeners, promises.transcript),
    "D-05": (promises.settling,),
    "D-06": (nesting,),
    "D-07": (promises.pending,),
    "D-09": (promises.queues,),
    "D-10": (promises.abort,),
    "D-12": (nesting,),
}
"""The predicates that say what each ruling is about. (D-08 and D-11 do not show in a trace.)"""


def broken(lines: Sequence[Object], rulings: Sequence[str]) -> Iterator[str]:
    """What of these rulings' own postconditions a trace does not keep."""
    for ruling in rulings:
        for conversation in conversations(lines):
            for predicate in OF_RULINGS.get(ruling, ()):
                yield from (f"{ruling}: {what}" for what in predicate(conversation))


def unsafe(
    lines: Sequence[Object],
    *,
    runtime: Sequence[Object],
    release: Sequence[Object],
    enters: int,
    rulings: Sequence[str],
) -> str:
    """Why a trace is not otherwise safe; empty if it is.

    Args:
        runtime, release: what the two sides do.
        enters: the line with the command that enters the rulings.

    What a predicate of the tester raises where the runtime is concerned, is raised.
    """
    shared = enters + 1
    if fingerprint(lines[:shared]) != fingerprint(runtime[:shared]):
        return f"it differs before the command that enters {', '.join(rulings)}"
    own = (predicate for ruling in rulings for predicate in OF_RULINGS.get(ruling, ()))
    predicates = dict.fromkeys([*ALWAYS, *own])

    def wrong(trace: Sequence[Object]) -> Iterator[str]:
        for each in conversations(trace):
            for predicate in predicates:
                yield from predicate(each)
        yield from _differences(shared, trace, runtime, release)

    for _ in wrong(runtime):  # of which nothing is wrong: what is raised here is a fault of the tester
        pass
    try:
        return next(wrong(lines), "")
    except (AttributeError, KeyError, TypeError, ValueError):
        return "it says what cannot be understood"  # an event without its message, say


def _differences(
    shared: int, got: Sequence[Object], one: Sequence[Object], other: Sequence[Object]
) -> Iterator[str]:
    """What of a trace, behind the lines that all share, is no matter of the rulings and yet otherwise."""
    if got[-1] != one[-1]:
        yield f"it ends otherwise: {got[-1].get('end')}"
    yield from debts(got, one, other, enters=shared - 1)
    yield from strays(got, one, other, shared=shared)
