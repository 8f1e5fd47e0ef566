"""Mutants of the runtime: one function of it is replaced, as long as the mutant is open, and no longer.

It is replaced in this process, which the runtime shares with the tester. The tester's own runs of the runtime, which
are what others are compared with, must not meet it: so a keeper that rests closes its subject first, and everything
else that asks the runtime does so when the mutant has been closed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, TypeAlias

import attrs

from ..keeper import Opener
from ..subject import Subject
from ..subjects.choice import runtime_inside
from .mutant import Mutant, sentence, several, words

#: Gives the faulty version of an original.
Make: TypeAlias = Callable[[Any], Any]

PLANTED: Final[list[Planted]] = []
"""All that were entered, in that order."""


@attrs.frozen(kw_only=True, eq=False)
class Planted:
    """A change of the runtime.

    Attributes:
        mutant: what it makes of the runtime.
        owner, attribute: the one function that is replaced.
        make: gives the faulty version of the original; its docstring says what is wrong.
    """

    mutant: Mutant
    owner: Any
    attribute: str
    make: Make

    @contextmanager
    def planted(self) -> Generator[None]:
        """Inside, the runtime has the fault. Two of one function would undo each other, so there is one at a time."""
        with replaced(self.owner, self.attribute, self.make):
            yield


def planted(
    clauses: str | tuple[str, ...],
    owner: Any,
    attribute: str,
    *,
    shows: str | tuple[str, ...] = (),
    release: str | None = None,
    fault: str = "",
) -> Callable[[Make], Make]:
    """Enter what is decorated as a mutant that breaks clauses."""

    def enter(make: Make) -> Make:
        def opened(profile: str, patience: float) -> Opener:
            return _with_fault(owner, attribute, make, runtime_inside(profile, patience))

        mutant = Mutant(
            name=words(make.__name__), clauses=several(clauses), title=sentence(make.__doc__), kind="runtime",
            open=opened, shows=several(shows), release=release, fault=fault,
        )  # fmt: skip
        PLANTED.append(Planted(mutant=mutant, owner=owner, attribute=attribute, make=make))
        return make

    return enter


def _with_fault(owner: Any, attribute: str, make: Make, opener: Opener) -> Opener:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        with replaced(owner, attribute, make):
            async with opener() as subject:
                yield subject

    return opened


@contextmanager
def replaced(owner: Any, attribute: str, make: Make) -> Generator[None]:
    """Inside, an attribute is what is made of it. What the owner has only inherited it loses again."""
    original = getattr(owner, attribute)
    own = attribute in vars(owner)
    before = vars(owner).get(attribute)
    setattr(owner, attribute, make(original))
    try:
        yield
    finally:
        if own:
            setattr(owner, attribute, before)
        else:
            delattr(owner, attribute)
