"""The vectors of the transport are those of the stated cases, and the releases still do what is recorded."""

from __future__ import annotations

import pytest

from pi_trio.conformance.transport.vector import RELEASES, read_transport_vectors
from pi_trio.conformance.vectors import spec_folder

from .stated import stated
from .stated.recording import results

VECTORS = read_transport_vectors(spec_folder())
ANEW = "python -m tests.upstream.transport --record"


def test_each_vector_is_of_its_stated_case():
    cases = stated()
    assert set(cases) == set(VECTORS), ANEW
    for name, case in cases.items():
        assert (VECTORS[name].title, VECTORS[name].case) == (case.title, case.bare()), ANEW


@pytest.mark.upstream
@pytest.mark.parametrize("release", RELEASES)
def test_the_release_does_what_is_recorded(release):
    cases = stated()
    for name, result in zip(cases, results(list(cases.values()), release), strict=True):
        assert result == VECTORS[name].of(release), name
