"""What changed from one release, or composite profile, to another: the clauses that came, went, and took a place.

A clause that is one side of a field has its counterparts on the other side of the same field. Which stands for which
the clauses say themselves: those that see each other belong together. What no clause can say, that a hook or a command
exists at all, is read off what the runtime offers under each profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from pi_trio.profile import FIELDS, get_profile

from .clauses import Clause, Clauses, written
from .driver.serve import hello

_OFFERED: Final = (
    ("hooks", ("hooks",)),
    ("commands", ("commands",)),
    ("options", ("features", "options")),
    ("settable options", ("features", "settable")),
)
"""What a `hello` offers, and where it stands there."""


@attrs.frozen(kw_only=True)
class Replacement:
    """What stood here and what stands here now; only one side, if something came or went."""

    old: tuple[Clause, ...] = ()
    new: tuple[Clause, ...] = ()


@attrs.frozen(kw_only=True)
class FieldChange:
    """One field of the profile that has another value, and what that means.

    `field` is None for the clauses that no field decides; `old` and `new` are the values, as clauses write them.
    """

    field: str | None
    old: str
    new: str
    replacements: tuple[Replacement, ...]


@attrs.frozen(kw_only=True)
class Offer:
    """Names of one kind that are offered on one side only."""

    kind: str
    gone: tuple[str, ...]
    new: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Changes:
    """All that changed. `silent` are the fields that differ, and of which no clause tells."""

    old: str
    new: str
    fields: tuple[FieldChange, ...]
    offers: tuple[Offer, ...]
    silent: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.fields or self.offers or self.silent)


def changes(clauses: Clauses, old: str, new: str) -> Changes:
    """What changed from the profile `old` to the profile `new`.

    Raises:
        UnknownProfileError: there is no such profile.
    """
    before, after = clauses.in_force(old), clauses.in_force(new)
    gone = [clause for clause in before if clause not in after]
    came = [clause for clause in after if clause not in before]
    told: list[FieldChange] = []
    for field in (*FIELDS, None):
        here = [clause for clause in gone if clause.field == field]
        there = [clause for clause in came if clause.field == field]
        if here or there:
            values = (
                ("", "")
                if field is None
                else tuple(written(getattr(get_profile(name), field)) for name in (old, new))
            )
            told.append(
                FieldChange(field=field, old=values[0], new=values[1], replacements=_paired(here, there))
            )
    differ = [each for each in FIELDS if _value(old, each) != _value(new, each)]
    place = {clause: number for number, clause in enumerate(clauses.values())}
    return Changes(
        old=old,
        new=new,
        fields=tuple(sorted(told, key=lambda change: (change.field is None, _place(change, place)))),
        offers=_offers(old, new),
        silent=tuple(each for each in differ if all(change.field != each for change in told)),
    )


def _value(profile: str, field: str) -> Any:
    return getattr(get_profile(profile), field)


def _place(change: FieldChange, place: Mapping[Clause, int]) -> int:
    """Where a reader of the clauses would come upon it first."""
    return min(place[clause] for each in change.replacements for clause in (*each.old, *each.new))


def _paired(gone: Sequence[Clause], came: Sequence[Clause]) -> tuple[Replacement, ...]:
    """The clauses of one field, each with what stands for it on the other side.

    Clauses that see each other belong together, and those that are linked by that through others too. Of those that are
    left over, what is of one family does.
    """
    both = {clause.id: clause for clause in (*gone, *came)}
    groups = [{name} for name in both]
    for here in gone:
        for there in came:
            if here.id in there.see or there.id in here.see:
                groups = _linked(groups, {here.id, there.id})
    lone = {name for group in groups if len(group) == 1 for name in group}
    for here in gone:
        for there in came:
            if {here.id, there.id} <= lone and here.family == there.family:
                groups = _linked(groups, {here.id, there.id})
    pairs = [
        Replacement(
            old=tuple(clause for clause in gone if clause.id in group),
            new=tuple(clause for clause in came if clause.id in group),
        )
        for group in groups
    ]
    order = {name: number for number, name in enumerate(both)}
    return tuple(
        sorted(pairs, key=lambda pair: (not (pair.old and pair.new), order[(*pair.old, *pair.new)[0].id]))
    )


def _linked(groups: Sequence[set[str]], names: set[str]) -> list[set[str]]:
    """The groups, those that have one of the names made one."""
    together = [group for group in groups if group & names]
    return [group for group in groups if group not in together] + [set[str]().union(*together)]


def _offers(old: str, new: str) -> tuple[Offer, ...]:
    found: list[Offer] = []
    for kind, path in _OFFERED:
        before, after = _named(old, path), _named(new, path)
        gone = tuple(name for name in before if name not in after)
        came = tuple(name for name in after if name not in before)
        if gone or came:
            found.append(Offer(kind=kind, gone=gone, new=came))
    return tuple(found)


def _named(profile: str, path: tuple[str, ...]) -> list[str]:
    value: Any = hello(get_profile(profile))
    for key in path:
        value = value[key]
    return [str(name) for name in value]
