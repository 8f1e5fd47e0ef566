"""A tree of choices is walked whole, whatever its shape; and a program that is not steady is seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.scopes.choices import Path, UnsteadyError

Tree = list["Tree"]

trees: st.SearchStrategy[Tree] = st.recursive(
    st.just([]), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=12
)


def leaves(tree: Tree) -> int:
    return sum(map(leaves, tree)) if tree else 1


def walk(tree: Tree) -> list[tuple[int, ...]]:
    ways: list[tuple[int, ...]] = []
    path: Path | None = Path()
    while path is not None:
        here = tree
        while here:
            here = here[path.choose(len(here))]
        path.check()
        ways.append(tuple(path.taken))
        path = path.next()
    return ways


@given(trees)
def test_every_way_once_from_left_to_right(tree: Tree) -> None:
    ways = walk(tree)
    assert len(ways) == leaves(tree)
    assert ways == sorted(set(ways))


def test_choices_can_be_given() -> None:
    path = Path([1, 2])
    assert [path.choose(2), path.choose(1), path.choose(3), path.choose(4)] == [1, 0, 2, 0]
    assert path.taken == [1, 2, 0]


@pytest.mark.parametrize("width", [3, 5])
def test_who_has_other_choices_the_second_time_is_not_steady(width: int) -> None:
    path = Path()
    path.choose(4)
    path.choose(2)
    again = path.next()
    assert again is not None
    again.choose(width)
    again.choose(2)
    with pytest.raises(UnsteadyError, match=f"choice 1 is among {width}, and was number 0 of 4"):
        again.check()


@pytest.mark.parametrize(
    ("given", "says"), [([2], "choice 1 is among 2, and was number 2"), ([1, 2], "there are only 1 choices")]
)
def test_a_way_that_there_is_not_is_not_gone(given: list[int], says: str) -> None:
    path = Path(given)
    path.choose(2)
    with pytest.raises(UnsteadyError, match=says):
        path.check()
