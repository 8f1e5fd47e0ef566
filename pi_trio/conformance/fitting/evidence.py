"""What scenarios say of one field, one after the other, and what it comes to.

Who shows the trace of a value need not have it. If the trace differs from that of another value only in what is *not*
there (a request without identity, a hook that is not offered), then it is also that of somebody who is not complete
yet. So what is said is heard first; what is left out counts only where nothing else tells, and then it shows a value
only for a subject that says it is such a release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from pi_trio.profile import PROFILES, Profile

from .choices import Choice
from .finding import Certainty, Finding
from .siding import sides
from .trace import Agreement, Trace, agreement

_VOICES: Final = 2
"""Scenarios that must agree on the nearest value, unless there is only one."""

_SILENCES: Final = 8
"""Scenarios in which something is only left out, at most, as long as more than one value fits all of it."""

_MUTE: Final = frozenset({"send", "reply"})
"""What the tester does, and that it was done: lines that say little of a subject."""


@attrs.frozen
class Sight:
    """What the runtime does in a scenario under one value, and what the subject does there."""

    choice: Choice
    trace: Trace
    got: Trace
    claimed: frozenset[str] = frozenset()
    """What the profile lacks that the subject says it has."""
    given: frozenset[str] = frozenset()
    """The single values that the scenario gives to the subject."""

    def before(self, commands: int) -> Sight:
        """The same, but only what comes before so many commands were sent."""
        return attrs.evolve(self, trace=self.trace.before(commands), got=self.got.before(commands))

    def fits(self) -> bool:
        """Whether the subject does the same, or lacks the same.

        An implementation that is not complete yet lacks many things. That speaks for a release that lacks them only
        if the subject says it is such a one, and lacks no more than that.
        """
        if self.trace.missing:
            return {*self.trace.missing} <= {*self.got.missing} <= self.claimed
        return self.trace.key == self.got.key

    def says_otherwise_than(self, other: Sight, *, by_itself: bool = False) -> bool:
        """Whether the subject, which does the same, says something by it that is not said under another value.

        Args:
            by_itself: what it only hands on does not count, nor that it offers what others lack: that may be no more
                than the name of its release says.
        """
        if self.trace.missing or other.trace.missing:
            return not self.trace.missing and not by_itself
        return sides(self.trace, other.trace, self.got, self.given if by_itself else ()).first

    def would_say_by_itself(self, other: Sight) -> bool:
        """Whether one of that value would say something, without being given it, that is not said under another."""
        return sides(self.trace, other.trace, self.trace, self.given).first

    def is_left_for(self, other: Sight) -> bool:
        """Whether the subject leaves the trace where another value's does, and does there as under that one."""
        at = self.trace.parts_at(other.trace)
        return self.got.parts_at(self.trace) == at < self.got.parts_at(other.trace)

    def agreement(self) -> Agreement:
        """How near the subject comes."""
        return agreement(self.trace, self.got)

    def alike(self) -> bool:
        """Whether at least half of what either says the other says too."""
        said, got = (
            Counter(
                text for line, text in zip(each.lines, each.texts, strict=True) if not _MUTE & line.keys()
            )
            for each in (self.trace, self.got)
        )
        return 2 * (said & got).total() >= max(said.total(), got.total())


def each_says_something(traces: Sequence[Trace]) -> bool:
    """Whether of any two traces each says something, where they part, that the other does not."""
    pairs = [(one, other) for one in traces for other in traces if one.key != other.key]
    return bool(pairs) and all(sides(one, other, one).first for one, other in pairs)


