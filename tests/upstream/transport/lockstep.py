"""Runs cases on two sides at once against one server, and gives what each said and asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Protocol

import attrs
import trio

from .cases import Case, of_release
from .server import Server, open_server

#: So many cases are under way at once, on each side.
AT_ONCE = 12

#: So long may a case take, in seconds, retries and all.
LIMIT = 60


class Side(Protocol):
    """Who runs cases."""

    async def run(self, case: Case, number: int) -> Any: ...

    async def wait(self, number: int, kind: str) -> None: ...


@attrs.frozen
class Outcome:
    """What became of a case: of each side its result, with the requests that the server got."""

    case: Case
    theirs: dict[str, Any]
    ours: dict[str, Any]


async def run_cases(
    cases: Sequence[Case],
    release: str,
    theirs: AbstractAsyncContextManager[Side],
    ours: AbstractAsyncContextManager[Side],
    *,
    tls: Any = None,
    report: Any = None,
) -> list[Outcome]:
    """The outcomes of the cases, in their order.

    Args:
        cases: as `cases.py` tells.
        release: whose adapters are called, and in which form.
        theirs, ours: opens the sides.
        tls: the server's context, if a case needs it.
        report: called with the number of cases that are done.
    """
    results: dict[tuple[str, int], Any] = {}
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(open_server(tls))
        sides = {
            "p": await stack.enter_async_context(theirs),
            "o": await stack.enter_async_context(ours),
        }
        limits = {name: trio.CapacityLimiter(AT_ONCE) for name in sides}

        async def one(name: str, number: int, case: Case) -> None:
            async with limits[name]:
                results[name, number] = await _played(server, sides[name], name, number, case)
            if report is not None and name == "o":
                report(sum(key[0] == "o" for key in results))

        async with trio.open_nursery() as nursery:
            for number, case in enumerate(cases):
                shaped = of_release(case, release)
                for name in sides:
                    nursery.start_soon(one, name, number, shaped)
    return [Outcome(case, results["p", number], results["o", number]) for number, case in enumerate(cases)]


async def _played(server: Server, side: Side, name: str, number: int, case: Case) -> Any:
    async def waits(kind: str) -> None:
        await side.wait(number, kind)

    placed, visitor = server.place(case, name, number, waits)
    result: dict[str, Any] = {"hang": True}
    try:
        with trio.move_on_after(LIMIT):
            result = await side.run(placed, number)
    finally:
        server.forget(name, number)
    return {**result, "requests": visitor.requests, "unused": len(visitor.answers)}
