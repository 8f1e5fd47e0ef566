"""Functions of which no tool can be made: what is wrong with each is said, and where."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import attrs
import pytest
import trio

from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import tool
from pi_trio.tools.decorator.signature import ToolDefinitionError

from .executing import say


# fmt: off
class OwnContext(ToolContext[int]): ...


def no_hint(a) -> str: ...
def star(*a: int) -> str: ...
def double_star(**a: int) -> str: ...
def callback(a: int, on_done: Callable[[int], None]) -> str: ...
def context_as_rest(**c: ToolContext) -> str: ...
def own_context(a: int, c: OwnContext) -> str: ...
def optional_own_context(a: int, c: OwnContext | None = None) -> str: ...
def opaque(a: int, socket: trio.SocketStream) -> str: ...
def unknown(a: int, b: Nowhere) -> str: ...  # type: ignore[name-defined]  # noqa: F821
def not_a_hint(a: int, b: not_a_hint[3]) -> str: ...  # type: ignore[valid-type]
def two_contexts(first: ToolContext, second: ToolContext[int]) -> str: ...
def optional_context(a: int, context: ToolContext | None = None) -> str: ...
def unknown_answer(a: int) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821
def opaque_answer(a: int) -> trio.SocketStream: ...
def mixed_answer(a: int) -> str | dict[str, int]: ...
def generator(a: int) -> Iterator[int]: yield a
async def async_generator(a: int) -> AsyncIterator[int]: yield a
# fmt: on


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (no_hint, "parameter a has no type hint, and there is no schema (parameters=)"),
        (star, "*a has no place in a call, where every argument has a name"),
        (double_star, "**a takes anything: give its schema (parameters=)"),
        (callback, "parameter on_done: "),
        (opaque, "parameter socket: SocketStream cannot be told as JSON: Unable to generate"),
        (
            unknown,
            "parameter b: the type hint 'Nowhere' cannot be resolved (name 'Nowhere' is not defined). Hints",
        ),
        (
            not_a_hint,
            "parameter b: the type hint 'not_a_hint[3]' cannot be resolved: 'function' object is not",
        ),
        (two_contexts, "first and second are both a ToolContext; a call has one"),
        (context_as_rest, "parameter c: a ToolContext is injected, so it stands alone"),
        (own_context, "parameter c: what is injected is a ToolContext, and of none of its subclasses"),
        (optional_own_context, "parameter c: what is injected is a ToolContext, and of none of"),
        (optional_context, "parameter context: a ToolContext is injected, so it stands alone"),
        (unknown_answer, "what it returns: the type hint 'Nowhere' cannot be resolved"),
        (opaque_answer, "what it returns: SocketStream cannot be told as JSON"),
        (mixed_answer, "it returns now text or content, and now something structured: return one of them"),
        (generator, "a generator has no result: report progress with a ToolContext"),
        (async_generator, "a generator has no result: report progress with a ToolContext"),
    ],
)
def test_a_function_that_is_no_tool(function, problem):
    with pytest.raises(ToolDefinitionError) as caught:
        tool(function)
    assert str(caught.value).startswith(f"tool {function.__name__}: {problem}")


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (partial(star), "partial"),
        (classmethod(no_hint), "classmethod"),
        (staticmethod(star), "staticmethod"),
        (3, "int"),
    ],
)
def test_what_is_no_function(thing, kind):
    with pytest.raises(ToolDefinitionError, match=f"a function or method was expected, not a {kind}$"):
        tool(thing)


def test_types_of_a_closure_cannot_be_found():
    @attrs.frozen
    class Local:
        a: int

    def take(one: Local) -> str:
        return str(one)

    with pytest.raises(
        ToolDefinitionError, match=r"parameter one: the type hint 'Local' cannot be resolved .* module"
    ):
        tool(take)


async def test_types_of_a_closure_are_found_where_hints_are_no_strings():
    scope: dict[str, Any] = {}
    program = """
from dataclasses import dataclass
def make(tool):
    @dataclass
    class Local:
        a: int
    @tool
    def take(one: Local) -> str:
        return repr(one.a)
    return take
"""
    exec(compile(program, "closure", "exec", dont_inherit=True), scope)
    assert await say(scope["make"](tool), {"one": {"a": 3}}) == "3"


def test_a_schema_that_is_about_something_else():
    def take(a: int, b: int) -> str: ...

    with pytest.raises(ToolDefinitionError, match="its schema has c, which the function does not take"):
        tool(parameters={"properties": {"a": {}, "b": {}, "c": {}}})(take)

    def take_more(context: ToolContext, **others) -> str: ...

    with pytest.raises(ToolDefinitionError, match="its schema has context, which the function does not take"):
        tool(parameters={"properties": {"context": {}, "c": {}}})(take_more)
    with pytest.raises(ToolDefinitionError, match="its schema does not have b, which the function needs"):
        tool(parameters={"properties": {"a": {}}})(take)
    with pytest.raises(ToolDefinitionError, match="its schema is not JSON: a: expected a JSON value"):
        tool(parameters={"a": {1, 2}})(take)  # type: ignore[dict-item]


def test_options_of_threads_are_for_threads():
    async def quick() -> str: ...

    for options in ({"abandon_on_cancel": True}, {"limiter": trio.CapacityLimiter(1)}):
        with pytest.raises(ToolDefinitionError, match="are for threads, and this is async"):
            tool(**options)(quick)  # type: ignore[call-overload]
