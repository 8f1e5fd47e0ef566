"""Real Pi in conversations that nobody has written: it does as the runtime, or otherwise where that is on record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio

from pi_trio.conformance.explore.conversation import House
from pi_trio.conformance.explore.guest import quiet_house
from pi_trio.conformance.explore.remote import Lockstep, Player, beside
from pi_trio.conformance.explore.replay import replay
from pi_trio.conformance.explore.search import search
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scripting import (
    agent,
    answer,
    assistant,
    at_once,
    call,
    done,
    finish,
    holds,
    holds_event,
    play,
    prompt,
    release,
    tool,
)
from pi_trio.conformance.subjects.choice import release_of_pi

from ..conformance.explore.searching import house

pytestmark = pytest.mark.upstream


@pytest.fixture
def both(any_pi) -> Iterator[tuple[House, Lockstep]]:
    """A house in which all that is made up is also played on a release."""
    name, opener = trio.run(release_of_pi, any_pi.release, 30, print)
    held = house(f"pi-{name}")
    with quiet_house(), Player(opener) as player:
        yield held, beside(held, player)


def test_a_release_does_as_the_runtime_in_what_nobody_has_written(both: tuple[House, Lockstep]) -> None:
    held, lockstep = both
    outcome = search(held, lockstep, conversations=40, start=1)
    assert outcome.found == {}
    assert outcome.unoffered == {}
    assert outcome.compared > 40 * 15


#: Two calls that are about to end; one of them goes on behind its hook, the other behind a listener.
RACE = Scenario(
    name="race", title="Two calls race.", topic="batch",
    create={
        **agent(tools=[tool("a"), tool("b")], hooks=["afterToolCall"], listeners=["L", "M"]),
        "tellListeners": ["M"],
    },
    answers=[holds("afterToolCall"), holds_event("L", "tool_execution_end", None)],
    steps=[
        {**prompt("go"), "op": "p1"},
        *play([done(assistant(call("t1", "a"), call("t2", "b")))]),
        finish("t1", "ok"),
        finish("t2", "ok"),
        answer("afterToolCall", key="t1"),
        at_once(answer("afterToolCall", key="t2"), release("L", "tool_execution_end")),
    ],
)  # fmt: skip


def test_which_of_two_calls_is_first_behind_a_burst_is_nobodys_fault(both: tuple[House, Lockstep]) -> None:
    held, lockstep = both
    played = replay(held, lockstep, RACE)
    assert played.fault is None
    assert lockstep.raced == 1, "if it is none, the runtime has come to do as Pi here, and that is to be said"
