"""Every shipped vector of the transport is what the adapters make of it: the same bytes, and no network."""

from __future__ import annotations

import json

import pytest

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors.response import judge_response
from pi_trio.conformance.transport.replay import replay
from pi_trio.conformance.transport.vector import KEY, RELEASES, TransportVector, read_transport_vectors
from pi_trio.conformance.vectors import spec_folder

VECTORS = read_transport_vectors(spec_folder())
FORCE = {clause.id: frozenset(clause.releases) for clause in Clauses.shipped().values()}

each_vector = pytest.mark.parametrize("vector", VECTORS.values(), ids=lambda vector: vector.name)


@each_vector
def test_the_adapters_give_what_the_releases_gave(vector: TransportVector) -> None:
    for release in vector.releases:
        assert replay(vector, release) == vector.of(release), release


@each_vector
def test_the_monitor_finds_nothing_wrong_with_the_releases(vector: TransportVector) -> None:
    assert vector.releases == RELEASES
    for release in RELEASES:
        for call in vector.of(release)["calls"]:
            told = [event for event in call["events"] if "hook" not in event]
            judgement = judge_response(told, FORCE, [release], call["message"])
            assert judgement.findings == ()


def test_no_recording_has_the_key_in_it() -> None:
    for vector in VECTORS.values():
        assert KEY not in json.dumps([each.result for each in vector.recorded]), vector.name
        assert all(call["options"].get("apiKey", KEY) == KEY for call in vector.case["calls"])
