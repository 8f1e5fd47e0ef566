"""What is kept of the plays of a scope: the first order that shows a fault, how far it came, and what must be alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import pytest

from pi_trio.conformance.scopes import Coverage, Fault, Play
from pi_trio.conformance.scopes.choices import UnsteadyError
from pi_trio.conformance.scopes.covering import SAME


@attrs.frozen
class Played:
    """A scope whose plays are given; one that is a function is called instead."""

    given: tuple[Play | Callable[[], None], ...]
    name: str = "played"
    title: str = "what is given"

    @property
    def orders(self) -> int:
        return len(self.given)

    def plays(self) -> Iterator[Play]:
        for each in self.given:
            if isinstance(each, Play):
                yield each
            else:
                each()

    def again(self, order: tuple[str, ...]) -> Play:
        raise NotImplementedError


def play(order: str, *faults: Fault, alike: object = "", rest: str = "") -> Play:
    return Play(order=tuple(order.split()), events=(), alike=alike, rest=rest, faults=faults)


def raises(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def covered(*given: Play | Callable[[], None]) -> Coverage:
    coverage = Coverage(Played(given))
    coverage.fill()
    return coverage


def test_of_each_fault_the_first_order_is_kept() -> None:
    wrong = Fault("it settles", "it hangs")
    coverage = covered(play("a b"), play("b a", wrong, wrong), play("b b", wrong))
    (found,) = coverage.found.values()
    assert (found.fault, found.order, found.plays) == (wrong, ("b", "a"), 2)
    assert (coverage.plays, coverage.complete) == (3, True)


def test_plays_that_are_alike_have_the_rest_in_common() -> None:
    coverage = covered(
        play("a", alike=1, rest="x"), play("b", alike=2, rest="y"), play("c", alike=1, rest="y")
    )
    (found,) = coverage.found.values()
    assert found.fault == Fault(SAME, "it ends otherwise than a")
    assert found.order == ("c",)
    assert coverage.endings == 2


def test_who_is_not_steady_is_no_whole_scope() -> None:
    coverage = covered(play("a"), raises(UnsteadyError("choice 1")))
    assert not coverage.complete
    assert [found.fault.said for found in coverage.found.values()] == ["choice 1"]


def test_an_interrupt_leaves_what_was_played() -> None:
    coverage = Coverage(Played((play("a"), play("b"), raises(KeyboardInterrupt()))))
    ticks: list[tuple[str, int | None]] = []
    with pytest.raises(KeyboardInterrupt):
        coverage.fill(lambda name, number: ticks.append((name, number)))
    assert (coverage.plays, coverage.complete, coverage.found) == (2, False, {})
    assert ticks == [("played", 3)] * 2
