"""Nothing is left of a request, whatever ends it, and wherever: no socket, no task, no generator.

`filterwarnings = error` finds the generators and sockets that nobody has closed; the server tells whether a client has
hung up.
"""

from __future__ import annotations

import gc
from random import Random
from typing import Any

import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.codec import structure
from pi_trio.messages import Model
from pi_trio.models.dialect import dialect_of

from .cases import Case, of_release, trickled
from .decisions import APIS, RELEASES
from .faults import cases_of
from .our_side import adapter_of, context_of, options_of
from .server import open_server

CASES = 8

NEWEST = RELEASES[-1]

#: How soon a client must have hung up, in seconds, on a busy machine.
SOON = 10


class StopError(Exception):
    """What a reader raises that has had enough."""


@pytest.mark.parametrize(
    "how", ["cancel", "raise", "leave", "abort", "cancel while held", "abort while held"]
)
@pytest.mark.parametrize("api", APIS)
async def test_nothing_is_left_behind(api: str, how: str) -> None:
    chance = Random(how)
    held = [case for case in map(trickled, cases_of(api, seed=5, count=CASES * 2)) if case is not None]
    async with open_server() as server:
        for number, case in enumerate(held[:CASES]):
            await _stopped(server, of_release(case, NEWEST), number, how, chance.randrange(8))
    gc.collect()


async def _stopped(server: Any, case: Case, number: int, how: str, when: int) -> None:
    controller = AbortController()
    scope = trio.CancelScope()
    ends = {"cancel": scope.cancel, "abort": controller.abort}
    holds = 0

    async def waits(kind: str) -> None:
        nonlocal holds
        holds += 1
        if (holds > when or kind == "abort") and how.endswith("held"):
            await trio.lowlevel.checkpoint()
            ends[how.split(maxsplit=1)[0]]()
        elif kind == "abort":
            controller.abort()

    placed, visitor = server.place(case, "o", number, waits)
    adapter = adapter_of(case["api"])
    call = placed["calls"][0]
    options = options_of(call["options"], controller, dialect_of(NEWEST))
    make = adapter.stream_simple if call.get("simple") else adapter.stream
    try:
        with scope:
            async with make(
                structure(placed["model"], Model), context_of(call["context"]), options
            ) as stream:
                events = 0
                async for _ in stream:
                    events += 1
                    if events > when:
                        if how == "raise":
                            raise StopError
                        if how == "leave":
                            break
                        if how in ends:
                            ends[how]()
    except* StopError:
        pass
    with trio.fail_after(SOON):
        await visitor.gone()
    server.forget("o", number)
