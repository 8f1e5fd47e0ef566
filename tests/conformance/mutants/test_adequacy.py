"""What `spec/adequacy` says is so: the page follows from the trials, and trials come out as it has them."""

from __future__ import annotations

from functools import cache
from typing import Any
from zlib import crc32

import pytest

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors import TRANSITIONS
from pi_trio.conformance.mutants.adequacy import JSON, PAGE, faults, matrix_document, matrix_of, page
from pi_trio.conformance.mutants.catalogue import all_mutants
from pi_trio.conformance.mutants.explained import UNPROVEN
from pi_trio.conformance.mutants.hosts import BEST, HOSTS
from pi_trio.conformance.mutants.matrix import Matrix, try_all
from pi_trio.conformance.mutants.nulls import NULLS, score
from pi_trio.conformance.mutants.trial import Court
from pi_trio.conformance.vectors import spec_folder
from pi_trio.jsontext import parse_json

SPEC = spec_folder()
CLAUSES = Clauses.shipped()
ANEW = "run `pi-trio mutants --write`"

SAMPLE = [name for name in all_mutants() if crc32(name.encode()) % 12 == 0]
"""The mutants that are tried anew; all of them take minutes."""


@cache
def document() -> Any:
    return parse_json((SPEC / JSON).read_text(encoding="utf-8"))


@cache
def matrix() -> Matrix:
    return matrix_of(document())


def test_the_page_follows_from_the_trials() -> None:
    assert page(matrix(), CLAUSES) == (SPEC / PAGE).read_text(encoding="utf-8"), ANEW
    assert matrix_document(matrix()) == document()


def test_the_trials_are_those_of_the_catalogue() -> None:
    assert matrix().mutants() == tuple(all_mutants()), ANEW
    for name, mutant in all_mutants().items():
        trials = matrix().of(name)
        assert trials.keys() == {host.name for host in HOSTS}, ANEW
        assert {trial.clauses for trial in trials.values()} == {mutant.clauses}, ANEW
    assert [each.transition for each in matrix().tables] == list(TRANSITIONS), ANEW
    assert [each.name for each in matrix().scores] == list(NULLS), ANEW


def test_everything_is_in_order() -> None:
    assert faults(matrix(), CLAUSES) == []


def test_every_clause_is_proven_or_says_why_not() -> None:
    assert CLAUSES.keys() - matrix().proofs().keys() == UNPROVEN.keys()


@pytest.mark.parametrize("name", SAMPLE, ids=[name.replace(" ", "-") for name in SAMPLE])
def test_a_trial_comes_out_as_it_did(name: str) -> None:
    """In another order, and by a court that knows other things, on which nothing may depend."""
    again = try_all([name], [BEST], besides=False)
    assert again.trials == (matrix().of(name)[BEST.name],), ANEW


def test_a_survivor_without_a_reason_is_reported() -> None:
    trial = matrix().trials[0]
    survivor = type(trial)(
        mutant="nobody", host=BEST.name, clauses=("RUN-01",), played=3, failed=1, named=("RUN-02",)
    )
    (fault,) = faults(Matrix(trials=(survivor,)), CLAUSES)
    assert fault == "nobody survives: it breaks RUN-01, and RUN-02 is named"


def test_a_silent_subject_is_granted_nothing() -> None:
    court = Court()
    granted = score("silent", court)
    assert granted.nothing
    assert granted.scenarios > 400
