"""The catalogue is whole: a mutant for every clause and every fault of a port, each with its facts right."""

from __future__ import annotations

import re
from collections import Counter
from inspect import Parameter, signature

import pytest

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors import TRANSITIONS
from pi_trio.conformance.mutants.catalogue import all_mutants
from pi_trio.conformance.mutants.explained import SURVIVORS, TABLES, UNPROVEN
from pi_trio.conformance.mutants.mutant import Mutant
from pi_trio.conformance.mutants.planting import PLANTED, Planted
from pi_trio.conformance.scenarios import all_scenarios

CLAUSES = Clauses.shipped()
NAMES = {scenario.name for scenario in all_scenarios()}
FAULTS = {f"F{number:02}" for number in range(1, 33)}

every_mutant = pytest.mark.parametrize(
    "mutant", [pytest.param(mutant, id=name.replace(" ", "-")) for name, mutant in all_mutants().items()]
)


@every_mutant
def test_it_breaks_clauses_that_are_in_force_where_it_is_judged(mutant: Mutant) -> None:
    in_force = {clause.id for clause in CLAUSES.in_force(mutant.judged_as(CLAUSES))}
    assert mutant.clauses
    assert set(mutant.clauses) <= in_force
    assert set(mutant.shows) <= NAMES


@every_mutant
def test_it_says_what_is_wrong(mutant: Mutant) -> None:
    assert mutant.title
    assert not mutant.title.endswith(".")
    assert re.fullmatch(r"[\w.,' ]+", mutant.name)


@pytest.mark.parametrize("each", PLANTED, ids=lambda each: each.mutant.name.replace(" ", "-"))
def test_it_is_called_as_the_original_is(each: Planted) -> None:
    """Or every call of it would raise, and it would be killed for that."""
    original = getattr(each.owner, each.attribute)
    made = each.make(original)
    if not (callable(original) and callable(made)):
        return
    parameters = [one for one in signature(original).parameters.values() if one.default is Parameter.empty]
    by_place = [one for one in parameters if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    by_name = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
    signature(made).bind(*by_place, **by_name)


def test_there_is_one_for_every_clause() -> None:
    assert {clause for mutant in all_mutants().values() for clause in mutant.clauses} == set(CLAUSES)


def test_there_is_one_for_every_fault_of_a_port() -> None:
    assert {each.mutant.fault for each in PLANTED} - {""} == FAULTS


def test_most_mutants_are_about_one_clause() -> None:
    """Who breaks much is named somehow."""
    counted = Counter(len(mutant.clauses) for mutant in all_mutants().values() if mutant.kind != "field")
    assert counted[1] > 0.7 * counted.total()
    assert max(counted) <= 3


def test_what_is_explained_is_there() -> None:
    assert all_mutants().keys() >= SURVIVORS.keys()
    assert UNPROVEN.keys() <= CLAUSES.keys()
    assert TABLES.keys() <= TRANSITIONS.keys()
