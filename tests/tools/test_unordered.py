"""What pydantic writes as it happens is written in order: what is told of a tool is the same in each process."""

from __future__ import annotations

from collections.abc import Set
from math import inf, nan
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.jsonvalue import thaw
from pi_trio.tools.decorated import tool

from .executing import execute


@attrs.frozen
class Tagged:
    tags: set[str]


def told(function: Any) -> Any:
    return {name: one.get("default", "none") for name, one in tool(function).parameters["properties"].items()}  # type: ignore[call-overload, index, union-attr]


@given(st.frozensets(st.text(max_size=3)))
def test_a_default_that_is_a_set_is_told_in_order(tags):
    def search(
        a: set[str] = set(tags),  # noqa: B006
        b: Set[str] = tags,
        c: dict[str, frozenset[str]] = {"k": tags},  # noqa: B006
        d: Tagged = Tagged(set(tags)),
        e: Any = tags,
        f: list = [tags],  # type: ignore[type-arg]  # noqa: B006
        g: set[str] | None = set(tags),  # noqa: B006
        h: set = set(tags),  # type: ignore[type-arg]  # noqa: B006
    ) -> None: ...

    ordered = sorted(tags)
    assert told(search) == {
        "a": ordered,
        "b": ordered,
        "c": {"k": ordered},
        "d": {"tags": ordered},
        "e": ordered,
        "f": [ordered],
        "g": ordered,
        "h": ordered,
    }


def test_numbers_are_in_the_order_of_numbers_and_a_mixture_in_some():
    def search(a: Set[int] = frozenset({11, 2, 3}), b: Any = frozenset({"b", 1, None})) -> None: ...

    assert told(search) == {"a": [2, 3, 11], "b": ["b", 1, None]}


def test_a_default_that_is_no_json_is_not_told_as_null():
    def wait(a: Any = inf, b: list[Any] = [nan], c: float = inf, d: Any = {"x": [-inf]}) -> None: ...  # noqa: B006

    assert told(wait) == {"a": "none", "b": "none", "c": "none", "d": "none"}


@pytest.mark.parametrize("value", [[nan], [{"a": inf}], [(1, {nan})]])
async def test_an_answer_that_is_no_json_is_refused(value):
    @tool
    async def measure() -> list[Any]:
        return value

    with pytest.raises(
        TypeError, match=r"measure returned what is not of its output type: .* no number in JSON$"
    ):
        await execute(measure)


async def test_an_answer_that_needs_no_type_stays_what_it_is():
    value = {"a": [1, "x", None, True, {"b": (1.5,)}], "3": {}}

    @tool
    async def give() -> dict[Any, Any]:
        return value | {4: {2, 1}}

    result = await execute(give)
    assert result is not None
    assert thaw(result.structured_content) == {
        "a": [1, "x", None, True, {"b": [1.5]}],
        "3": {},
        "4": [1, 2],
    }
    assert give.output_schema == {"type": "object", "additionalProperties": True}
