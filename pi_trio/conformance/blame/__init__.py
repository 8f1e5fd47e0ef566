"""Puts the first difference of two traces down to a clause of the spec: the table from its place to what it breaks.

The monitors judge a trace by the clauses, and see most of what can be wrong with it. What they cannot see is what only
the comparison with the expected trace shows: a result that is another than it should be, a hook that was not asked. For
that there is this table. It looks at the first difference alone, since what follows often follows from it, and at what
had happened before; and it always has an answer.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import attrs

from ..lines import event_of
from ..protocol import Object
from . import peculiar
from .changed import CHANGED
from .commands import COMMANDS
from .extra import EXTRA, OUT_OF_PLACE
from .missing import EARLY, MISSING
from .place import Place, parted
from .rule import Rule, rule
from .words import said, slip_in

__all__ = ["Blame", "blame"]

_ANYWHERE = (rule("RUN-17"),)
"""Of what has no kind: a run that does something else than to go on, or to settle."""


@attrs.frozen(kw_only=True)
class Blame:
    """What a difference was put down to.

    Attributes:
        clause: the id of a clause that is in force.
        cause: the same for differences that are alike: what is wrong with what, and no more.
        said: what happened, in one sentence.
    """

    clause: str
    cause: str
    said: str


def blame(
    expected: Sequence[Object], got: Sequence[Object], in_force: Container[str], *, cancelling: bool = False
) -> Blame | None:
    """The clause that the first difference of two traces breaks; None if they do not differ.

    Args:
        expected: the trace that was to come.
        got: the one that came.
        in_force: the ids of the clauses in force.
        cancelling: aborts are to end waits, though the trace's `create` does not say so.

    Raises:
        LookupError: none of the clauses that the difference could break is in force.
    """
    place = parted(expected, got, cancels=cancelling)
    if place is None:
        return None
    if place.kind == "command":
        place = _answered(place)
    for each in _rules(place):
        clause = next((clause for clause in each.clauses if clause in in_force), None)
        if clause is not None and each.when(place):
            return Blame(clause=clause, cause=_cause(place), said=said(place))
    raise LookupError(f"no clause in force speaks of this: {said(place)}")


def _rules(place: Place) -> Iterator[Rule]:
    """The rules to be asked, in order."""
    if slip_in(place):
        yield rule("STATE-13")
    if place.path[:1] != ("aborted",):
        yield from peculiar.of_a_kind(place)
    if place.way == "extra":
        if event_of(place.line) is not None:
            yield from OUT_OF_PLACE["event"]
        elif "ask" in place.line and "tell" not in place.line:
            yield from OUT_OF_PLACE["callback"]
        yield from EXTRA.get(place.kind, ())
    elif place.way == "changed":
        if place.path[:1] == ("aborted",):
            yield rule("ABORT-04")
        elif place.path[:1] not in (("ask",), ("key",)):
            yield from CHANGED.get(place.kind, ())
    else:
        yield from _of_delivery(place)
        yield from EARLY
    yield from MISSING.get(place.kind, ())
    if place.kind in ("reply", "refusal", "command"):
        yield from COMMANDS.get(str(place.scene.command.get("cmd")), ())
    yield from _ANYWHERE


def _of_delivery(place: Place) -> Iterator[Rule]:
    """An event that one listener has heard, and another one has not."""
    if event_of(place.line) is not None and place.scene.heard_already(place.key, place.kind):
        yield rule("FAIL-31", lambda p: p.scene.failed and p.scene.told)
        yield rule("FAIL-28", lambda p: p.scene.failed)
        yield rule("STATE-15", lambda p: p.kind in p.scene.beside.joined.get(p.key, ()))
        yield rule("STATE-19", lambda p: "subscribe" in p.scene.commands)
        yield rule("STATE-13")


def _answered(place: Place) -> Place:
    """A command that differs differs because of what it answers, or is about."""
    command = place.line.get("send", {})
    address = command.get("ask")
    scene = attrs.evolve(place.scene, command=command)
    kind = str(address.get("event", address["fn"])) if isinstance(address, dict) else "command"
    return attrs.evolve(place, kind=kind, scene=scene)


def _cause(place: Place) -> str:
    """What is wrong with what."""
    if slip := slip_in(place):
        return slip
    if place.way == "changed":
        return f"{place.kind}: {'.'.join(place.fields[:2]) or 'value'}"
    return f"{place.kind} too much" if place.way == "extra" else f"no {place.kind}"
