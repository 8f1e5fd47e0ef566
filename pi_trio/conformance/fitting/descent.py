"""Finds the profile that a subject behaves as: from the release that it resembles most, field by field.

Fields interact: the same scenario may show several, and what one field changes can hide what another does. So the
search starts near (from the release under which most of a few scenarios are as they should be), and whenever a field
is found to be otherwise the profile is changed and what depends on it is told anew, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from pi_trio.conformance.faults import SubjectFault
from pi_trio.conformance.keeper import Keeper
from pi_trio.conformance.scenario import Scenario
from pi_trio.profile import FIELDS, PROFILES, Profile, get_profile

from .choices import by_likeness, choices, composed, with_value
from .concerned import explaining
from .finding import Certainty, Finding
from .order import in_order
from .reference import Reference
from .rulings import Rulings
from .telling import MISFITS, Telling
from .trace import Trace
from .witness import Witness

HASTY: Final = 2
"""Passes over all fields in haste."""

ROUNDS: Final = 4
"""Thorough passes over all fields, at most. Two are enough unless fields hide each other."""

PROBES: Final = 12
"""Scenarios that choose the release to start from."""


@attrs.frozen(kw_only=True)
class Fitted:
    """What came out.

    Attributes:
        nearest: the release's profile that the subject resembles most.
        base: the release's profile that it says it has: what it is started as may decide what it does.
        profile: the name of the profile to judge it by: the base, and the fields in which it is otherwise.
        findings: one for each field, in the order of `FIELDS`.
        driven: how many scenarios the subject was driven through.
        broken: those of them that it broke off, and how.
    """

    nearest: str
    base: str
    profile: str
    findings: tuple[Finding, ...]
    driven: int
    broken: Mapping[str, SubjectFault]

    def unclear(self) -> tuple[Finding, ...]:
        """The fields that could show, and did not."""
        return tuple(finding for finding in self.findings if finding.told is Certainty.UNCLEAR)

    def guesses(self) -> tuple[Finding, ...]:
        """The fields of which a value is named that the subject need not have."""
        return tuple(finding for finding in self.findings if finding.told.is_guess)

    @property
    def tells(self) -> bool:
        """Whether anything was seen that tells of a field. (That something is not offered can be read in the hello.)"""
        return self.driven > 0 and any(finding.matters for finding in self.findings)


async def fit(
    keeper: Keeper,
    scenarios: Sequence[Scenario],
    rulings: Rulings,
    *,
    reference: Reference | None = None,
    progress: Callable[[str], None] = lambda _: None,
    driven: Callable[[str], None] = lambda _: None,
) -> Fitted:
    """Tell for each field which releases a subject behaves as.

    Args:
        keeper: keeps the subject, which has been started.
        rulings: where the runtime is no measure of real Pi.
        reference: one that has been used with the same features already.
        progress: told the name of each field when it has been looked at thoroughly for the first time.
        driven: told the name of each scenario that the subject has been driven through.

    A scenario that the subject breaks off, or does not start again for, tells nothing. To be run under
    `first_in_first_out()`. When cancelled, the subject is left in the middle of a step.
    """
    reference = reference or Reference()
    witness = Witness(keeper, scenarios, told=driven)
    telling = Telling(reference, witness, rulings)
    probes = _probes(witness, in_order(witness.scenarios, rulings))
    start = await _start(reference, witness, probes)
    likely = await _likely(reference, witness, probes, start, rulings)
    for scenario in probes:
        trace = await reference.trace(likely, scenario)
        if trace.key == (await witness.shows(scenario, trace)).key:
            telling.faultless.add(scenario.name)
    # What is read everywhere shows everywhere: as long as that is wrong, hardly anything else can be seen.
    fields = sorted(FIELDS, key=reference.reads, reverse=True)
    search = _Search(telling, likely, fields)
    await search.run(progress)
    nearest, name = await search.name(witness.release or start, own=witness.release)
    findings = tuple(search.findings[field] for field in FIELDS)
    return Fitted(
        nearest=nearest, base=name.partition(",")[0], profile=name, findings=findings,
        driven=witness.driven, broken=witness.broken,
    )  # fmt: skip


def _probes(witness: Witness, order: Sequence[Scenario]) -> list[Scenario]:
    """The first of each topic that the subject can play."""
    probes: dict[str, Scenario] = {}
    for scenario in (each for each in order if not witness.lacks(each)):
        probes.setdefault(scenario.topic, scenario)
    return [*probes.values()][:PROBES]


async def _likely(
    reference: Reference, witness: Witness, probes: Sequence[Scenario], start: str, rulings: Rulings
) -> Profile:
    """Where the descent begins: at the release to start from, or that which the subject claims to be, with those fields
    changed that explain what the probes show otherwise. As long as two fields are wrong, it does as under no value of
    either.
    """
    scores: dict[Profile, int] = {}
    for release in [PROFILES[name] for name in dict.fromkeys((start, witness.release or start))]:
        seen: list[tuple[Scenario, Trace]] = []
        for scenario in probes:
            trace = await reference.trace(release, scenario)
            got = await witness.shows(scenario, trace)
            if not (trace.missing or got.missing or got.broken):
                seen.append((scenario, got))
        profile = await explaining(reference, release, seen, rulings)
        traces = [(await reference.trace(profile, scenario), got) for scenario, got in seen]
        scores[profile] = sum(trace.key == got.key for trace, got in traces)
    return max(scores, key=lambda profile: scores[profile])


async def _start(reference: Reference, witness: Witness, probes: Sequence[Scenario]) -> str:
    """The release to start from: the subject does the same in most probes, or nearly so; if in doubt, the one it
    claims to be, or else the newest.
    """
    scores: dict[str, tuple[int, int]] = {}
    for name, profile in PROFILES.items():
        equal = lines = 0
        for scenario in probes:
            trace = await reference.trace(profile, scenario)
            got = await witness.shows(scenario, trace)
            equal += trace.key == got.key
            lines += trace.parts_at(got)
        scores[name] = equal, lines
    return max(reversed([*PROFILES]), key=lambda name: (scores[name], name == witness.release))


class _Search:
    """The descent from one profile."""

    def __init__(self, telling: Telling, profile: Profile, fields: Sequence[str]) -> None:
        self._telling = telling
        self._profile = profile
        self._fields = fields
        self._under: dict[str, tuple[Profile, int]] = {}
        """The profile under which each finding was made, and with which patience."""
        self.findings: dict[str, Finding] = {}

    async def run(self, progress: Callable[[str], None]) -> None:
        """Look at all fields until nothing changes.

        First in haste: as long as other fields are wrong, a subject does as under no value of this one, and more of the
        same would tell no more.
        """
        for turn, misfits in enumerate((*[1] * HASTY, *[MISFITS] * ROUNDS)):
            before = self._profile
            for field in self._fields:
                await self._look(field, misfits)
                if turn == HASTY:
                    progress(field)
            if self._profile is before and misfits == MISFITS:
                return

    async def _look(self, field: str, misfits: int) -> None:
        """Tell a field, unless that was done under this very profile, and adopt what was found."""
        known = self.findings.get(field)
        if self._under.get(field) == (self._profile, misfits):
            return
        _, before = self._under.get(field, (None, 0))
        if known is None or before < misfits or not await self._holds(known):
            found = await self._telling.tell(field, self._profile, misfits=misfits)
            # Unclear because nobody can be asked any more is no answer: then the one before stands.
            if known is None or found.told is not Certainty.UNCLEAR or not self._telling.over:
                self.findings[field] = known = found
        fitting = [choice for choice in choices(field) if {*choice.releases} & {*known.releases}]
        if known.matters and getattr(self._profile, field) not in [choice.value for choice in fitting]:
            self._profile = with_value(self._profile, field, fitting[0].value)
        self._under[field] = self._profile, misfits

    async def _holds(self, finding: Finding) -> bool:
        """Whether what was found under another profile is found under this one too."""
        if finding.told is not Certainty.SHOWN:
            return False
        return finding == await self._telling.tell(finding.field, self._profile, only=finding.scenarios)

    async def name(self, first: str, *, own: str) -> tuple[str, str]:
        """The release that is nearest (among equals `first`), and the name of a profile under which all that was shown
        holds: it starts from `own`, if the subject has a release of its own, or else from the nearest.

        A subject that is started as another release may do other things than those that were shown.
        """
        fitting = {field: found.releases for field, found in self.findings.items() if found.matters}
        sure = {
            field: releases
            for field, releases in fitting.items()
            if self.findings[field].told is Certainty.SHOWN
        }
        # Guesses count only where what is sure leaves the choice.
        nearest = sorted(by_likeness(fitting, first), key=lambda base: composed(base, sure).count(","))
        bases = sorted(nearest, key=lambda base: base != own)
        for base in bases:
            name = composed(base, fitting)
            self._profile = get_profile(name)
            shown = [found for found in self.findings.values() if found.told is Certainty.SHOWN]
            if all([await self._holds(found) for found in shown]):
                return nearest[0], name
        return nearest[0], composed(bases[0], fitting)
