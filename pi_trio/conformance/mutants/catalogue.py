"""All mutants: those that were written, and those that follow from the clauses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ..clauses import Clauses
from . import families  # noqa: F401  # pyright: ignore[reportUnusedImport] - they enter their mutants
from .fields import mutants_of_fields
from .mutant import Mutant
from .planting import PLANTED
from .transported import TRANSPORTED
from .wire import WIRED


@cache
def all_mutants() -> Mapping[str, Mutant]:
    """Every mutant by its name, in the order of the clauses that they break. Raises: ValueError: two have one name."""
    clauses = Clauses.shipped()
    written = [*(each.mutant for each in PLANTED), *WIRED, *TRANSPORTED]
    order = {clause: place for place, clause in enumerate(clauses)}
    mutants = sorted([*written, *mutants_of_fields(clauses)], key=lambda mutant: order[mutant.clauses[0]])
    named = {mutant.name: mutant for mutant in mutants}
    if len(named) < len(mutants):
        names = [mutant.name for mutant in mutants]
        raise ValueError(f"two mutants are called {next(name for name in names if names.count(name) > 1)!r}")
    return named
