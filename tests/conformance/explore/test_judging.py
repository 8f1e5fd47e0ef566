"""What is asked of the runtime at rest and at the end: each question can be answered with no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pi_trio.agent.agent import Agent
from pi_trio.conformance.explore.conversation import Conversation
from pi_trio.conformance.explore.guest import Guest, quiet_house
from pi_trio.conformance.explore.judging import FaultFound
from pi_trio.conformance.explore.replay import replay
from pi_trio.conformance.explore.rulings import entered
from pi_trio.conformance.explore.token import Token, TokenError
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scripting import T1, agent, command, finish, play, prompt, response, steer, tool

from .searching import house

CALL = [{**prompt("go"), "op": "p1"}, *play((response(T1)[-1],)), finish("t1", "ok")]


def fault_of(steps: list[Any], prepare: Callable[[Conversation], object] = lambda _: None) -> str:
    """The fault that a conversation shows, or nothing."""
    held = house()
    with quiet_house():
        try:
            conversation = Conversation(held, agent(tools=[tool("a")]), ())
            prepare(conversation)
            for step in steps:
                conversation.step(step)
            conversation.finish()
        except FaultFound as found:
            return found.fault.name
        finally:
            held.close()
    return ""


def test_a_good_conversation_has_no_fault() -> None:
    assert fault_of(CALL) == ""


def test_a_state_that_says_otherwise_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Agent, "signal", property(lambda _: None))
    assert fault_of(CALL[:1]) == "REST: a run has no signal"


def test_a_task_that_is_left_over_is_a_fault() -> None:
    async def forever() -> None:
        import trio

        await trio.sleep_forever()

    def leave(conversation: Conversation) -> None:
        there = conversation._house.guest().conversation
        assert there is not None
        there.exchange.nursery.start_soon(forever)

    assert fault_of(CALL[:1], leave) == "REST: 2 tasks for 1 operations"


def test_what_goes_otherwise_when_it_is_played_again_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[Any] = []
    original = Agent.steer

    def steer_twice(self: Agent, message: Any) -> None:
        queued.append(message)
        for _ in range(len(queued)):
            original(self, message)

    monkeypatch.setattr(Agent, "steer", steer_twice)
    steps = [steer("psst"), *CALL, command("state")]
    assert fault_of(steps).startswith(("REPLAY", "QUEUE"))


def test_a_crash_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(_: Agent, __: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Agent, "steer", explode)
    assert fault_of([steer("psst")]).startswith("CRASH: it raised ZeroDivisionError")


def test_a_guest_does_again_what_it_was_told() -> None:
    held = house()
    with quiet_house():
        conversation = Conversation(held, agent(tools=[tool("a")]), ())
        for step in CALL:
            conversation.step(step)
        guest: Guest = held.guest()
        assert guest.replayed() is None
        command_sent, said = guest.told[-1]
        guest.told[-1] = (command_sent, [*said, {"tell": "unhandled", "error": "no"}])
        assert guest.replayed() == command_sent
        held.close()


# --- tokens and rulings ---------------------------------------------------------------------------------------


def scenario(*steps: Any) -> Scenario:
    return Scenario(name="explored", title="T.", topic="x", create=agent(tools=[tool("a")]), steps=steps)


def test_a_token_is_read_back() -> None:
    token = Token("pi-1.0.3", scenario(*CALL))
    assert Token.read(token.text()) == token
    assert Token.read(f" {token.text()[:40]}\n{token.text()[40:]} ") == token


@pytest.mark.parametrize(
    "word", ["", "pt1-", "pt1-%%", "pt2-abc", "pt1-AAAA", Token("p", scenario()).text()[:-8]]
)
def test_a_damaged_token_is_refused(word: str) -> None:
    with pytest.raises(TokenError):
        Token.read(word)


def test_a_scenario_is_played_again_and_judged() -> None:
    held = house()
    with quiet_house():
        played = replay(held, None, scenario(*CALL))
    assert played.fault is None
    assert played.run.wire
    assert played.run.lines[-1] == {"end": "open"}


@pytest.mark.parametrize(
    ("sent", "ruling"),
    [
        ({"cmd": "answer", "ask": {"fn": "listener", "nth": 0}, "throw": "no"}, "D-01"),
        ({"cmd": "answer", "ask": {"fn": "finishTurn", "nth": 0}, "throw": "no"}, "D-02"),
        ({"cmd": "fail", "ask": {"fn": "streamFn", "nth": 0}, "error": "no"}, "D-01"),
        ({"cmd": "end", "ask": {"fn": "streamFn", "nth": 0}}, "D-05"),
        ({"cmd": "answer", "ask": {"fn": "execute", "key": "t1", "nth": 0}}, "D-12"),
    ],
)
def test_a_ruling_is_entered(sent: Any, ruling: str) -> None:
    assert ruling in entered([{"send": sent}])


def test_what_is_a_tools_own_error_enters_no_ruling() -> None:
    throws = [
        {"cmd": "answer", "ask": {"fn": fn, "key": "t1", "nth": 0}, "throw": "no"}
        for fn in ("execute", "afterToolCall")
    ]
    assert entered([{"send": each} for each in throws]) == frozenset()


def test_a_second_start_enters_a_ruling() -> None:
    start = {"send": {"cmd": "push", "ask": {"fn": "streamFn", "nth": 0}, "event": {"type": "start"}}}
    assert entered([start]) == frozenset()
    assert entered([start, start]) == {"D-06"}
