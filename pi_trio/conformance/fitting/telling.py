"""Tells which value of one field a subject behaves as, all other fields being known or assumed.

A scenario tells two values apart if the runtime's traces under them differ. The subject is driven through such
scenarios, the cheapest first, and each time only those values remain whose trace it shows. Where a ruling makes the
runtime differ from Pi, only what comes before counts.

A subject that deviates otherwise too shows the trace of no value. Then several scenarios are asked, and if they agree
on which value it is nearest to, that is an answer, though a weaker one; but first those are asked in which it has been
seen to do as the runtime, under whatever value.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Collection, Container, Sequence
from typing import Final

import attrs

from pi_trio.conformance.scenario import Scenario
from pi_trio.profile import PROFILES, Profile

from .choices import Choice, choices, with_value
from .order import in_order
from .reference import Reference
from .rulings import Rulings
from .trace import Agreement, Trace, agreement
from .witness import Witness

MISFITS: Final = 5
"""Scenarios in which a subject shows the trace of no value before that is taken for its way."""

_VOICES: Final = 2
"""Scenarios that must agree on the nearest value, unless there is only one."""

_MUTE: Final = frozenset({"send", "reply"})
"""What the tester does, and that it was done: lines that say little of a subject."""


class Certainty(enum.StrEnum):
    """How well something is known of a field."""

    SHOWN = "shown"
    """The subject's trace is that of the value."""
    NEAREST = "nearest"
    """The subject deviates otherwise too; its traces are nearest to those of the value."""
    UNCLEAR = "unclear"
    """It could show, but the subject does as none of the releases."""
    NOT_OFFERED = "not offered"
    """The subject lacks what the field's scenarios need."""
    UNSHOWN = "no scenario shows it"
    """Whatever the field says, the traces are the same, as the other fields are."""


@attrs.frozen(kw_only=True)
class Finding:
    """What is known of one field.

    Attributes:
        releases: the profiles whose value the subject may have.
        scenarios: those that told, or, if nothing did, where to look.
        missing: what it would have to offer.
        broken: scenarios that the subject broke off, if that is why nothing is known.
    """

    field: str
    told: Certainty
    releases: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def matters(self) -> bool:
        """Whether a profile has to follow it."""
        return self.told in (Certainty.SHOWN, Certainty.NEAREST)


@attrs.frozen
class _Sight:
    """What the runtime does in a scenario under one value, and what the subject does there."""

    choice: Choice
    trace: Trace
    got: Trace
    claimed: frozenset[str] = frozenset()
    """What the profile lacks that the subject says it has."""

    def before(self, commands: int) -> _Sight:
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


@attrs.define
class _Evidence:
    """What has come out about a field so far.

    Attributes:
        left: the values that it can have.
        voices: scenarios in which the subject does as under no value, and the values that it is nearest to.
        broken: scenarios that it broke off, which say nothing: others may.
    """

    left: tuple[Choice, ...]
    scenarios: list[str] = attrs.field(factory=list[str])
    lacks: set[str] = attrs.field(factory=set[str])
    voices: dict[str, frozenset[Choice]] = attrs.field(factory=dict[str, frozenset[Choice]])
    broken: list[str] = attrs.field(factory=list[str])

    def over(self, misfits: int) -> bool:
        """Whether no further scenario is to be asked."""
        return len(self.left) == 1 or len(self.voices) >= misfits or len(self.broken) > misfits

    def shown(self, scenario: str, sights: Sequence[_Sight]) -> bool:
        """Whether a scenario shows which values are right; the others are dropped then."""
        fits = tuple(sight.choice for sight in sights if sight.fits())
        if not 0 < len(fits) < len(self.left):
            return False
        self.left = fits
        self.scenarios.append(scenario)
        return True

    def hinted(self, scenario: str, sights: Sequence[_Sight]) -> None:
        """Keep what a scenario says that shows no value."""
        if missing := {need for sight in sights for need in sight.got.missing}:
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

    def nearest(self) -> tuple[Choice, ...]:
        """The values that are the nearest in every scenario that hints at some; none if too few scenarios do."""
        telling = [chosen for chosen in self.voices.values() if not chosen.issuperset(self.left)]
        if not telling or len(telling) < min(_VOICES, len(self.voices)):
            return ()
        return tuple(choice for choice in self.left if all(choice in chosen for chosen in telling))


