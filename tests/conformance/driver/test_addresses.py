"""Asks are found by address too: which one is meant, and that a whole script can be told without ids."""

from __future__ import annotations

import pytest
import trio

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside

from ..by_address import by_address
from .talk import BYE, CALL, RESULT, TOOL, USER, talking

RUNTIME = runtime_inside("pi-1.6.0", 30)


def test_every_command_on_an_ask_may_name_it_by_address() -> None:
    """Every sixth scenario, those with bursts and odd streams: told by addresses, they go as they do told by ids."""
    scenarios = [
        each
        for at, each in enumerate(all_scenarios())
        if at % 6 == 0 or "same_tick" in each.name or each.name.startswith("stream_")
    ]
    with first_in_first_out():
        by_id = trio.run(consult_runtime, RUNTIME, scenarios)
        addressed = trio.run(consult_runtime, by_address(RUNTIME), scenarios)
    told = set[str]()
    for name, run in by_id.items():
        other = addressed[name]
        assert isinstance(run, Run)
        assert isinstance(other, Run)
        assert fingerprint(other.lines) == fingerprint(run.lines), name
        parts = [line["send"] for line in run.lines if "send" in line]
        told |= {part["cmd"] for command in parts for part in command.get("cmds", [command]) if "ask" in part}
    assert told == {"answer", "update", "push", "end", "fail"}


async def test_what_an_address_leaves_out_matches_everything() -> None:
    async with talking() as talk:
        await talk.create(listeners=["L", "M"], tools=[TOOL])
        await talk.do("prompt", op="p1", input=USER)
        for address in (
            {"fn": "listener"},  # agent_start for L
            {"fn": "listener", "nth": 1},  # for M
            {"fn": "listener", "key": "L", "nth": 1},  # turn_start for L
            {"fn": "listener", "key": "M", "event": "turn_start"},
        ):
            assert await talk.do("answer", ask=address) is None
        assert talk.brief()[4:] == ["message_start"]


@pytest.mark.parametrize(
    "address",
    [
        {"fn": "execute"},
        {"fn": "listener", "nth": 1},
        {"fn": "listener", "key": "M"},
        {"fn": "listener", "event": "turn_start"},
        {"fn": "listener", "nth": -1},
        {"fn": "listener", "nth": "0"},
        ["listener"],
        None,
        7,
    ],
)
async def test_an_address_without_an_ask_is_an_error_of_the_driver(address) -> None:
    async with talking() as talk:
        await talk.create(listeners=["L"])
        await talk.do("prompt", op="p1", input=USER)
        for command in ("answer", "update", "push", "end", "fail"):
            fields = {"value": RESULT, "event": BYE, "error": "x"}
            reply = await talk.reply(command, ask=address, **fields)
            assert reply["error"].startswith("driver: ")
        assert talk.brief() == ["agent_start"]


async def test_an_answered_ask_keeps_its_place() -> None:
    async with talking() as talk:
        await talk.create(tools=[TOOL])
        await talk.do("prompt", op="p1", input=USER)
        await talk.stream(CALL)
        first = {"fn": "execute", "key": "t1", "nth": 0}
        assert await talk.do("update", ask=first, value=RESULT) is None
        assert await talk.do("answer", ask=first, value=RESULT) is None
        assert await talk.do("update", ask=first, value=RESULT) is None  # a late one
        assert "answered already" in (await talk.reply("answer", ask=first, value=RESULT))["error"]
        assert await talk.do("answer", ask={"fn": "streamFn", "nth": 1}, value="stream") is None
