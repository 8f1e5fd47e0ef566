"""Interleavings: each once, as many as are counted, and every track in its own order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.scopes.orders import number_of_orders, orders

lengths = st.lists(st.integers(0, 3), max_size=4).filter(lambda given: sum(given) <= 8)


@given(lengths)
def test_each_order_comes_once(lengths: list[int]) -> None:
    tracks = [[(track, step) for step in range(length)] for track, length in enumerate(lengths)]
    found = [*orders(tracks)]
    assert len(found) == len(set(found)) == number_of_orders(lengths)
    for order in found:
        assert [[step for step in order if step[0] == track] for track in range(len(tracks))] == tracks


def test_three_tracks_of_two_have_ninety() -> None:
    assert len([*orders([("a", "a"), ("b", "b"), ("c", "c")])]) == number_of_orders((2, 2, 2)) == 90
