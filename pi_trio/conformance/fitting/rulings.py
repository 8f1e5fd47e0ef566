"""Where a ruling makes the runtime differ from Pi, so that the runtime is no measure of real Pi.

What comes before the command that enters the ruling is still the same on both sides, and may be compared. Rulings are
written down for each release; what a scenario enters does not depend on the profile much, so one release's golden
trace is a warning for all.
"""

from __future__ import annotations

from functools import cached_property

import attrs

from pi_trio.conformance.ruled import golden_names, read_golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.twins import Twin
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES


@attrs.frozen
class Rulings:
    """The golden traces of all releases."""

    vectors: Vectors
    _known: dict[str, int] = attrs.field(init=False, factory=dict[str, int], eq=False)

    @cached_property
    def names(self) -> frozenset[str]:
        """The scenarios in which some ruling applies."""
        return frozenset(
            name for profile in PROFILES.values() for name in golden_names(self.vectors, profile.release)
        )

    def concern(self, scenario: Scenario) -> bool:
        """Whether the runtime is no measure of real Pi in a scenario. In a twin it never is: no release cancels."""
        return isinstance(scenario, Twin) or scenario.name in self.names

    def commands_before(self, scenario: str) -> int | None:
        """How many commands are sent before one enters a ruling; None if none does.

        Raises:
            VectorError: a golden trace is damaged.
        """
        if scenario not in self.names:
            return None
        if scenario not in self._known:
            goldens = (read_golden(self.vectors, profile.release, scenario) for profile in PROFILES.values())
            self._known[scenario] = min(
                sum("send" in entry.line for entry in golden.entries[: golden.enters])
                for golden in goldens
                if golden is not None
            )
        return self._known[scenario]
