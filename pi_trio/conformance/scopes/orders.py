"""Every way in which some sequences can be woven into one, each keeping its own order; and how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import factorial, prod
from typing import TypeVar

T = TypeVar("T")


def orders(tracks: Sequence[Sequence[T]]) -> Iterator[tuple[T, ...]]:
    """Each order once; first the one in which each track is done before the next begins."""
    done = [0] * len(tracks)
    order: list[T] = []

    def woven() -> Iterator[tuple[T, ...]]:
        ends = True
        for index, track in enumerate(tracks):
            if done[index] < len(track):
                ends = False
                order.append(track[done[index]])
                done[index] += 1
                yield from woven()
                done[index] -= 1
                order.pop()
        if ends:
            yield tuple(order)

    return woven()


def number_of_orders(lengths: Sequence[int]) -> int:
    """How many there are, for tracks of these lengths that have nothing in common."""
    return factorial(sum(lengths)) // prod(map(factorial, lengths))
