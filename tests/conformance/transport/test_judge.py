"""How what a transport has made of a case is put down to clauses."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.monitors.response import JUDGED
from pi_trio.conformance.transport.judge import PLACES, broken, places
from pi_trio.conformance.transport.vector import KEY, read_transport_vectors
from pi_trio.conformance.vectors import spec_folder

CLAUSES = Clauses.shipped()
VECTORS = read_transport_vectors(spec_folder())


def result_of(name: str) -> dict[str, Any]:
    return deepcopy(VECTORS[name].of("1.6.0"))


def named(name: str, result: dict[str, Any]) -> tuple[str, ...]:
    return broken(VECTORS[name], "1.6.0", result, CLAUSES)


def test_what_the_release_did_breaks_nothing() -> None:
    for name in VECTORS:
        for release in VECTORS[name].releases:
            assert broken(VECTORS[name], release, VECTORS[name].of(release), CLAUSES) == ()


def test_the_place_of_a_difference_tells_the_clause() -> None:
    result = result_of("chat_usage")
    result["calls"][0]["message"]["usage"]["input"] += 400
    result["calls"][0]["message"]["usage"]["totalTokens"] += 400
    assert named("chat_usage", result) == ("MODEL-17",)
    result = result_of("anthropic_failed_turns")
    result["requests"][0]["body"]["messages"].append({})
    assert named("anthropic_failed_turns", result) == ("MODEL-37",)


def test_a_difference_in_a_place_that_is_about_nothing_is_no_clause_s() -> None:
    result = result_of("chat_usage")
    result["calls"][0]["message"]["responseId"] = "another"
    assert named("chat_usage", result) == ()


def test_the_key_may_be_nowhere() -> None:
    result = result_of("chat_usage")
    result["calls"][0]["message"]["responseId"] = f"for {KEY}"
    assert named("chat_usage", result) == ("MODEL-31",)


def test_a_call_that_raises_has_no_event() -> None:
    result = result_of("anthropic_refused")
    result["calls"][0] = {"raised": "HTTPError: 400", "events": []}
    assert "MODEL-24" in named("anthropic_refused", result)


def test_the_clauses_that_nothing_names_are_none() -> None:
    transport = {clause.id for clause in CLAUSES.values() if clause.of_transport}
    assert PLACES.keys() | JUDGED | {"MODEL-31"} == transport


def test_places() -> None:
    assert list(places({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3, "c": 4}, 5]})) == ["a[1].b", "a[1].c", "a[2]"]
    assert list(places({"a": 1}, {"a": True})) == ["a"]
    assert list(places([1.0], [1])) == []
