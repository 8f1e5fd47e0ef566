"""The values that a field of `Profile` can have, and profiles that mix them.

A mixture is named as `get_profile` reads it: a release, and the fields that are as another release has them. Of the
many names of one mixture the shortest is wanted, which starts from the release that it resembles most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from pi_trio.profile import FIELDS, PROFILES, Profile


@attrs.frozen
class Choice:
    """One value of a field, and the profiles of the releases that have it, oldest first."""

    value: Any
    releases: tuple[str, ...]


def choices(field: str) -> tuple[Choice, ...]:
    """The values that the releases have for a field, oldest first."""
    found: list[Choice] = []
    for name, profile in PROFILES.items():
        value = getattr(profile, field)
        known = next((index for index, choice in enumerate(found) if choice.value == value), None)
        if known is None:
            found.append(Choice(value, (name,)))
        else:
            found[known] = Choice(value, (*found[known].releases, name))
    return tuple(found)


def with_value(profile: Profile, field: str, value: Any) -> Profile:
    """The profile with another value for one field; the same one if it has that value."""
    if getattr(profile, field) == value:
        return profile
    return attrs.evolve(profile, name=f"{profile.name},{field}", **{field: value})


def composed(base: str, fitting: Mapping[str, tuple[str, ...]]) -> str:
    """The name of the profile that is as `base`, except where a field has to be as one of certain others; then it is as
    the one of them that is closest in age.

    Args:
        fitting: for fields that matter, the profiles that will do.
    """
    age = list(PROFILES).index

    def donor(releases: tuple[str, ...]) -> str:
        return min(releases, key=lambda name: abs(age(name) - age(base)))

    changed = [field for field in FIELDS if base not in fitting.get(field, (base,))]
    return ",".join([base, *(f"{field}={donor(fitting[field])}" for field in changed)])


def by_likeness(fitting: Mapping[str, tuple[str, ...]], first: str) -> list[str]:
    """The releases' profiles, those first that need the fewest changes; among equals `first`, then the newest."""
    age = list(PROFILES).index
    return sorted(PROFILES, key=lambda base: (composed(base, fitting).count(","), base != first, -age(base)))
