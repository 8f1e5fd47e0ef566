"""What type checkers make of decorated functions: every type here is inferred."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, assert_type

import attrs
import trio

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.messages import TextContent, ToolResult
from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import FunctionTool, tool
from pi_trio.tools.tool import Tool


@dataclass
class Database:
    rows: dict[str, int]


@dataclass
class Row:
    value: int


@tool
async def find(context: ToolContext[Database], key: str, *, limit: int = 3) -> Row:
    assert_type(context, ToolContext[Database])
    assert_type(context.deps, Database)
    assert_type(context.deps.rows, dict[str, int])
    assert_type(context.call_id, str)
    assert_type(context.signal, AbortSignal)
    assert_type(context.update("half"), None)
    await context.progress([TextContent(text="half")])
    return Row(context.deps.rows[key] + limit)


@tool
def count(context: ToolContext, what: str = "all") -> int:
    assert_type(context.deps, None)
    assert_type(context.check(), None)
    return len(what)


@tool(name="other", execution_mode="sequential", abandon_on_cancel=True, limiter=trio.CapacityLimiter(2))
def named(text: str) -> str:
    return text


@tool(output=Row, parameters={"type": "object"})
async def untyped_answer(**arguments: Any) -> ToolResult | dict[str, int]:
    return {"value": len(arguments)}


class Library:
    @tool
    async def look(self, title: str) -> str:
        return title

    @tool
    def put(self, title: str, context: ToolContext[Database]) -> None: ...

    async def plain(self, title: str) -> str:
        return title


async def the_function_is_still_there() -> None:
    context = ToolContext(deps=Database({}))
    assert_type(context, ToolContext[Database])
    assert_type(ToolContext(), ToolContext[None])
    assert_type(await find(context, "a"), Row)
    assert_type(await find(context, key="a", limit=2), Row)
    assert_type(count(ToolContext()), int)
    assert_type(named("a"), str)
    assert_type(await untyped_answer(a=1), ToolResult | dict[str, int])


async def methods() -> None:
    library = Library()
    bound: Callable[[str], Awaitable[str]] = library.look
    assert_type(await bound("a"), str)
    assert_type(await library.look("a"), str)
    assert_type(await Library.look(library, "a"), str)
    assert_type(library.put("a", ToolContext(deps=Database({}))), None)
    assert_type(await tool(library.plain)("a"), str)
    assert_type(await tool(name="other")(library.plain)("a"), str)


def it_is_a_tool() -> None:
    library = Library()
    tools: list[Tool] = [find, count, named, untyped_answer, library.look, attrs.evolve(named, name="more")]
    Agent(tools=tools)
    Agent(tools=[find, library.put])
    assert_type(named.function("a"), str)
    assert_type(named.name, str)
    assert_type(attrs.evolve(named, name="more")("a"), str)
    text_to_text: FunctionTool[Callable[..., str]] = named
    assert_type(text_to_text(), str)


def several_tools_are_tools(one: bool) -> None:
    tools = [find, count, named]
    agent = Agent(tools=tools)
    agent.tools = tools
    both = (find, Library().look)
    agent.tools = both
    agent.tools = [*tools, *both]
    agent.tools = [find if one else count]
    by_name = {each.name: each for each in both}
    agent.tools = by_name.values()


class Rules:
    @staticmethod
    @tool
    def words(text: str) -> int:
        return len(text.split())


def static_methods(rules: Rules) -> None:
    assert_type(rules.words("a b"), int)
    assert_type(Rules.words("a b"), int)
    Agent(tools=[rules.words])


def contexts_are_covariant(context: ToolContext[bool]) -> ToolContext[int]:
    return context
