"""Makes a counterexample smaller: fewer moves, a plainer setting, plainer targets and ways, as long as the fault stays.

Hypothesis shrinks the numbers that were drawn, and what a number means hangs on what is possible at its place: take one
away, and all behind it mean something else. Moves keep their meaning; one that is not possible any more is left out. So
a conversation loses whole turns at a time, down to the few moves that it takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from .conversation import Conversation, House
from .judging import NOT_CLAUSES, Fault, FaultFound
from .setting import setting
from .stimuli import BY_NAME, Move

ATTEMPTS: Final = 1_500
"""How often a smaller one is tried, at most."""

SECONDS: Final = 30.0
"""How long smaller ones are tried, at most: a subject that hangs takes a whole patience for each."""


@attrs.frozen
class Made:
    """How a conversation was made: the numbers of its setting, and its moves."""

    numbers: tuple[int, ...]
    moves: tuple[Move, ...]


def perform(house: House, made: Made) -> tuple[Made, FaultFound | None]:
    """Hold that conversation: what of it was possible, and the fault that it shows."""
    done: list[Move] = []
    try:
        begun = setting(made.numbers, house.hello)
        conversation = Conversation(house, begun.create, begun.answers, again=begun.again)
        for move in made.moves:
            stimulus = BY_NAME[move.name]
            if stimulus.targets(conversation.scene):
                done.append(move)
                conversation.step(stimulus.command(conversation.scene, move))
        conversation.finish()
    except FaultFound as fault:
        return Made(made.numbers, tuple(done)), fault
    return Made(made.numbers, tuple(done)), None


def shrink(house: House, made: Made, fault: FaultFound) -> FaultFound:
    """The smallest conversation that is found to break the same clause; the same object, if it does not show again.

    Where in a run a clause is broken may change on the way. A fault that has no clause stays what it is.
    """
    best, shown, attempts, smaller = made, fault, 0, True
    until = time.monotonic() + SECONDS
    while smaller:
        smaller = False
        for candidate in _smaller(best):
            if attempts >= ATTEMPTS or time.monotonic() >= until:
                return shown
            attempts += 1
            tried, found = perform(house, candidate)
            if found is not None and _alike(found.fault, fault.fault):
                best, shown, smaller = tried, found, True
                break
    return shown


def _alike(one: Fault, other: Fault) -> bool:
    return one.name == other.name or (one.clause == other.clause and one.clause not in NOT_CLAUSES)


def _smaller(made: Made) -> Iterator[Made]:
    """Conversations that are smaller by one thing, the much smaller ones first."""
    size = len(made.moves)
    chunk = size
    while chunk:
        for start in range(size - chunk, -1, -1):
            yield Made(made.numbers, (*made.moves[:start], *made.moves[start + chunk :]))
        chunk //= 2
    for index, number in enumerate(made.numbers):
        for plainer in range(number):
            yield Made((*made.numbers[:index], plainer, *made.numbers[index + 1 :]), made.moves)
    for index, move in enumerate(made.moves):
        for simpler in _plainer(move):
            yield Made(made.numbers, _with(made.moves, index, simpler))


def _plainer(move: Move) -> Iterator[Move]:
    for target in range(move.target):
        yield attrs.evolve(move, target=target)
    for way in range(move.way):
        yield attrs.evolve(move, way=way)


def _with(moves: Sequence[Move], index: int, move: Move) -> tuple[Move, ...]:
    return (*moves[:index], move, *moves[index + 1 :])
