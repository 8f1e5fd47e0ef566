# mypy: ignore-errors
"""What type checkers refuse: every line that is marked, and no other."""

from __future__ import annotations

from dataclasses import dataclass

from pi_trio.agent.agent import Agent
from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import tool


@dataclass
class Database:
    rows: dict[str, int]


@tool
async def find(context: ToolContext[Database], key: str, *, limit: int = 3) -> str:
    context.deps.columns  # E: there is no such thing in the deps  # noqa: B018
    context.deps.rows[3]  # E: nor such a key
    context.update(3)  # E: a number cannot be reported
    await context.update("half")  # E: nobody can wait for an update
    await context.progress({"a": 1})  # E: an object cannot be reported
    context.call_id = "t2"  # E: a context does not change
    return 3  # E: as in any function


@tool
def count(context: ToolContext, what: str) -> int:
    context.deps.rows  # E: it has no deps  # noqa: B018
    return len(what)


async def calls(context: ToolContext[Database], bare: ToolContext) -> None:
    await find(context)  # E: the key is missing
    await find(context, 3)  # E: the key is no number
    await find(context, "a", 3)  # E: the limit is a keyword
    await find(bare, "a")  # E: other deps are wanted
    await count(bare, "a")  # E: it is no coroutine function
    number: int = await find(context, "a")  # E: it answers with text  # noqa: F841
    text: str = count(bare, "a")  # E: it answers with a number  # noqa: F841


class Library:
    @tool
    async def look(self, title: str) -> str:
        return title


async def methods(library: Library) -> None:
    await library.look()  # E: the title is missing
    await library.look(library, "a")  # E: the instance is there already


class Rules:
    @staticmethod
    @tool
    def words(text: str) -> int:
        return len(text.split())


Rules().words(3)  # E: the text is no number
Rules.words(3)  # E: nor is it so


def plain(text: str) -> str:
    return text


Agent(tools=[plain])  # E: it is not decorated
tool(3)  # E: it is no function
tool(execution_mode="serial")  # E: there is no such mode
tool(description=3)  # E: a description is a text
tool(limiter=3)  # E: a limiter is no number
tool(plain, name="other")  # E: options are given first
