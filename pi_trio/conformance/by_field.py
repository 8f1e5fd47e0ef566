"""Puts failures that a field of the profile explains down to the clauses that the field decides.

A field may decide many clauses, and seldom do all of them show in a few scenarios. So a clause is named where its
evidence failed in the way of the other releases. Of the others of its field only those are named to which a difference
comes down that the field makes alone: between the runtime as the subject was judged, and the runtime with nothing but
that field changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from pi_trio.profile import get_profile

from .blame import blame
from .clauses import Clauses
from .compare import fingerprint
from .fitting import Explanation, Reference
from .fitting.choices import with_value
from .protocol import Object
from .scenario import Scenario
from .standing import Breach

_LOOKED_AT: Final = 12
"""In so many scenarios of a field it is looked at what the field makes alone."""


async def by_field(
    explanation: Explanation,
    clauses: Clauses,
    profile: str,
    failed: Mapping[str, Scenario],
    explained: Iterable[str],
    reference: Reference,
) -> list[Breach]:
    """At least one clause of each field that explains failures, if it decides any.

    Args:
        profile: what was judged as.
        failed: the scenarios that failed, by name, as they were played.
        explained: those of them that do not fail as the profile that explains them.
        reference: one that has been used in the same way of playing them, if it has been.

    To be called under `first_in_first_out()`.
    """
    in_force = clauses.in_force(profile)
    breaches: list[Breach] = []
    for concern in explanation.concerns:
        decided = [clause for clause in in_force if clause.field == concern.field]
        shown = failed.keys() & {*concern.scenarios, *explained}
        named = {
            clause.id: names
            for clause in decided
            if (names := [each for each in clause.evidence if each in shown])
        }
        if len(named) < len(decided):
            played = [failed[name] for name in concern.scenarios if name in failed][:_LOOKED_AT]
            alone = [
                (each.name, *await _alone(reference, profile, concern.field, concern.releases[0], each))
                for each in played
            ]
            others = {clause.id for clause in decided} - named.keys()
            found = _blamed(alone, {clause.id for clause in in_force}, others)
            named |= found or ({} if named else _blamed(alone, others, others))
            if decided and not named:
                named[decided[0].id] = []
        # Where it shows, and is no evidence of any of them, the cause is the same.
        if named:
            most = max(named, key=lambda each: len(named[each]))
            counted = {name for names in named.values() for name in names}
            named[most] += (name for name in concern.scenarios if name in failed and name not in counted)
        breaches += (
            Breach(
                clause=clause,
                scenario=name,
                cause=concern.field,
                said=f"{concern.field} as {' or '.join(concern.releases)} has it",
            )
            for clause, names in named.items()
            for name in names
        )
    return breaches


async def not_there(
    explanation: Explanation,
    clauses: Clauses,
    profile: str,
    failed: Mapping[str, Scenario],
    explained: Container[str],
    reference: Reference,
) -> list[Breach]:
    """What the profile that explains the failures lacks, whether or not a field that is concerned decides it: some
    clauses no field decides (TOOL-39), and some fields do not show as long as another one is otherwise (TURN-18 behind
    TURN-15). What a ruling asks for may be done all the same (TOOL-32), so none is put down to that.

    Takes the same as `by_field`, and is to be called likewise.
    """
    breaches: list[Breach] = []
    there = {clause.id for clause in clauses.in_force(explanation.profile)}
    for clause in clauses.in_force(profile):
        if clause.id in there or clause.ruling is not None:
            continue
        for name in clause.evidence:
            if name in explained and (
                clause.field is None
                or await _shows(reference, profile, clause.field, explanation.profile, failed[name])
            ):
                said = f"as under {explanation.profile}"
                breaches.append(Breach(clause=clause.id, scenario=name, cause=explanation.profile, said=said))
    return breaches


async def _shows(reference: Reference, profile: str, field: str, other: str, scenario: Scenario) -> bool:
    """Whether it makes a difference in a scenario to have a field as the other profile has it."""
    judged, alone = await _alone(reference, profile, field, other, scenario)
    return fingerprint(judged) != fingerprint(alone)


async def _alone(
    reference: Reference, profile: str, field: str, other: str, scenario: Scenario
) -> tuple[Sequence[Object], Sequence[Object]]:
    """What the runtime does under a profile, and what with nothing but one field as another profile has it."""
    judged = get_profile(profile)
    changed = with_value(judged, field, getattr(get_profile(other), field))
    return (await reference.trace(judged, scenario)).lines, (await reference.trace(changed, scenario)).lines


def _blamed(
    differing: Iterable[tuple[str, Sequence[Object], Sequence[Object]]],
    in_force: Container[str],
    wanted: Container[str],
) -> dict[str, list[str]]:
    """Those of the wanted clauses to which a difference comes down, with the scenarios."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, expected, got in differing:
        with suppress(LookupError):  # none of those speaks of it
            blamed = blame(expected, got, in_force)
            if blamed is not None and blamed.clause in wanted:
                found[blamed.clause].append(name)
    return dict(found)
