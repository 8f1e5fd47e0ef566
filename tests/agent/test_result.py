"""`RunResult`: what a run came to, for its caller."""

from __future__ import annotations

from traceback import extract_tb

import attrs
import pytest

from pi_trio.agent.agent import Agent
from pi_trio.agent.result import RunFailedError, RunResult, total_usage
from pi_trio.errors import PiTrioError
from pi_trio.messages import Usage

from .scripting import MODEL, USAGE, Script, assistant, at, call, result, tool, user


async def outcome_of(*answers: object, text: str = "go") -> RunResult:
    agent = Agent(model=MODEL, stream_fn=Script(*answers), tools=[tool("work", lambda *args: result())])
    return await agent.prompt(text)


async def test_a_good_run() -> None:
    outcome = await outcome_of(assistant("let me see", call("t1")), assistant("it is ", "five"))
    assert [message.role for message in outcome.messages] == ["user", "assistant", "toolResult", "assistant"]
    assert outcome.text == "it is five"
    assert (outcome.stop_reason, outcome.error_message, outcome.errors) == ("stop", None, ())
    assert outcome.raise_for_error() is outcome
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        outcome.text = "six"  # type: ignore[misc]


async def test_the_usage_of_all_answers_together() -> None:
    outcome = await outcome_of(assistant(call("t1")), assistant("x"))
    assert outcome.usage == total_usage([USAGE, USAGE])
    assert (outcome.usage.input, outcome.usage.total_tokens, outcome.usage.cost.total) == (20, 36, 3)
    assert total_usage([]) == Usage.zero()


@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_a_failed_answer(reason: str) -> None:
    outcome = await outcome_of(assistant("half", stop_reason=reason, error_message="overloaded"))
    assert (outcome.text, outcome.stop_reason, outcome.error_message) == ("half", reason, "overloaded")
    with pytest.raises(RunFailedError, match="overloaded") as raised:
        outcome.raise_for_error()
    assert isinstance(raised.value, PiTrioError)
    assert raised.value.__cause__ is None


async def test_a_failed_answer_without_a_text() -> None:
    outcome = await outcome_of(assistant(stop_reason="aborted"))
    with pytest.raises(RunFailedError, match="the run was aborted"):
        outcome.raise_for_error()


@pytest.mark.parametrize("reason", ["length", "deferred", "toolUse", "somethingNew"])
async def test_other_stop_reasons_are_no_failures(reason: str) -> None:
    outcome = await outcome_of(assistant("x", stop_reason=reason))
    assert outcome.stop_reason == reason
    assert outcome.raise_for_error() is outcome


async def test_an_exception_is_kept_with_its_traceback() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    error = ValueError("no")

    def fail() -> None:
        raise error

    at(agent, "message_update", fail)
    outcome = await agent.prompt("go")
    assert outcome.errors == (error,)
    assert extract_tb(error.__traceback__)[-1].name == "fail"
    with pytest.raises(RunFailedError) as raised:
        outcome.raise_for_error()
    assert raised.value.__cause__ is error


async def test_a_run_tells_only_of_itself() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(assistant("one"), assistant("two")), messages=[user("old")])
    await agent.prompt("first")
    outcome = await agent.prompt("second")
    assert [message.role for message in outcome.messages] == ["user", "assistant"]
    assert outcome.usage == USAGE
