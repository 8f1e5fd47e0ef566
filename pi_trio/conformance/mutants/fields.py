"""Mutants of a profile: the runtime with nothing but one field as another release has it.

Everything else, also what is said at the beginning, is as it should be. Such a mutant breaks all clauses that the
field decides, and seldom does each of them show. There is one for each value of a field, judged as the newest release
that has it, and each other value.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

from pi_trio.profile import PROFILES, Profile, get_profile

from ..clauses import RELEASES, Clauses, written
from ..driver import agent_conversation, loop_conversation
from ..fitting.choices import with_value
from ..keeper import Opener
from ..subject import Subject
from ..subjects.choice import runtime_inside
from .mutant import Mutant
from .planting import replaced


def mutants_of_fields(clauses: Clauses) -> Iterator[Mutant]:
    """One for each field that decides clauses, each of its values, and each other one."""
    for field in dict.fromkeys(clause.field for clause in clauses.values() if clause.field is not None):
        newest = {written(getattr(PROFILES[f"pi-{release}"], field)): release for release in RELEASES}
        for value, release in newest.items():
            broken = tuple(clause.id for clause in clauses.in_force(f"pi-{release}") if clause.field == field)
            for other, donor in newest.items():
                if other != value and broken:
                    yield _mutant(field, release, donor, broken)


def _mutant(field: str, release: str, donor: str, broken: tuple[str, ...]) -> Mutant:
    value = getattr(PROFILES[f"pi-{donor}"], field)

    def opened(profile: str, patience: float) -> Opener:
        changed = with_value(get_profile(profile), field, value)
        return _behaving_as(changed, runtime_inside(profile, patience))

    return Mutant(
        name=f"{field} of {release} as {donor}",
        clauses=broken,
        title=f"`{field}` is `{written(value)}`, as in {donor}",
        kind="field",
        open=opened,
        release=release,
    )


def _behaving_as(profile: Profile, opener: Opener) -> Opener:
    """The runtime that `opener` opens, which behaves as another profile than the one that it was opened as.

    Its driver knows nothing of that, and offers what the first one has.
    """

    def instead(start: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: start(*args, **{**options, "profile": profile})

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        with (
            replaced(agent_conversation, "Agent", instead),
            replaced(loop_conversation, "start_agent_loop", instead),
            replaced(loop_conversation, "start_agent_loop_continue", instead),
        ):
            async with opener() as subject:
                yield subject

    return opened
