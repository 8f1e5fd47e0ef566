"""`@tool`: what a function becomes, what the model is told of it, and how it is called."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Annotated, Any

import attrs
import pytest
import trio

from pi_trio.abort import AbortSignal
from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import FunctionTool, tool
from pi_trio.tools.tool import Tool
from pi_trio.tools.validate import InvalidArguments

from .executing import execute, say


@tool
async def greet(name: str, *, polite: bool = False, times: int = 1) -> str:
    """Greet somebody.

    Says their name.

    Args:
        name: who it is.
        times: how often.

    Returns:
        The greeting.
    """
    await trio.lowlevel.checkpoint()
    return " ".join([f"{'Good day' if polite else 'Hi'}, {name}!"] * times)


# --- what it becomes --------------------------------------------------------------------------------------


def test_it_is_a_tool():
    assert isinstance(greet, Tool)
    assert (greet.name, greet.label, greet.execution_mode) == ("greet", "", None)
    assert greet.description == "Greet somebody.\n\nSays their name."
    assert greet.output_schema is None
    assert greet.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "who it is."},
            "polite": {"type": "boolean", "default": False},
            "times": {"type": "integer", "description": "how often.", "default": 1},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


async def test_it_is_still_the_function():
    assert await greet("Ada", polite=True) == "Good day, Ada!"
    assert list(inspect.signature(greet).parameters) == ["name", "polite", "times"]
    assert inspect.unwrap(greet) is greet.function  # type: ignore[arg-type]


def test_it_is_documented_as_the_function_is():
    assert greet.__doc__ == greet.function.__doc__
    assert greet.__doc__ != FunctionTool.__doc__
    assert FunctionTool.__doc__.startswith("A function that is a tool.")
    assert (greet.__name__, greet.__qualname__) == ("greet", "greet")
    with pytest.raises(AttributeError, match="'FunctionTool' object has no attribute 'nothing'"):
        _ = greet.nothing
    assert copy.copy(greet) == greet
    assert copy.deepcopy(greet).name == "greet"


async def test_options():
    @tool(name="hello", label="Hello", description="Says it.", execution_mode="sequential")
    async def greet(name: str) -> str:
        """Not told."""
        return f"Hello, {name}"

    assert (greet.name, greet.label, greet.description) == ("hello", "Hello", "Says it.")
    assert greet.execution_mode == "sequential"
    assert await say(greet, {"name": "Ada"}) == "Hello, Ada"


async def test_a_variant():
    seen: list[str] = []

    @tool
    async def look(context: ToolContext) -> str:
        seen.append(context.tool_name)
        return "done"

    other = attrs.evolve(look, name="look_again", description="Look again.")
    assert isinstance(other, FunctionTool)
    await say(other)
    await say(look)
    assert seen == ["look_again", "look"]
    assert await other.execute("t1", {}, AbortSignal(), lambda _partial: None) is not None  # type: ignore[misc]
    assert seen[-1] == "look_again"


@pytest.mark.parametrize(
    "docstring",
    [
        "Add.\n\n    Args:\n        a: the first one\n        b (int): the second one",
        "Add.\n\n    Parameters\n    ----------\n    a\n        the first one\n    b : int\n        the second one",
        "Add.\n\n    :param a: the first one\n    :param int b: the second one\n    :returns: the sum",
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_styles_of_docstrings(docstring):
    def add(a: int, b: int) -> str:
        return str(a + b)

    add.__doc__ = docstring
    made = tool(add)
    assert made.description == "Add."
    properties: Any = made.parameters["properties"]  # type: ignore[call-overload, index]
    assert [one["description"] for one in properties.values()] == ["the first one", "the second one"]


def test_without_a_docstring_there_is_no_description():
    @tool
    def bare(a: int) -> str:
        return str(a)

    assert bare.description == ""
    assert bare.parameters["properties"] == {"a": {"type": "integer"}}  # type: ignore[call-overload, index]


# --- calling ----------------------------------------------------------------------------------------------


async def test_it_gets_its_arguments_and_its_defaults():
    assert await say(greet, {"name": "Ada"}) == "Hi, Ada!"
    assert await say(greet, {"times": 2, "name": "Ada", "polite": True}) == "Good day, Ada! Good day, Ada!"


async def test_every_kind_of_parameter():
    @tool
    def join(a: str, b: str = "B", /, c: str = "C", *, d: str, e: str = "E") -> str:
        return a + b + c + d + e

    assert await say(join, {"a": "a", "d": "d"}) == "aBCdE"
    assert await say(join, {"c": "c", "a": "a", "d": "d", "e": "e"}) == "aBcde"

    @tool
    def pair(a: str = "A", b: str = "B", /) -> str:
        return a + b

    assert await say(pair, {"b": "b"}) == "Ab"


@pytest.mark.parametrize(
    "name", ["schema", "copy", "json", "model_config", "_private", "arguments", "cls", "tool"]
)
async def test_parameters_may_have_any_name(name):
    scope: dict[str, Any] = {}
    exec(f"def echo({name}: int, args: int = 1, context: int = 2) -> str: return str({name})", scope)
    assert await say(tool(scope["echo"]), {name: 5}) == "5"


async def test_what_a_tool_raises_is_raised():
    @tool
    def broken() -> str:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await execute(broken)


async def test_a_wrapped_coroutine_function_is_async():
    def logged(function: Any) -> Any:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return call

    @tool
    @logged
    async def double(n: int) -> str:
        await trio.lowlevel.checkpoint()
        return str(2 * n)

    assert await say(double, {"n": 4}) == "8"


async def answer_later(n: int) -> int:
    await trio.lowlevel.checkpoint()
    return 2 * n


def as_awaitable(n: int) -> Awaitable[int]:
    return answer_later(n)


def as_coroutine(n: int) -> Annotated[Coroutine[Any, Any, int], "later"]:
    return answer_later(n)


def as_whatever(n: int) -> Awaitable:  # type: ignore[type-arg]
    async def text() -> str:
        return str(await answer_later(n))

    return text()


@pytest.mark.parametrize("function", [as_awaitable, as_coroutine, as_whatever])
async def test_what_a_plain_function_says_can_be_awaited_is(function: Callable[[int], Any]):
    doubled = tool(function)
    assert await say(doubled, {"n": 4}) == "8"
    with pytest.raises(TypeError, match="abandon_on_cancel and limiter are for threads"):
        tool(abandon_on_cancel=True)(function)


def test_the_schema_is_that_of_what_awaiting_it_gives():
    schemas = [tool(function).output_schema for function in (as_awaitable, as_coroutine, answer_later)]
    assert schemas[0] == schemas[1] == schemas[2] is not None


async def test_a_tool_may_hold_nurseries():
    @tool
    async def both(fail: bool = False) -> str:
        said: list[str] = []

        async def one(word: str) -> None:
            await trio.lowlevel.checkpoint()
            if fail:
                raise ValueError(word)
            said.append(word)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, "a")
            async with trio.open_nursery() as inner:
                inner.start_soon(one, "b")
        return "".join(sorted(said))

    assert await say(both) == "ab"
    with pytest.raises(ExceptionGroup):
        await execute(both, {"fail": True})


# --- arguments that a hook has changed, or that come by another schema ------------------------------------


async def test_a_schema_of_ones_own():
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}, "more": {}}}

    @tool(parameters=schema)
    async def take(n: int, more=None, **others) -> str:
        return repr((n, more, others))

    assert take.parameters == schema
    assert await say(take, {"n": 4, "more": [1], "x": {"y": 2}}) == "(4, [1], {'x': {'y': 2}})"


async def test_an_argument_cannot_have_the_name_of_what_is_injected():
    @tool(parameters={"type": "object"})
    async def take(context: ToolContext, **others) -> str:
        return repr(others)

    with pytest.raises(InvalidArguments, match=r"\n  - context: there is no such parameter$"):
        await execute(take, {"context": 1, "self": 2})
    assert await say(take, {"self": 2, "others": 3}) == "{'self': 2, 'others': 3}"

    @tool(parameters={"type": "object"})
    async def by_place(context: ToolContext, /, **others) -> str:
        return repr((context.tool_name, others))

    assert await say(by_place, {"context": 1}) == "('by_place', {'context': 1})"


async def test_what_does_not_fit_the_function_is_told():
    misfit = greet.call("t1", {"name": 5, "times": "no", "extra": 1}, AbortSignal(), lambda _partial: None)
    with pytest.raises(InvalidArguments) as caught:
        await misfit
    assert str(caught.value).splitlines() == [
        'Validation failed for tool "greet":',
        "  - name: Input should be a valid string",
        "  - times: Input should be a valid integer, unable to parse string as an integer",
        "  - extra: there is no such parameter",
    ]
    with pytest.raises(InvalidArguments, match=r"\n  - name: this is required$"):
        await greet.call("t1", {}, AbortSignal(), lambda _partial: None)
    with pytest.raises(InvalidArguments, match=r"\n  - root: an object was expected$"):
        await greet.call("t1", [], AbortSignal(), lambda _partial: None)


# --- what it costs ----------------------------------------------------------------------------------------

WITHOUT = """
import sys
for name in sys.argv[1:]:
    sys.modules[name] = None
import pi_trio.tools.decorated, pi_trio.tools.context, pi_trio.agent.agent
assert not any(name.startswith(("pydantic", "docstring_parser")) for name in sys.modules if name not in sys.argv)
def add(a: int) -> str: ...
try:
    pi_trio.tools.decorated.tool(add)
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["pydantic", "docstring_parser"])
def test_what_it_needs_is_imported_when_it_is_needed(missing):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing], text=True, capture_output=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert (
        done.stdout == f"@tool needs more than the runtime does ({missing}): pip install 'pi_trio[tools]'\n"
    )
