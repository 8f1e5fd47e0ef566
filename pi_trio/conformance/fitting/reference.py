"""What the runtime does under any profile, also one that no release has, without running it twice for the same.

The runtime reads each field of its profile where it decides by it, and is deterministic. So a run is the run of every
profile that agrees in the fields that were *read* in it, whatever else they say; and a field that is not read in a
scenario cannot show there. That makes it cheap to ask for every field and every scenario.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import attrs

from pi_trio.conformance.driver.serve import hello, open_driver
from pi_trio.conformance.expected import lacking
from pi_trio.conformance.lockstep import drive
from pi_trio.conformance.needs import offers
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.subjects.inside import open_inside
from pi_trio.conformance.subjects.remote import PATIENCE
from pi_trio.conformance.subjects.runtime import RuntimeSubject
from pi_trio.profile import FIELDS, PI_1_6_0, Profile, UnknownProfileError, get_profile

from .choices import choices, with_value
from .trace import Trace


class Reference:
    """The runtime under any profile; to be asked under `first_in_first_out()`.

    Scenarios are known by their names, so one reference serves one way of playing them (see `mirror`).
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._runs: defaultdict[str, list[tuple[dict[str, Any], Trace]]] = defaultdict(list)
        self._offers: dict[Profile, tuple[Object, frozenset[str]]] = {}
        self._lacking: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    async def trace(self, profile: Profile, scenario: Scenario) -> Trace:
        """What the runtime does in a scenario under a profile. Where it breaks off, the trace ends so."""
        if lacks := self.lacks(profile, scenario):
            return Trace(missing=lacks)
        for read, trace in self._runs[scenario.name]:
            if all(getattr(profile, field) == value for field, value in read.items()):
                return trace
        watched = _Watched(**attrs.asdict(profile, recurse=False))
        said, _ = self._offers[profile]
        async with open_inside(partial(_open, watched, said), self._patience) as subject:
            run = await drive(scenario, subject)
        trace = Trace(lines=run.lines)
        self._runs[scenario.name].append(({field: getattr(profile, field) for field in watched.read}, trace))
        return trace

    def reads(self, field: str) -> int:
        """In how many runs so far a field has been read."""
        return sum(field in read for runs in self._runs.values() for read, _ in runs)

    def lacks(self, profile: Profile, scenario: Scenario) -> tuple[str, ...]:
        """What a scenario asks for that a profile does not have."""
        if profile not in self._offers:
            said = hello(profile)
            self._offers[profile] = said, offers(said)
        said, offered = self._offers[profile]
        key = scenario.name, offered
        if key not in self._lacking:
            self._lacking[key] = lacking(scenario, said)
        return self._lacking[key]


class _Watched(Profile):
    """A profile that knows which of its fields were read."""

    read: set[str]

    def __getattribute__(self, name: str) -> Any:
        if name in _FIELDS:
            vars(self).setdefault("read", set()).add(name)
        return super().__getattribute__(name)


_FIELDS = frozenset(FIELDS)


def declared(introduction: Object) -> Profile | None:
    """The profile that somebody says to have, if there is one of that name."""
    try:
        return get_profile(str(introduction["profile"]))
    except UnknownProfileError:
        return None


def offering_alike(field: str, introduction: Object) -> tuple[str, ...]:
    """The profiles whose value for a field offers a tester what somebody offers; none if that leaves them all.

    What is offered speaks against a value that has no such thing. What is not offered may only be missing yet; it
    speaks against a value that has it only if the profile that somebody says to have does not have it either.
    """
    offering = {choice: offers(hello(with_value(PI_1_6_0, field, choice.value))) for choice in choices(field)}
    theirs = offers(introduction)
    own = declared(introduction)
    known = theirs if own is None else theirs | offers(hello(own))
    every = frozenset.union(*offering.values())
    left = [
        choice
        for choice, offered in offering.items()
        if theirs & every <= offered and (own is None or offered <= known)
    ]
    return tuple(name for choice in left for name in choice.releases) if len(left) < len(offering) else ()


@asynccontextmanager
async def _open(profile: Profile, introduction: Object) -> AsyncGenerator[RuntimeSubject]:
    """The runtime, as `open_runtime_subject` has it, but under a profile that needs no name."""
    async with open_driver(profile) as driver:
        yield RuntimeSubject(introduction, driver)