@attrs.define
class Evidence:
    """What has come out about a field so far.

    Attributes:
        left: the values that it can have.
        scenarios: those that told.
        absent: scenarios in which the subject does as under some of the values left, by what it does not say.
        unoffered: those for which it lacks what under some of the values left is lacking too.
        lacks: what it lacks that is lacking under none of them.
        voices: scenarios in which it does as under no value, and the values that it is nearest to.
        contradictions: those of them in which it says what only another value says, and the values against which that
            speaks.
        handed_on: of `scenarios` those in which it said no more than it was given.
        broken: scenarios that it broke off, which say nothing: others may.
    """

    left: tuple[Choice, ...]
    scenarios: list[str] = attrs.field(factory=list[str])
    absent: dict[str, frozenset[Choice]] = attrs.field(factory=dict[str, frozenset[Choice]])
    unoffered: dict[str, frozenset[Choice]] = attrs.field(factory=dict[str, frozenset[Choice]])
    lacks: set[str] = attrs.field(factory=set[str])
    voices: dict[str, frozenset[Choice]] = attrs.field(factory=dict[str, frozenset[Choice]])
    contradictions: dict[str, frozenset[Choice]] = attrs.field(factory=dict[str, frozenset[Choice]])
    handed_on: set[str] = attrs.field(factory=set[str])
    broken: list[str] = attrs.field(factory=list[str])

    @property
    def told(self) -> bool:
        """Whether only one value is left."""
        return len(self.left) == 1

    @property
    def only_handed_on(self) -> bool:
        """Whether the value left is told by nothing but what the subject offers, or was given and hands on."""
        return self.told and bool(self.scenarios) and self.handed_on.issuperset(self.scenarios)

    @property
    def silent(self) -> bool:
        """Whether something was left out, which may be all that tells."""
        return not self.told and bool(self.absent or self.unoffered)

    def over(self, misfits: int) -> bool:
        """Whether no further scenario is to be asked."""
        silences = {**self.absent, **self.unoffered}
        enough = 1 if len(self._left_by(silences)) == 1 else _SILENCES
        return (
            self.told or len(self.voices) >= misfits or len(silences) >= enough or len(self.broken) > misfits
        )

    def _left_by(self, silences: Mapping[str, frozenset[Choice]]) -> tuple[Choice, ...]:
        """The values left that fit what was left out in all of some scenarios."""
        return tuple(choice for choice in self.left if all(choice in fits for fits in silences.values()))

    def shown(self, scenario: str, sights: Sequence[Sight]) -> bool:
        """Whether a scenario shows which values are right; those that what is said rules out are dropped then."""
        fits = [sight for sight in sights if sight.fits()]
        if not 0 < len(fits) < len(self.left):
            return False
        chosen = frozenset(sight.choice for sight in fits)
        left = tuple(
            sight.choice
            for sight in sights
            if sight.choice in chosen or not any(fit.says_otherwise_than(sight) for fit in fits)
        )
        if len(left) < len(self.left):
            dropped = [sight for sight in sights if sight.choice not in left]
            if not all(
                any(fit.says_otherwise_than(each, by_itself=True) for fit in fits) for each in dropped
            ):
                self.handed_on.add(scenario)
            self.left = left
            self.scenarios.append(scenario)
        if len(left) > len(chosen):
            (self.unoffered if fits[0].trace.missing else self.absent)[scenario] = chosen
        return True

    def hinted(self, scenario: str, sights: Sequence[Sight]) -> None:
        """Keep what a scenario says that shows no value."""
        if missing := {need for sight in sights for need in sight.got.missing}:
            if not any(sight.claimed for sight in sights):  # else its own release lacks something there too
                self.lacks = self.lacks or missing
            return
        if any(sight.got.broken for sight in sights):
            self.broken.append(scenario)
            return
        nearness = {sight.choice: sight.agreement() for sight in sights}
        nearest = max(nearness.values())
        chosen = [choice for choice, each in nearness.items() if each == nearest]
        parts_later = [each[0] for each in nearness.values()].count(nearest[0]) == 1
        if not parts_later and not any(sight.alike() for sight in sights):
            chosen = [*nearness]  # so different from all of them that being nearest means nothing
        self.voices[scenario] = frozenset(chosen)
        against = frozenset(
            one.choice
            for one in sights
            if any(sides(other.trace, one.trace, one.got) == (True, False) for other in sights)
        )
        if against:
            self.contradictions[scenario] = against

    def asked_unprompted(self, scenario: str, sights: Sequence[Sight]) -> bool:
        """Whether in a scenario whoever has the value left would say so by himself. If the subject does there as under
        another value, this speaks against the one left.

        Args:
            sights: of all values, those dropped too.
        """
        kept = [sight for sight in sights if sight.choice in self.left]
        others = [
            sight
            for sight in sights
            if sight.choice not in self.left and sight.trace.key != kept[0].trace.key
        ]
        if any(sight.trace.missing or sight.got.missing or sight.got.broken for sight in sights) or not (
            others and all(kept[0].would_say_by_itself(other) for other in others)
        ):
            return False
        if any(kept[0].is_left_for(other) for other in others):
            self.contradictions[scenario] = frozenset(self.left)
        return True

    def concluded(self, field: str, own: Profile | None, last_asked: str) -> Finding:
        """What it comes to.

        Args:
            own: the profile that the subject says it has, if there is one of that name.
            last_asked: the scenario that was the last of a subject that is not asked any more.
        """
        if not self.told:
            if (found := self._by_silence(field, own)) is not None:
                return found
            if self.voices or self.broken or last_asked:
                return self._by_nearness(field, last_asked)
        if self.scenarios:
            return self._unless_contradicted(field, Certainty.SHOWN, self.left, self.scenarios)
        if self.lacks:
            return _finding(field, Certainty.NOT_OFFERED, self.left, missing=sorted(self.lacks))
        return _finding(field, Certainty.UNSHOWN, self.left)

    def _by_silence(self, field: str, own: Profile | None) -> Finding | None:
        """What is left out tells a value, if all of it fits one. Who lacks what its own release does not is not
        complete, and that it lacks something else too tells nothing.
        """
        silences = {**self.absent, **({} if self.lacks else self.unoffered)}
        left = self._left_by(silences)
        if not 0 < len(left) < len(self.left):
            return None
        claimed = own is not None and getattr(own, field) in [choice.value for choice in left]
        told = Certainty.SHOWN if claimed else Certainty.LEFT_OUT
        return self._unless_contradicted(field, told, left, (*self.scenarios, *silences))

    def _unless_contradicted(
        self, field: str, told: Certainty, left: Sequence[Choice], scenarios: Sequence[str]
    ) -> Finding:
        """That these values are left, which is a guess if something is said elsewhere that speaks against them."""
        against = [name for name, values in self.contradictions.items() if values.issuperset(left)]
        return _finding(field, Certainty.NEAREST if against else told, left, (*scenarios, *against))

    def _by_nearness(self, field: str, last_asked: str) -> Finding:
        if near := self._nearest():
            scenarios = (*self.scenarios, *self.voices, *self.broken)
            return _finding(field, Certainty.NEAREST, near, scenarios)
        broken = self.broken or ([last_asked] if last_asked and not self.voices else [])
        scenarios = (*self.scenarios, *self.voices, *broken)
        return _finding(field, Certainty.UNCLEAR, self.left, scenarios, broken=broken)

    def _nearest(self) -> tuple[Choice, ...]:
        """The values that are the nearest in every scenario that hints at some; none if too few scenarios do."""
        telling = [chosen for chosen in self.voices.values() if not chosen.issuperset(self.left)]
        if not telling or len(telling) < min(_VOICES, len(self.voices)):
            return ()
        return tuple(choice for choice in self.left if all(choice in chosen for chosen in telling))


def _finding(
    field: str,
    told: Certainty,
    left: Sequence[Choice],
    scenarios: Sequence[str] = (),
    *,
    missing: Sequence[str] = (),
    broken: Sequence[str] = (),
) -> Finding:
    releases = tuple(name for name in PROFILES if any(name in choice.releases for choice in left))
    return Finding(
        field=field, told=told, releases=releases, scenarios=tuple(scenarios), missing=tuple(missing),
        broken=tuple(broken),
    )  # fmt: skip
