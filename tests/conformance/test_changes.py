"""What changed between two releases is told in full, and each thing once."""

from __future__ import annotations

from itertools import permutations

import pytest

from pi_trio.conformance.changes import Changes, changes
from pi_trio.conformance.clauses import Clauses
from pi_trio.profile import FIELDS, PROFILES, UnknownProfileError

CLAUSES = Clauses.shipped()
PAIRS = list(permutations(PROFILES, 2))


def told(changed: Changes, side: str) -> list[str]:
    return [
        clause.id
        for change in changed.fields
        for each in change.replacements
        for clause in getattr(each, side)
    ]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_each_difference_is_told_once(old: str, new: str) -> None:
    changed = changes(CLAUSES, old, new)
    before, after = ({clause.id for clause in CLAUSES.in_force(name)} for name in (old, new))
    assert sorted(told(changed, "old")) == sorted(before - after)
    assert sorted(told(changed, "new")) == sorted(after - before)
    fields = {field for field in FIELDS if getattr(PROFILES[old], field) != getattr(PROFILES[new], field)}
    assert {change.field for change in changed.fields} - {None} | set(changed.silent) == fields
    assert changed


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_way_back_is_the_same_way(old: str, new: str) -> None:
    there, back = changes(CLAUSES, old, new), changes(CLAUSES, new, old)
    assert {
        (
            change.field,
            change.old,
            change.new,
            frozenset((each.old, each.new) for each in change.replacements),
        )
        for change in there.fields
    } == {
        (
            change.field,
            change.new,
            change.old,
            frozenset((each.new, each.old) for each in change.replacements),
        )
        for change in back.fields
    }
    assert {(offer.kind, offer.gone, offer.new) for offer in there.offers} == {
        (offer.kind, offer.new, offer.gone) for offer in back.offers
    }


@pytest.mark.parametrize("name", [*PROFILES, "pi-0.85.0,identity=pi-1.6.0"])
def test_nothing_changes_to_itself(name: str) -> None:
    assert not changes(CLAUSES, name, name)


def test_clauses_that_see_each_other_take_the_place_of_each_other() -> None:
    changed = changes(CLAUSES, "pi-0.80.2", "pi-0.85.0")
    pairs = {
        (tuple(clause.id for clause in each.old), tuple(clause.id for clause in each.new))
        for change in changed.fields
        for each in change.replacements
    }
    assert {(("RUN-22",), ("RUN-21",)), (("TURN-15",), ("TURN-16",)), (("TOOL-15",), ("TOOL-16",))} <= pairs


def test_what_took_a_place_comes_before_what_is_new() -> None:
    for old, new in PAIRS:
        for change in changes(CLAUSES, old, new).fields:
            both = [bool(each.old and each.new) for each in change.replacements]
            assert both == sorted(both, reverse=True)


def test_a_composite_changes_only_its_field() -> None:
    changed = changes(CLAUSES, "pi-1.6.0", "pi-1.6.0,durations=pi-1.0.3")
    assert [(change.field, change.old, change.new) for change in changed.fields] == [
        ("durations", "yes", "no")
    ]
    assert not changed.offers
    assert not changed.silent


def test_what_is_offered() -> None:
    changed = changes(CLAUSES, "pi-0.85.0", "pi-1.0.3")
    assert {(offer.kind, offer.gone, offer.new) for offer in changed.offers} == {
        ("hooks", ("shouldStopAfterTurn",), ("prepareRequest", "finishTurn")),
        ("commands", (), ("peekQueued",)),
        ("settable options", ("systemPrompt",), ()),
    }


def test_a_field_without_clauses_is_named() -> None:
    without = Clauses({name: clause for name, clause in CLAUSES.items() if clause.field != "durations"})
    assert changes(without, "pi-1.0.3", "pi-1.6.0").silent == ("durations",)


def test_an_unknown_profile() -> None:
    with pytest.raises(UnknownProfileError):
        changes(CLAUSES, "pi-1.6.0", "pi-2")
