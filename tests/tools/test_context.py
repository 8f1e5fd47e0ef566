"""`ToolContext`: what a call tells its function, and what the function tells, from wherever it is."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.messages import ImageContent, TextContent, ToolResult
from pi_trio.tools.context import ToolAbortedError, ToolContext
from pi_trio.tools.decorated import tool

from .executing import execute, say

TEXT, IMAGE = TextContent(text="half"), ImageContent(data="AA==", mime_type="image/png")


class Database:
    def __init__(self, rows: dict[str, str]) -> None:
        self.rows = rows


# --- what it tells ----------------------------------------------------------------------------------------


async def test_what_a_call_tells():
    seen: list[ToolContext[Any]] = []

    @tool
    async def look(key: str, *, context: ToolContext[Database]) -> str:
        seen.append(context)
        return context.deps.rows[key]

    controller = AbortController()
    database = Database({"a": "A"})
    answer = await say(look, {"key": "a"}, call_id="t7", signal=controller.signal, deps=database)
    (context,) = seen
    assert answer == "A"
    assert (context.call_id, context.tool_name) == ("t7", "look")
    assert context.signal is controller.signal
    assert context.deps is database
    assert list(look.parameters["properties"]) == ["key"]  # type: ignore[call-overload, index]
    assert repr(context) == "<ToolContext look t7>"


async def test_without_deps():
    @tool
    async def look(context: Annotated[ToolContext, "may be annotated, too"]) -> str:
        return repr(context.deps)

    assert look.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert await say(look) == "None"
    assert await say(look, deps=3) == "3"


async def test_deps_that_are_not_there():
    @tool
    async def look(context: ToolContext[Database]) -> str:
        return "looked"

    @tool
    async def may_look(context: ToolContext[Database | None]) -> str:
        return "looked"

    with pytest.raises(TypeError, match="Tool look needs deps of type Database, and its agent has none"):
        await execute(look)
    assert await say(may_look) == "looked"


@pytest.mark.parametrize("deps", [Any, object, None])
async def test_deps_that_may_be_none(deps):
    async def look(context) -> str:
        return repr(context.deps)

    look.__annotations__["context"] = ToolContext[deps]
    assert await say(tool(look)) == "None"


async def test_a_context_of_ones_own():
    @tool
    async def look(context: ToolContext[Database], key: str) -> str:
        context.check()
        context.update("not heard")
        await context.progress("not heard")
        return context.deps.rows[key]

    assert await look(ToolContext(deps=Database({"a": "A"})), "a") == "A"
    context = ToolContext()
    assert (context.deps, context.call_id, context.tool_name, context.signal.aborted) == (None, "", "", False)


# --- progress ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("partial", "content"),
    [
        ("half", (TEXT,)),
        (TEXT, (TEXT,)),
        ([TEXT, IMAGE], (TEXT, IMAGE)),
        (ToolResult(content=[IMAGE]), (IMAGE,)),
    ],
)
async def test_what_can_be_reported(partial, content):
    heard: list[ToolResult] = []
    context = ToolContext(on_update=heard.append)
    context.update(partial)
    await context.progress(partial)
    assert heard == [ToolResult(content=content)] * 2


@pytest.mark.parametrize("partial", [3, None, ["half"], {"content": []}])
@pytest.mark.parametrize("on_update", [None, lambda _partial: None], ids=["nobody hears", "somebody hears"])
async def test_what_cannot_be_reported(partial, on_update):
    context = ToolContext(on_update=on_update)
    with pytest.raises(TypeError, match=f"a text or content was expected, not {type(partial).__name__}"):
        context.update(partial)
    with pytest.raises(TypeError, match="a text or content was expected"):
        await context.progress(partial)


async def test_progress_waits_for_delivery_and_update_does_not():
    delivered = trio.Event()
    context = ToolContext(on_update=lambda _partial: delivered)
    context.update("half")
    done: list[str] = []

    async def report() -> None:
        await context.progress("half")
        done.append("progress")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(report)
        await trio.testing.wait_all_tasks_blocked()
        assert done == []
        delivered.set()
    assert done == ["progress"]


async def test_progress_is_a_checkpoint_also_where_nobody_listens():
    context = ToolContext()
    with trio.testing.assert_checkpoints():
        await context.progress("half")
    with trio.testing.assert_no_checkpoints():
        context.update("half")


@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_reported_after_the_end_is_dropped(fails):
    heard: list[ToolResult] = []
    kept: list[ToolContext[Any]] = []

    @tool
    async def work(context: ToolContext) -> str:
        kept.append(context)
        context.update("half")
        if fails:
            raise ValueError
        return "done"

    if fails:
        with pytest.raises(ValueError, match=r"^$"):
            await execute(work, on_update=heard.append)
    else:
        await execute(work, on_update=heard.append)
    kept[0].update("late")
    await kept[0].progress("late")
    assert heard == [ToolResult(content=[TEXT])]


async def test_any_thread_may_report():
    """A thread that trio knows nothing of, while the call lasts and afterwards."""
    homes: list[int] = []
    kept: list[ToolContext[Any]] = []

    @tool
    async def work(context: ToolContext) -> str:
        kept.append(context)
        done = trio.Event()
        token = trio.lowlevel.current_trio_token()

        def foreign() -> None:
            context.update("half")
            token.run_sync_soon(done.set)

        threading.Thread(target=foreign).start()
        await done.wait()
        return "done"

    await execute(work, on_update=lambda _partial: homes.append(threading.get_ident()))
    assert homes == [threading.get_ident()]
    late = threading.Thread(target=kept[0].update, args=("late",))
    late.start()
    late.join()
    assert len(homes) == 1


def test_reporting_when_trio_has_ended():
    heard: list[ToolResult] = []

    async def make() -> ToolContext:
        return ToolContext(on_update=heard.append)

    context = trio.run(make)
    late = threading.Thread(target=context.update, args=("late",))
    late.start()
    late.join()
    assert heard == []


# --- looking up -------------------------------------------------------------------------------------------


async def test_check():
    controller = AbortController()

    @tool
    async def count(context: ToolContext) -> str:
        context.check()
        controller.abort()
        context.check()
        return "done"

    with pytest.raises(ToolAbortedError, match=r"^Operation aborted$"):
        await execute(count, signal=controller.signal)


async def test_a_context_sees_the_abort():
    controller = AbortController()
    context = ToolContext(signal=controller.signal)
    assert isinstance(context.signal, AbortSignal)
    context.check()
    controller.abort()
    with pytest.raises(ToolAbortedError):
        context.check()
