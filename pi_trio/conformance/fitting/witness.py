"""The subject that is asked how it behaves: each question once, in its own way, and none too many.

What it lacks is an answer too, and needs no driving. One that cannot be driven without a trace to follow (see
`lockstep.Guide`) is driven anew for each trace that it is compared with. One that breaks off again and again is not
asked any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from pi_trio.conformance.compare import bounded
from pi_trio.conformance.expected import lacking
from pi_trio.conformance.faults import (
    ProtocolFault,
    SubjectDied,
    SubjectEndless,
    SubjectFault,
    SubjectLate,
    SubjectMissed,
    SubjectMute,
    SubjectSilent,
    SubjectUnstartable,
)
from pi_trio.conformance.giving_up import MISSES, Losses
from pi_trio.conformance.keeper import Keeper
from pi_trio.conformance.lockstep import Guide
from pi_trio.conformance.mirror import mirrored
from pi_trio.conformance.needs import is_exact, missing, needs
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.profile import PROFILES

from .reference import declared
from .trace import Trace

BREAKS: Final = 3
"""Scenarios in a row that a subject breaks off, or does not start again for, before it is given up: each may cost the
whole patience.
"""

CRASHES: Final = 12
"""The same for a subject that dies each time, which costs little; or says nothing, which may be right, or as far as it
comes with the trace of a wrong value.
"""


class Witness:
    """A subject that runs, as the fitting asks it."""

    def __init__(
        self, keeper: Keeper, scenarios: Sequence[Scenario], *, told: Callable[[str], None] = lambda _: None
    ) -> None:
        self._keeper = keeper
        self._told = told
        self._hello = keeper.hello
        features = self._hello.get("features", {})
        self.scenarios = tuple(mirrored(scenario, features) for scenario in scenarios)
        """The scenarios as this subject plays them."""
        self._guided = not is_exact(self._hello)
        self._seen: dict[tuple[str, Hashable], Trace] = {}
        self._lacking: dict[str, tuple[str, ...]] = {}
        self._unable: dict[tuple[str, Hashable], tuple[str, ...]] = {}
        self._lost = Losses({
            SubjectDied: CRASHES, SubjectUnstartable: BREAKS, SubjectSilent: BREAKS, SubjectEndless: BREAKS,
            ProtocolFault: BREAKS, SubjectMute: CRASHES, SubjectMissed: MISSES,
        })  # fmt: skip
        self._last = ""
        """The scenario that it was driven through last."""
        self.broken: dict[str, SubjectFault] = {}
        """The scenarios that it broke off, and how."""
        self.declared = declared(self._hello)
        """The profile that it says it has, if there is one of that name."""
        self.driven = 0
        """How many scenarios it was driven through."""

    @property
    def release(self) -> str:
        """The release's profile that it says it has, or that its own begins with; empty if there is none."""
        base = "" if self.declared is None else self.declared.name.partition(",")[0]
        return base if base in PROFILES else ""

    @property
    def last_asked(self) -> str:
        """The scenario after which it was not asked any more; empty as long as it is."""
        return self._last if self._lost.over else ""

    def lacks(self, scenario: Scenario) -> tuple[str, ...]:
        """What one of its scenarios asks for that it does not offer."""
        if scenario.name not in self._lacking:
            self._lacking[scenario.name] = lacking(scenario, self._hello)
        return self._lacking[scenario.name]

    def _lacks_for(self, scenario: Scenario, compared: Trace) -> tuple[str, ...]:
        """What it does not offer of that without which it could not show a trace."""
        key = scenario.name, compared.key
        if key not in self._unable:
            needed = () if compared.missing else needs(scenario, compared.lines)
            self._unable[key] = missing(needed, self._hello)
        return self._unable[key]

    async def shows(self, scenario: Scenario, compared: Trace) -> Trace:
        """What it does in one of its scenarios, to be compared with a trace; nothing, once it was given up.

        A scenario for which it does not start again is broken off as well; the next one tries anew.
        """
        if lacks := self.lacks(scenario) or self._lacks_for(scenario, compared):
            return Trace(missing=lacks)
        guide = Guide(lines=compared.lines, order=compared.lines) if self._guided else None
        key = scenario.name, compared.key if guide else None
        if key not in self._seen:
            if self.last_asked:
                return Trace()
            lines, fault = await self._drive(scenario, guide)
            self._lost.note(fault)
            self._last = scenario.name
            # Driven by the wrong trace it comes too late, or is waited for in vain: that is an answer, and no break.
            broken = fault is not None and not isinstance(fault, SubjectLate)
            if fault is not None and (broken or self._lost.over):
                self.broken.pop(scenario.name, None)
                self.broken[scenario.name] = fault
            self._seen[key] = Trace(lines=bounded(lines), broken=broken)
        return self._seen[key]

    async def _drive(
        self, scenario: Scenario, guide: Guide | None
    ) -> tuple[tuple[Object, ...], SubjectFault | None]:
        try:
            run = await self._keeper.drive(scenario, guide)
        except SubjectUnstartable as caught:
            return (), SubjectUnstartable(f"it does not start again: {caught.message}", stderr=caught.stderr)
        self.driven += 1
        self._told(scenario.name)
        return run.lines, run.fault