class Telling:
    """Asks one subject, and compares with the runtime.

    Args:
        rulings: where the runtime is no measure of real Pi.
    """

    def __init__(self, reference: Reference, witness: Witness, rulings: Rulings) -> None:
        self._reference = reference
        self._witness = witness
        self._rulings = rulings
        self._orders: dict[str, list[Scenario]] = {}
        self.faultless: set[str] = set()
        """The names of scenarios in which the subject has done all as the runtime does under some profile."""

    @property
    def over(self) -> bool:
        """Whether the subject is not asked any more."""
        return bool(self._witness.last_asked)

    async def tell(
        self, field: str, profile: Profile, *, misfits: int = MISFITS, only: Container[str] | None = None
    ) -> Finding:
        """What the subject shows of a field, if it behaves as `profile` in all others.

        Args:
            misfits: how many scenarios in which it does as under no value are enough.
            only: the names of the scenarios that may be asked; all, if none are given.
        """
        if field not in self._orders:
            self._orders[field] = in_order(self._witness.scenarios, self._rulings, field)
        evidence = _Evidence(choices(field))
        for scenario in self._orders[field]:
            if evidence.over(misfits) or self._witness.last_asked:
                break
            if only is None or scenario.name in only:
                await self._ask(evidence, field, profile, scenario)
        if only is None and evidence.voices:
            for scenario in (each for each in self._orders[field] if each.name in self.faultless):
                if len(evidence.left) > 1 and not self._witness.last_asked:
                    await self._ask(evidence, field, profile, scenario)
        return _finding(field, evidence, self._witness.last_asked)

    async def _ask(self, evidence: _Evidence, field: str, profile: Profile, scenario: Scenario) -> None:
        """Ask one scenario, if it can tell values apart that are left."""
        profiles = {choice: with_value(profile, field, choice.value) for choice in evidence.left}
        if evidence.lacks and self._witness.lacks(scenario):
            # It is known that something is lacking; more of that is of no interest, unless a release lacks it too.
            if not any(self._reference.lacks(each, scenario) for each in profiles.values()):
                return
        traces = {choice: await self._reference.trace(each, scenario) for choice, each in profiles.items()}
        if _alike(traces.values()):
            return
        own = self._witness.declared
        claimed = frozenset[str]() if own is None else frozenset(self._reference.lacks(own, scenario))
        sights = [
            _Sight(choice, trace, await self._witness.shows(scenario, trace), claimed)
            for choice, trace in traces.items()
        ]
        if any(sight.trace.key == sight.got.key for sight in sights):
            self.faultless.add(scenario.name)
        if evidence.shown(scenario.name, sights):
            return
        if (commands := self._rulings.commands_before(scenario.name)) is not None:
            sights = [sight.before(commands) for sight in sights]
            if _alike([sight.trace for sight in sights]) or evidence.shown(scenario.name, sights):
                return
        evidence.hinted(scenario.name, sights)


def _alike(traces: Collection[Trace]) -> bool:
    return len({trace.key for trace in traces}) == 1


def _finding(field: str, evidence: _Evidence, last_asked: str) -> Finding:
    """What it comes to; `last_asked` is the scenario that was the last of a subject that is not asked any more."""
    left, scenarios = evidence.left, tuple(evidence.scenarios)
    missing: tuple[str, ...] = ()
    broken = tuple(evidence.broken)
    if len(left) > 1 and (evidence.voices or broken or last_asked):
        told = Certainty.UNCLEAR
        if near := evidence.nearest():
            told, left = Certainty.NEAREST, near
        else:
            broken = broken or ((last_asked,) if last_asked and not evidence.voices else ())
        scenarios += (*evidence.voices, *broken)
    elif scenarios:
        told = Certainty.SHOWN
    elif evidence.lacks:
        told, missing = Certainty.NOT_OFFERED, tuple(sorted(evidence.lacks))
    else:
        told = Certainty.UNSHOWN
    releases = tuple(name for name in PROFILES if any(name in choice.releases for choice in left))
    return Finding(
        field=field, told=told, releases=releases, scenarios=scenarios, missing=missing,
        broken=broken if told is Certainty.UNCLEAR else (),
    )  # fmt: skip
