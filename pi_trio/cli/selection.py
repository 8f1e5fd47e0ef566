"""Which scenarios are meant by names and patterns.

Each name or pattern has to match something: a misspelt one among several would otherwise leave out what somebody
wanted to see. Some commands know of twins (`NAME (cancel)`, see `conformance.twins`), others, such as those on
recordings, only of what is written.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence

from pi_trio.conformance.mirror import aborts
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.twins import Twin, names_twin, with_twins, written_name

from .usage import UsageError


def select(globs: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios that are written, and whose names match one of the globs; all of them without a glob.

    Raises:
        UsageError: a glob matches none.
    """
    return _matching(all_scenarios(), globs)


def select_with_twins(globs: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios and twins that are meant: who names a scenario means its twin too, who names a twin that one alone.

    Raises:
        UsageError: a glob matches none.
    """
    every = tuple(with_twins(all_scenarios()))
    matching = {each.name for each in _matching(every, globs)}
    return tuple(
        each
        for each in every
        if each.name in matching or (isinstance(each, Twin) and each.written.name in matching)
    )


def select_one(asked: str) -> Scenario:
    """The one scenario, or the twin, that is meant.

    Raises:
        UsageError: there is none, or more than one.
    """
    found = _matching(tuple(with_twins(all_scenarios())), [asked])
    first, *more = [each for each in found if not isinstance(each, Twin)] or found
    if more:
        named = ", ".join(each.name for each in (first, *more[:2]))
        raise UsageError(f"{asked} are {1 + len(more)} scenarios: name one, such as {named}")
    return first


def _matching(known: Sequence[Scenario], globs: Sequence[str]) -> tuple[Scenario, ...]:
    for glob in globs:
        if not any(fnmatch.fnmatchcase(each.name, glob) for each in known):
            raise UsageError(_unknown(glob, known))
    return tuple(
        each for each in known if not globs or any(fnmatch.fnmatchcase(each.name, glob) for glob in globs)
    )


def _unknown(glob: str, known: Sequence[Scenario]) -> str:
    """Why nothing is called so, and what may be meant."""
    written = {each.name: each for each in known if not isinstance(each, Twin)}
    of = written.get(written_name(glob)) if names_twin(glob) else None
    if of is not None:
        why = "nothing is recorded under it" if aborts(of) else f"there is no abort in {of.name}"
        return f"there is no {glob} here: {why}"
    near = difflib.get_close_matches(glob, [each.name for each in known])
    hint = f"did you mean {' or '.join(near)}?" if near else f"such as {', '.join([*written][:3])}"
    return f"no scenario is called {glob or repr(glob)}; there are {len(written)}, {hint}"
