"""With which of two candidates someone sides where they part.

What one leaves out says little: whoever is not complete yet leaves much out, and so may happen to do as a release that
has no such thing. What one *says* counts, if only one of the two candidates says it there. It counts less if the
scenario has put it into one's mouth: who hands on what he is given need not know what to say when nothing is given.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pi_trio.conformance.compare import canonical
from pi_trio.conformance.scenario import Scenario
from pi_trio.jsonvalue import ABSENT

from .trace import Trace

_EMPTY: Final = frozenset({"{}", "[]"})


class Sides(NamedTuple):
    """Whether something was said that only the first of two candidates says there, and that only the second says."""

    first: bool
    second: bool


def sides(first: Trace, second: Trace, got: Trace, given: Container[str] = ()) -> Sides:
    """With whom someone sides in the line in which two candidates part: with none, if he parts from both before it.

    Args:
        given: single values that do not count, for he was given them.
    """
    at = first.parts_at(second)
    if first.missing or second.missing or got.parts_at(first) < at:
        return Sides(first=False, second=False)
    one, other, said = (dict(_values(each.line(at))) for each in (first, second, got))
    return Sides(first=_says(said, one, other, given), second=_says(said, other, one, given))


def given_in(scenario: Scenario) -> frozenset[str]:
    """The single values that a subject is given in a scenario, as `sides` takes them."""
    parts = (scenario.create, scenario.answers, scenario.steps)
    return frozenset(value for part in parts for _, value in _values(part))


def _says(
    said: Mapping[str, str], one: Mapping[str, str], other: Mapping[str, str], given: Container[str]
) -> bool:
    """Whether something was said that only one of two says. Where the other has something in it, that an object or a
    list is empty is only something left out.
    """
    return any(
        said.get(path) == value != other.get(path)
        and value not in given
        and not (value in _EMPTY and any(each.startswith(f"{path}/") for each in other))
        for path, value in one.items()
    )


def _values(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The single values in a JSON value, each with the path to it; those that are empty too."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _values(item, f"{path}/{key}")
    elif isinstance(value, (list, tuple)) and value:
        for index, item in enumerate(value):
            yield from _values(item, f"{path}/{index}")
    elif value is not ABSENT:
        yield path, canonical(value)
