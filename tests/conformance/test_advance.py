"""The tester moves the clock of who has one, and asks nobody else to."""

from __future__ import annotations

from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.needs import missing, needs
from pi_trio.conformance.scenario import Scenario

from .conftest import HELLO, reply, tell

COMMANDS: list[str] = list(HELLO["commands"])  # type: ignore[call-overload]
SCENARIO = Scenario(
    name="x",
    title="A tool times out.",
    topic="t",
    steps=[{"cmd": "prompt", "op": "p1", "input": "go"}, {"cmd": "advance", "ms": 60_000}],
)


async def test_a_virtual_clock_is_moved(peer) -> None:
    acts = [None, [reply()], [tell("settled", op="p1", ok=True), reply()]]
    with_clock = peer(acts, hello={"commands": [*COMMANDS, "advance"]})
    async with open_keeper(with_clock.opener()) as keeper:
        run = await keeper.drive(SCENARIO)
    assert {"cmd": "advance", "ms": 60_000} in [line.get("send") for line in run.lines]
    assert run.lines[-1] == {"end": "settled"}
    needed = needs(SCENARIO, run.lines)
    assert missing(needed, HELLO) == ("command advance",)
    assert missing(needed, {**HELLO, "commands": [*COMMANDS, "advance"]}) == ()
