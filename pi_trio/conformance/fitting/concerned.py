"""Which fields of the profile would explain what failed.

Someone who is judged as one release, and behaves as another in some field, fails in many scenarios for one reason. So
after a judgement the failed scenarios are looked at again: is there a value of a field, or are there several fields,
under which the runtime does what the subject did? A fault that no release has is explained by none, and stays what it
is; and what would make none of the failures vanish is no explanation. Neither is a field that is contradicted: where
the subject says what only the value says that it was judged by, it does not have the other one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import cached_property
from typing import Any, Final

import attrs

from pi_trio.conformance.compare import canonical, parting
from pi_trio.conformance.kept import Failed
from pi_trio.conformance.lines import asks, event_of
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.profile import FIELDS, PROFILES, Profile, get_profile

from .choices import by_likeness, choices, composed, with_value
from .order import in_order
from .reference import Reference, declared, offering_alike
from .rulings import Rulings
from .siding import Sides, sides
from .trace import Trace, progress

SEARCHES: Final = 30
"""Failures for which an explanation is sought, at most. What explains one often explains others."""

RUNS: Final = 300
"""About how many runs of the runtime it may cost to count what each field explains."""


@attrs.frozen(kw_only=True)
class _Failure:
    """A scenario as it was played, and what the subject did."""

    scenario: Scenario
    lines: tuple[Object, ...]

    @cached_property
    def got(self) -> Trace:
        return Trace(lines=self.lines)


@attrs.frozen(kw_only=True)
class Concern:
    """A field in which the subject is otherwise than it was judged as.

    Attributes:
        releases: the profiles whose value explains as much.
        scenarios: failed scenarios in which it shows; of very many failures only some are counted.
    """

    field: str
    releases: tuple[str, ...]
    scenarios: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Explanation:
    """What would explain the failures.

    Attributes:
        profile: the shortest name of a profile with all these fields as the subject has them.
        concerns: the fields, those first that show in most scenarios.
        vanished: the scenarios that would not fail under that profile.
    """

    profile: str
    concerns: tuple[Concern, ...]
    vanished: tuple[str, ...]


async def fields_concerned(
    judged_as: str,
    failed: Sequence[Failed],
    rulings: Rulings,
    *,
    hello: Object | None = None,
    passed: Sequence[Scenario] = (),
    reference: Reference | None = None,
    searches: int = SEARCHES,
) -> Explanation:
    """Which fields, had they the value of another release, would make failed scenarios come out right, or more so.

    Args:
        judged_as: the name of the profile.
        failed: what failed under it.
        rulings: where the runtime is no measure of real Pi; such failures are looked at only if there are no others.
        passed: scenarios as they were played, in which the subject did as it was judged, and which so may contradict.
        hello: how the subject introduced itself. What it offers cannot fail, but helps to name the profile.
        reference: one that has been used with the same features already.
        searches: for how many failures an explanation is sought.

    To be run under `first_in_first_out()`. If no field explains anything there are no concerns, and the profile is the
    one that was judged as.
    """
    reference, start = reference or Reference(), get_profile(judged_as)
    failures = [_Failure(scenario=each.run.scenario, lines=each.run.lines) for each in failed]
    search = await _searched(reference, start, failures, passed, rulings, searches)
    concerns = await search.concerns(failures)
    named = {concern.field: concern.releases for concern in concerns}
    fitting = {field: search.as_judged(field) for field in FIELDS}
    first, own = judged_as.partition(",")[0], None
    if hello is not None:
        fitting |= {field: alike for field in FIELDS if (alike := offering_alike(field, hello))}
        if (own := declared(hello)) is not None:
            first = own.name.partition(",")[0]
            for field in (each for each in FIELDS if each not in named):
                fitting[field] += await search.as_good(field, own, failures)
    fitting |= named
    # As another release it might do something else, so its profile starts from the one that it says it has.
    base = first if own is not None else by_likeness(fitting, first)[0]
    profile = composed(base, fitting) if concerns else judged_as
    vanished = await search.vanished(failures, get_profile(profile)) if concerns else ()
    if not vanished:
        return Explanation(profile=judged_as, concerns=(), vanished=())
    return Explanation(profile=profile, concerns=concerns, vanished=vanished)


async def explaining(
    reference: Reference, start: Profile, seen: Sequence[tuple[Scenario, Trace]], rulings: Rulings
) -> Profile:
    """The profile under which most is as it was seen, from `start` on: several fields at once may keep a subject from
    doing as any release, so that none of them can be told as long as the others are wrong.
    """
    known = [_Failure(scenario=scenario, lines=got.lines) for scenario, got in seen]
    different = [each for each in known if (await reference.trace(start, each.scenario)).key != each.got.key]
    passed = [each.scenario for each in known if each not in different]
    return (await _searched(reference, start, different, passed, rulings, SEARCHES)).profile


async def _searched(
    reference: Reference,
    start: Profile,
    failures: Sequence[_Failure],
    passed: Sequence[Scenario],
    rulings: Rulings,
    searches: int,
) -> _Search:
    """The search, as soon as nothing contradicts what it has found."""
    sound = [failure for failure in failures if not rulings.concern(failure.scenario)]
    refuted: frozenset[str] = frozenset()
    while True:
        search = _Search(reference, start, refuted)
        for failure in sorted(sound or failures, key=lambda each: len(each.lines)):
            if search.tried < searches:
                await search.look_into(failure)
        await search.drop_idle(failures)
        if (field := await search.contradicted(sound, passed, rulings)) is None:
            return search
        refuted |= {field}


class _Search:
    """The search for a profile under which the failures are as they were seen."""

    def __init__(self, reference: Reference, start: Profile, refuted: Container[str]) -> None:
        self._reference = reference
        self._start = start
        self._fields = [field for field in FIELDS if field not in refuted]
        self._profile = start
        self._explained: list[_Failure] = []
        """Those that made the profile what it is."""
        self._kinds: set[str] = set()
        """The kinds of failure that nothing explains."""
        self.tried = 0

    @property
    def profile(self) -> Profile:
        """The best one so far."""
        return self._profile

    async def look_into(self, failure: _Failure) -> None:
        """Change the profile as long as that explains more of this failure, and nothing less of those before."""
        if await self._vanishes(failure) or await self._kind(failure) in self._kinds:
            return
        self.tried += 1
        before = self._profile
        while (better := await self._better(failure)) is not None:
            self._profile = better
        # What made a line only more alike, and no line equal, was no explanation.
        for field in self._changed():
            if not await self._shows_in(field, [*self._explained, failure]):
                self._profile = self._reverted(field)
        if self._profile != before:
            self._explained.append(failure)
        if not await self._vanishes(failure):
            self._kinds.add(await self._kind(failure))

    async def _better(self, failure: _Failure) -> Profile | None:
        """The profile with one field changed that explains most of a failure; None if none explains more."""
        best, found = await self._progress(failure, self._profile), None
        if await self._vanishes(failure):
            return None
        for field in self._fields:
            for choice in choices(field):
                other = with_value(self._profile, field, choice.value)
                reached = await self._progress(failure, other)
                if reached > best and await self._keeps(other, self._explained):
                    best, found = reached, other
        return found

    async def _keeps(self, other: Profile, failures: Sequence[_Failure]) -> bool:
        """Whether a profile explains of some failures as much as the present one."""
        for failure in failures:
            if await self._progress(failure, other) < await self._progress(failure, self._profile):
                return False
        return True

    async def _progress(self, failure: _Failure, profile: Profile) -> tuple[int, int]:
        return progress(await self._reference.trace(profile, failure.scenario), failure.got)

    async def _vanishes(self, failure: _Failure, profile: Profile | None = None) -> bool:
        trace = await self._reference.trace(profile or self._profile, failure.scenario)
        return trace.key == failure.got.key

    def _changed(self) -> list[str]:
        return [field for field in FIELDS if getattr(self._profile, field) != getattr(self._start, field)]

    def _reverted(self, field: str) -> Profile:
        return with_value(self._profile, field, getattr(self._start, field))

    async def _shows_in(self, field: str, failures: Sequence[_Failure]) -> tuple[_Failure, ...]:
        """The failures in which a line differs that would not differ if it were not for this field."""
        reverted = self._reverted(field)
        found: list[_Failure] = []
        for failure in failures:
            lines, _ = await self._progress(failure, self._profile)
            if lines > (await self._progress(failure, reverted))[0]:
                found.append(failure)
        return tuple(found)

    async def concerns(self, failures: Sequence[_Failure]) -> tuple[Concern, ...]:
        """The fields that were changed, each with the failures that it helps to explain."""
        changed = self._changed()
        known = {failure.scenario.name for failure in self._explained}
        others = [failure for failure in failures if failure.scenario.name not in known]
        counted = [*self._explained, *others[: RUNS // max(1, len(changed))]]
        found: list[Concern] = []
        for field in changed:
            shown = await self._shows_in(field, counted)
            alike: list[str] = []
            for name, profile in PROFILES.items():
                if await self._keeps(with_value(self._profile, field, getattr(profile, field)), shown):
                    alike.append(name)
            names = tuple(failure.scenario.name for failure in shown)
            found.append(Concern(field=field, releases=tuple(alike), scenarios=names))
        return tuple(sorted(found, key=lambda concern: -len(concern.scenarios)))

    async def contradicted(
        self, failures: Sequence[_Failure], passed: Sequence[Scenario], rulings: Rulings
    ) -> str | None:
        """The field that most speaks against, of those against which as much is said as for them."""
        worst, least = None, 1
        most = RUNS // max(1, len(self._changed()))
        for field in self._changed():
            reverted = self._reverted(field)
            found = [await self._sides(reverted, each.scenario, each.got) for each in failures[:most]]
            for scenario in in_order(passed, rulings, field)[:most]:
                got = await self._reference.trace(self._start, scenario)
                found.append(await self._sides(reverted, scenario, got))
            said_for, against = sum(each.first for each in found), sum(each.second for each in found)
            if against >= least and against >= said_for:
                worst, least = field, against + 1
        return worst

    async def _sides(self, reverted: Profile, scenario: Scenario, got: Trace) -> Sides:
        """Whether the subject sides with the profile, or with the same but for one field."""
        trace = self._reference.trace
        return sides(await trace(self._profile, scenario), await trace(reverted, scenario), got)

    def as_judged(self, field: str) -> tuple[str, ...]:
        """The profiles whose value for a field is the one that was judged by."""
        value = getattr(self._start, field)
        return next(choice.releases for choice in choices(field) if choice.value == value)

    async def as_good(self, field: str, own: Profile, failures: Sequence[_Failure]) -> tuple[str, ...]:
        """The profiles whose value for a field is that of `own`, if it would explain the failures as well."""
        value = getattr(own, field)
        if not await self._keeps(with_value(self._profile, field, value), failures[:SEARCHES]):
            return ()
        return next((choice.releases for choice in choices(field) if choice.value == value), ())

    async def drop_idle(self, failures: Sequence[_Failure]) -> None:
        """Leave as they were judged the fields without which as many failures vanish."""
        for field in self._changed():
            vanishing = [failure for failure in failures if await self._vanishes(failure)]
            reverted = self._reverted(field)
            if all([await self._vanishes(failure, reverted) for failure in vanishing]):
                self._profile = reverted

    async def vanished(self, failures: Sequence[_Failure], profile: Profile) -> tuple[str, ...]:
        """The scenarios in which the subject does exactly as the runtime under a profile, and not as under the one
        that it was judged as.
        """
        return tuple(
            [
                failure.scenario.name
                for failure in failures
                if await self._vanishes(failure, profile) and not await self._vanishes(failure, self._start)
            ]
        )

    async def _kind(self, failure: _Failure) -> str:
        """The place at which a failure differs first, by which those of one cause are mostly known."""
        expected = await self._reference.trace(self._profile, failure.scenario)
        at = expected.parts_at(failure.got)
        pair = expected.line(at) or None, failure.got.line(at) or None
        path = (parting(*pair) or ("", None, None))[0]
        return canonical([*map(_about, pair), re.sub(r"\d+", "", path)])


def _about(line: Object | None) -> list[Any]:
    """What a line is about, in a few words."""
    said: Object = line or {}
    return [sorted(said), asks(said), (event_of(said) or {}).get("type")]
