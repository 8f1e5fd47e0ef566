"""A scenario once more, with aborts that cancel: its twin.

A subject whose `hello` says `abort: both` is judged in both modes of the abort. Where a scenario says nothing of the
mode an abort is advice, as in Pi; so each scenario with an abort has a twin, `NAME (cancel)`, in which it cancels.
Twins are judged and counted like all others, but only who offers both modes plays them. Nothing is recorded under
their names: what is expected in a twin follows from the scenario that is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from .mirror import aborts, cancelling
from .protocol import Object
from .scenario import Scenario

_SUFFIX: Final = " (cancel)"


@attrs.frozen(kw_only=True)
class Twin(Scenario):
    """A scenario with aborts that cancel; `written` is the one that says nothing of it."""

    name: str
    written: Scenario


def twin(scenario: Scenario) -> Twin:
    """The twin of a scenario. The scenario's title tells what happens where aborts are advice, which is not what
    happens here; so its own only says whose twin it is.
    """
    own = cancelling(scenario)
    return Twin(
        name=twin_name(own.name), title=f"As {own.name}, but its aborts cancel.", topic=own.topic,
        create=own.create, answers=own.answers, steps=own.steps, written=scenario,
    )  # fmt: skip


def with_twins(scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    """The scenarios, each with its twin behind it if there is an abort in it."""
    for scenario in scenarios:
        yield scenario
        if aborts(scenario):
            yield twin(scenario)


BOTH_MODES: Final = "feature abort: both"
"""What a subject needs to play a twin, in the words of `needs`."""


def in_both_modes(hello: Object) -> bool:
    """Whether a subject offers both modes of the abort."""
    return bool(hello.get("features", {}).get("abort") == "both")


def played_by(hello: Object, scenarios: Sequence[Scenario]) -> Sequence[Scenario]:
    """Those that a subject is judged by. One of a single mode is not asked for twins: the scenarios show its mode. Only
    a twin that was chosen without its scenario stays, for then somebody wants to know of it: it is not offered.
    """
    if in_both_modes(hello):
        return scenarios
    names = {scenario.name for scenario in scenarios}
    return [each for each in scenarios if not isinstance(each, Twin) or each.written.name not in names]


def written(scenario: Scenario) -> Scenario:
    """The scenario that is written, and recorded: of a twin the other one."""
    return scenario.written if isinstance(scenario, Twin) else scenario


def twin_name(name: str) -> str:
    """What the twin of the scenario of that name is called."""
    return name + _SUFFIX


def written_name(name: str) -> str:
    """What the scenario is called that is written."""
    return name.removesuffix(_SUFFIX)


def names_twin(name: str) -> bool:
    """Whether that is the name of a twin."""
    return name.endswith(_SUFFIX)
