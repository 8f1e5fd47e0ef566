"""Mutants of a transport: one function of the adapters is replaced, or one thing in the events that they give.

They are judged as a transport is: every recorded case that is evidence of the clauses that they break is played to the
adapters, without network, and what comes is judged by its places and by the monitor of responses. Where only the events
are changed, the monitor is on its own, as it is with a log.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from copy import deepcopy
from functools import cache, partial
from typing import Any, Final, TypeAlias

import attrs

from ..clauses import Clauses
from ..keeper import Opener
from ..subject import Subject
from ..transport.judge import broken, force_of, in_events
from ..transport.vector import TransportVector, read_transport_vectors
from ..vectors import spec_folder
from .hosts import BEST, Host
from .mutant import Mutant, sentence, several, words
from .planting import Make, replaced
from .trial import Trial

#: Changes the events and the message of a response, and gives the events.
Retell: TypeAlias = Callable[[list[dict[str, Any]], dict[str, Any]], list[dict[str, Any]]]


def _no_agent(profile: str, patience: float) -> Opener:  # noqa: ARG001
    """What opens a transport as an agent: nothing does."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        raise TypeError("a transport is no agent")
        yield

    return opened


@attrs.frozen(kw_only=True, eq=False)
class TransportMutant(Mutant):
    """A mutant of a transport.

    Attributes:
        plant: inside it, the adapters have the fault.
        retell: changes what they say; None if that is left as it is.
    """

    open: Callable[[str, float], Opener] = _no_agent
    plant: Callable[[], AbstractContextManager[None]] = nullcontext
    retell: Retell | None = None


TRANSPORTED: Final[list[TransportMutant]] = []
"""All that were entered, in that order."""


def transported(
    clauses: str | tuple[str, ...], owner: Any, attribute: str, *, release: str | None = None
) -> Callable[[Make], Make]:
    """Enter what is decorated, which makes a faulty version of a function, as a mutant that breaks clauses."""

    def enter(make: Make) -> Make:
        _enter(clauses, make, release=release, plant=partial(replaced, owner, attribute, make))
        return make

    return enter


def retold(clauses: str | tuple[str, ...], *, release: str | None = None) -> Callable[[Retell], Retell]:
    """Enter what is decorated, which changes what a transport says, as a mutant that breaks clauses."""

    def enter(retell: Retell) -> Retell:
        _enter(clauses, retell, release=release, retell=retell)
        return retell

    return enter


def _enter(clauses: str | tuple[str, ...], what: Callable[..., Any], **details: Any) -> None:
    mutant = TransportMutant(
        name=words(what.__name__), clauses=several(clauses), title=sentence(what.__doc__), kind="transport", **details
    )  # fmt: skip
    TRANSPORTED.append(mutant)


@cache
def _vectors() -> Mapping[str, TransportVector]:
    return read_transport_vectors(spec_folder())


def try_transport(mutant: TransportMutant, host: Host, clauses: Clauses) -> Trial:
    """Judge a mutant of a transport, which has nothing of a host: it is tried once."""
    trial = Trial(mutant=mutant.name, host=host.name, clauses=mutant.clauses)
    if host is not BEST:
        return trial
    try:
        from ..transport.replay import replay
    except ImportError as error:  # the extra with which providers are asked
        return attrs.evolve(trial, trouble=f"{error}: pip install 'pi_trio[models]'")
    release = mutant.judged_as(clauses).removeprefix("pi-")
    names = dict.fromkeys(name for clause in mutant.clauses for name in clauses[clause].evidence)
    counted: dict[str, int] = {}
    failed = 0
    for name in names:
        vector = _vectors()[name]
        with mutant.plant(), _silence():
            result = replay(vector, release)
        if mutant.retell is None:
            found = broken(vector, release, result, clauses)
        else:
            _retell(result, mutant.retell)
            found = tuple(dict.fromkeys(in_events(result, release, force_of(clauses))))
        failed += bool(found)
        for clause in found:
            counted[clause] = counted.get(clause, 0) + 1
    named = tuple(sorted(counted, key=lambda clause: -counted[clause]))
    return attrs.evolve(trial, played=len(names), failed=failed, named=named)


@contextmanager
def _silence() -> Generator[None]:
    """Inside, nobody is told of faults: they are made on purpose."""
    logger = logging.getLogger("pi_trio")
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was


def _retell(result: dict[str, Any], retell: Retell) -> None:
    for call in result["calls"]:
        if "message" in call:
            told = [event for event in call["events"] if "hook" not in event]
            call["events"] = retell(deepcopy(told), call["message"])
