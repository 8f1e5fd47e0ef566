"""What a log is judged by: which clauses hold in which of the releases that it may come from."""

from __future__ import annotations

from typing import Self

import attrs

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors import Force, Releases
from pi_trio.profile import PROFILES, UnknownProfileError, get_profile


@attrs.frozen
class Basis:
    """Clauses with the profiles in which they hold, and the profiles that a log may follow.

    Attributes:
        given: it was said what the log follows, and nothing that the log says of itself changes that.
    """

    clauses: Clauses
    force: Force
    profiles: Releases
    given: bool = False

    @classmethod
    def of_releases(cls, clauses: Clauses) -> Self:
        """A log of any release."""
        by_release = {profile.release: name for name, profile in PROFILES.items()}
        force = {
            clause.id: frozenset(by_release[each] for each in clause.releases) for clause in clauses.values()
        }
        return cls(clauses, force, frozenset(PROFILES))

    @classmethod
    def of_profile(cls, clauses: Clauses, profile: str, *, given: bool = True) -> Self:
        """A log that follows a profile, which may be a composite.

        Raises:
            UnknownProfileError: there is no such profile.
        """
        name = frozenset({get_profile(profile).name})
        holding = {clause.id for clause in clauses.in_force(profile)}
        force = {each: name if each in holding else frozenset[str]() for each in clauses}
        return cls(clauses, force, name, given)

    @property
    def profile(self) -> str | None:
        """The profile that a log is judged as, if only one comes into question."""
        return next(iter(self.profiles)) if len(self.profiles) == 1 else None

    def without(self, clauses: frozenset[str]) -> Basis:
        """The same but for some clauses, by which nothing is judged."""
        return attrs.evolve(
            self, force={name: each for name, each in self.force.items() if name not in clauses}
        )

    def named(self, profile: str) -> Basis:
        """What a log is judged by that says itself which profile it follows, if there is such a one."""
        if self.given:
            return self
        try:
            return Basis.of_profile(self.clauses, profile, given=False)
        except UnknownProfileError:
            return self
