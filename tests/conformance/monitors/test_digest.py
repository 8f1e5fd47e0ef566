"""A digest is the same for the same value, and another one for another."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.monitors.digest import BLANK, alike, digest, same
from pi_trio.jsonvalue import freeze

SCALARS: tuple[Any, ...] = (None, False, True, 0, 1, -1, -2, 2, 0.5, "", "0", "1", "true", "null", [], {})
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def test_values_that_look_alike_to_python_are_told_apart() -> None:
    for hold in (
        lambda each: each,
        lambda each: [each],
        lambda each: {"a": each},
        lambda each: [{"a": [each]}],
    ):
        assert len({digest(hold(each)) for each in SCALARS}) == len(SCALARS)


@given(VALUES, VALUES)
def test_it_is_equal_for_equal_values_and_for_no_others(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) is (text(one) == text(other))
    assert digest(one) == digest(json.loads(text(one))) != BLANK


@given(VALUES)
def test_it_is_equal_for_a_frozen_value(value: Any) -> None:
    assert digest(freeze(value)) == digest(value)


def test_a_number_is_the_same_however_it_is_written() -> None:
    assert digest({"cost": 1.0, "total": -1.0}) == digest({"total": -1, "cost": 1})


def test_what_was_not_seen_is_like_all() -> None:
    assert same(BLANK, digest("a"))
    assert not same(digest("a"), digest("b"))


@given(VALUES, VALUES)
def test_alike_are_those_that_are_equal_in_json(one: Any, other: Any) -> None:
    assert alike(one, other) == (text(one) == text(other))
    assert alike(one, json.loads(text(one)))
    assert alike(freeze(one), freeze(other)) == alike(one, freeze(other)) == alike(one, other)
    assert not alike({"a": [one, True]}, {"a": [one, 1]})
