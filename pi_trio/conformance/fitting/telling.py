"""Tells which value of one field a subject behaves as, all other fields being known or assumed.

A scenario tells two values apart if the runtime's traces under them differ. The subject is driven through such
scenarios, the cheapest first, and each time only those values remain whose trace it shows. Where a ruling makes the
runtime differ from Pi, only what comes before counts.

A subject that deviates otherwise too shows the trace of no value. Then several scenarios are asked, and if they agree
on which value it is nearest to, that is an answer, though a weaker one; but first those are asked in which it has been
seen to do as the runtime, under whatever value. And where it only leaves something out, those are sought in which every
value has something to say. One that only hands on what a scenario gives it is asked once more, where nothing is given.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Final

import attrs

from pi_trio.conformance.scenario import Scenario
from pi_trio.profile import Profile

from .choices import Choice, choices, with_value
from .evidence import Evidence, Sight, each_says_something
from .finding import Finding
from .order import in_order
from .reference import Reference
from .rulings import Rulings
from .siding import given_in
from .trace import Trace
from .witness import Witness

MISFITS: Final = 5
"""Scenarios in which a subject shows the trace of no value before that is taken for its way."""

SOUGHT: Final = 24
"""Scenarios among which those are sought that would say more, at most."""


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
        question, evidence = _Question(field, profile), Evidence(choices(field))
        rest = [each for each in self._orders[field] if only is None or each.name in only]
        while rest and not (evidence.over(misfits) or self.over):
            await self._ask(question, evidence, rest.pop(0))
        if only is None and evidence.voices:
            for scenario in (each for each in self._orders[field] if each.name in self.faultless):
                if not (evidence.told or self.over):
                    await self._ask(question, evidence, scenario)
        if only is None and misfits == MISFITS:
            for scenario in (each for each in rest[:SOUGHT] if not self._witness.lacks(each)):
                if evidence.silent and not self.over:
                    traces = await self._traces(question.under(evidence.left), scenario)
                    if each_says_something([*traces.values()]):
                        await self._ask(question, evidence, scenario)
            if evidence.only_handed_on:
                await self._ask_unprompted(question, evidence, rest)
        return evidence.concluded(field, self._witness.declared, self._witness.last_asked)

    async def _traces(self, profiles: Mapping[Choice, Profile], scenario: Scenario) -> dict[Choice, Trace]:
        """What the runtime does in a scenario under each value."""
        return {
            choice: await self._reference.trace(profile, scenario) for choice, profile in profiles.items()
        }

    async def _ask_unprompted(
        self, question: _Question, evidence: Evidence, scenarios: Sequence[Scenario]
    ) -> None:
        """Ask the first scenario in which whoever has the value that is left says so by himself."""
        can = [each for each in scenarios if not (self._witness.lacks(each) or self._rulings.concern(each))]
        for scenario in can[:SOUGHT]:
            traces = await self._traces(question.under(choices(question.field)), scenario)
            if self.over or _alike(traces.values()):
                continue
            given = given_in(scenario)
            sights = [
                Sight(choice, trace, await self._witness.shows(scenario, trace), given=given)
                for choice, trace in traces.items()
            ]
            if evidence.asked_unprompted(scenario.name, sights):
                return

    async def _ask(self, question: _Question, evidence: Evidence, scenario: Scenario) -> None:
        """Ask one scenario, if it can tell values apart that are left."""
        profiles = question.under(evidence.left)
        # If it is known that something is lacking, more of that is of no interest, unless a release lacks it too.
        if evidence.lacks and self._witness.lacks(scenario):
            if not any(self._reference.lacks(each, scenario) for each in profiles.values()):
                return
        traces = await self._traces(profiles, scenario)
        if _alike(traces.values()):
            return
        own = self._witness.declared
        claimed = frozenset[str]() if own is None else frozenset(self._reference.lacks(own, scenario))
        sights = [
            Sight(choice, trace, await self._witness.shows(scenario, trace), claimed, given_in(scenario))
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


@attrs.frozen
class _Question:
    """What is asked: a field, all others being as a profile has them."""

    field: str
    profile: Profile

    def under(self, left: Iterable[Choice]) -> dict[Choice, Profile]:
        """The profile with each of these values."""
        return {choice: with_value(self.profile, self.field, choice.value) for choice in left}


def _alike(traces: Collection[Trace]) -> bool:
    return len({trace.key for trace in traces}) == 1
