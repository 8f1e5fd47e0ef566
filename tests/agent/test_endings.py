"""D-02, D-03, D-04: how a failed run is closed, exactly; and what `prompt()` then raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import AfterToolCallResult
from pi_trio.events import AgentEnd, AgentEvent, StreamStart, ToolExecutionEnd
from pi_trio.messages import AssistantMessage
from pi_trio.tools.tool import ExecutionMode, UpdateFn

from .calling import work
from .grammar import check
from .scripting import (
    MODEL,
    Recorder,
    Script,
    answers_of,
    assistant,
    brief,
    call,
    result,
    results_of,
    text_of,
    tool,
    user,
)

Listener = Callable[[AgentEvent, AbortSignal], Any]


def raising(words: str, error: BaseException, *, nth: int = 1) -> Listener:
    """Raises at the nth event of a description."""
    seen = [0]

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == words:
            seen[0] += 1
            if seen[0] == nth:
                raise error

    return listener


async def told_after(words: str, *, nth: int = 1, **options: Any) -> tuple[list[str], Any]:
    """Two calls, then a text; a listener raises there. What is said from there on, and the result."""
    script = Script(assistant("hm", call("t1"), call("t2")), assistant("done"))
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=script, **options)
    heard = Recorder(agent)
    agent.subscribe(raising(words, ValueError("no"), nth=nth))
    outcome = await agent.prompt("go")
    check(heard.events, sequential=agent.tool_execution == "sequential")
    briefs = heard.briefs
    index = [at for at, one in enumerate(briefs) if one == words][nth - 1]
    return briefs[index + 1 :], outcome


FAILURE_IN_A_TURN_OF_ITS_OWN = [
    "turn_start",
    "message_start assistant",
    "message_end assistant",
    "turn_end",
    "agent_end",
]
RESULT = ["message_start toolResult", "message_end toolResult"]


async def test_before_the_first_turn() -> None:
    told, outcome = await told_after("agent_start")
    assert told == FAILURE_IN_A_TURN_OF_ITS_OWN
    assert [message.role for message in outcome.messages] == ["assistant"]


async def test_in_a_turn_without_an_answer() -> None:
    told, _ = await told_after("turn_start")
    assert told == FAILURE_IN_A_TURN_OF_ITS_OWN[1:]


async def test_an_open_message_of_the_user_is_ended_as_it_is() -> None:
    told, outcome = await told_after("message_start user")
    assert told == ["message_end user", *FAILURE_IN_A_TURN_OF_ITS_OWN[1:]]
    assert text_of(outcome.messages[0]) == "go"


@pytest.mark.parametrize("words", ["message_start assistant", "message_update"])
async def test_an_open_answer_is_the_failure_message(words: str) -> None:
    told, outcome = await told_after(
        words, nth=1 if words == "message_start assistant" else 3, thinking_level="low"
    )
    assert told == ["message_end assistant", "turn_end", "agent_end"]
    (failure,) = answers_of(outcome.messages)
    assert (failure.stop_reason, failure.error_message, failure.thinking_level) == ("error", "no", "low")
    assert text_of(failure) == ("" if words == "message_start assistant" else "hm")


async def test_a_complete_answer_keeps_its_turn() -> None:
    told, outcome = await told_after("message_end assistant")
    ends = [f"tool_execution_{what} {one}" for one in ("t1", "t2") for what in ("start", "end")]
    assert told == [
        *[end if "start" in end else f"{end} !" for end in ends], *RESULT, *RESULT, "turn_end",
        *FAILURE_IN_A_TURN_OF_ITS_OWN,
    ]  # fmt: skip
    complete, failure = answers_of(outcome.messages)
    assert (complete.stop_reason, complete.error_message) == ("toolUse", None)
    assert (failure.stop_reason, failure.error_message) == ("error", "no")


async def test_the_failure_message() -> None:
    _, outcome = await told_after("turn_start", thinking_level="low")
    (failure,) = outcome.messages
    assert isinstance(failure, AssistantMessage)
    assert [type(block).__name__ for block in failure.content] == ["TextContent"]
    assert text_of(failure) == ""
    assert (failure.api, failure.provider, failure.model) == (MODEL.api, MODEL.provider, MODEL.id)
    assert failure.usage.total_tokens == 0
    assert failure.thinking_level is None
    assert failure.timestamp > 1_600_000_000_000


async def test_parallel_calls_all_end_before_the_first_is_answered() -> None:
    told, _ = await told_after("tool_execution_start t1")
    assert told == [
        "tool_execution_end t1 !", "tool_execution_start t2", "tool_execution_end t2 !", *RESULT, *RESULT,
        "turn_end", *FAILURE_IN_A_TURN_OF_ITS_OWN,
    ]  # fmt: skip


async def test_sequential_calls_are_closed_one_after_the_other() -> None:
    told, outcome = await told_after("tool_execution_end t1", tool_execution="sequential")
    assert told == [
        *RESULT, "tool_execution_start t2", "tool_execution_end t2 !", *RESULT,
        "turn_end", *FAILURE_IN_A_TURN_OF_ITS_OWN,
    ]  # fmt: skip
    assert [text_of(message) for message in results_of(outcome.messages)] == [
        "t1 worked",
        "Operation aborted",
    ]


async def test_a_call_that_has_its_result_keeps_it() -> None:
    told, outcome = await told_after("message_start toolResult")
    assert told[:3] == ["message_end toolResult", *RESULT]
    assert [text_of(message) for message in results_of(outcome.messages)] == ["t1 worked", "t2 worked"]
    assert [message.is_error for message in results_of(outcome.messages)] == [False, False]


async def test_behind_a_turn() -> None:
    told, outcome = await told_after("turn_end")
    assert told == FAILURE_IN_A_TURN_OF_ITS_OWN
    assert [answer.stop_reason for answer in answers_of(outcome.messages)] == ["toolUse", "error"]


async def test_truncated_calls_get_the_truncation_result() -> None:
    script = Script(assistant(call("t1"), call("t2"), stop_reason="length"))
    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=script)
    heard = Recorder(agent)
    agent.subscribe(raising("tool_execution_start t1", ValueError("no")))
    outcome = await agent.prompt("go")
    check(heard.events)
    results = results_of(outcome.messages)
    assert len(results) == 2
    assert all("hit the output token limit" in text_of(message) for message in results)
    assert heard.briefs[-12:-5] == [
        *RESULT, "tool_execution_start t2", "tool_execution_end t2 !", *RESULT, "turn_end",
    ]  # fmt: skip


async def test_a_failed_hook_of_a_failed_answer_makes_a_second_failure() -> None:
    """S-24, as Pi: the answer's failure is one, the hook's is another; each has its turn."""

    def finish_turn(turn: Any, signal: AbortSignal) -> None:
        raise ValueError("hook")

    failed = assistant("half", stop_reason="error", error_message="overloaded")
    agent = Agent(model=MODEL, stream_fn=Script(failed), finish_turn=finish_turn)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    check(heard.events)
    assert [answer.error_message for answer in answers_of(outcome.messages)] == ["overloaded", "hook"]


async def test_a_second_start_is_the_last_partial_of_a_failed_answer() -> None:
    """D-06: it replaces the partial, so what failed is the second."""
    first, second = (assistant(text, stop_reason="pending") for text in ("first", "second"))

    async def pause(place: str) -> None:
        await trio.lowlevel.checkpoint()
        if place.endswith("result"):
            raise OSError("gone")

    script = Script([StreamStart(partial=first), StreamStart(partial=second)], pause=pause)
    agent = Agent(model=MODEL, stream_fn=script)
    outcome = await agent.prompt("go")
    assert outcome.error_message == "gone"
    assert text_of(outcome.messages[-1]) == "second"


async def test_an_abort_before_the_failure_makes_it_aborted() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == "message_start user":
            agent.abort()
            raise ValueError("no")

    agent.subscribe(listener)
    outcome = await agent.prompt("go")
    assert (outcome.stop_reason, outcome.error_message) == ("aborted", "no")


# --- what prompt() raises ---------------------------------------------------------------------------------


async def test_an_error_at_agent_end_is_raised_after_settlement() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    error = ValueError("at the end")
    heard = Recorder(agent)
    agent.subscribe(raising("agent_end", error))
    behind = Recorder(agent)
    with pytest.raises(ValueError, match="at the end") as raised:
        await agent.prompt("go")
    assert raised.value is error
    assert not hasattr(error, "__notes__")
    assert not agent.state.is_streaming
    assert agent.state.error_message is None
    assert behind.briefs == heard.briefs
    said = check(heard.events)
    assert [message.role for message in said] == ["user", "assistant"]
    assert (await agent.prompt("again")).stop_reason == "stop"


async def test_of_several_errors_of_the_ending_the_first_is_raised_with_the_others_as_notes() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    errors = [ValueError("one"), OSError("two"), KeyError("three")]
    agent.subscribe(raising("turn_start", ArithmeticError("the failure")))
    heard = Recorder(agent)
    for words, error in zip(
        ("message_start assistant", "message_end assistant", "agent_end"), errors, strict=True
    ):
        agent.subscribe(raising(words, error))
    with pytest.raises(ValueError, match="one") as raised:
        await agent.prompt("go")
    assert raised.value is errors[0]
    assert [repr(error) in note for error, note in zip(errors[1:], errors[0].__notes__, strict=True)] == [
        True,
        True,
    ]
    check(heard.events)
    assert agent.state.error_message == "the failure"


async def test_who_fails_in_the_ending_is_dropped_until_settlement() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    heard: list[str] = []

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        heard.append(brief(event))
        if event.type in {"turn_start", "message_start"}:
            raise ValueError(f"at {event.type}")

    agent.subscribe(listener)
    with pytest.raises(ValueError, match="at message_start"):
        await agent.prompt("go")
    assert heard == ["agent_start", "turn_start", "message_start assistant"]
    heard.clear()
    with pytest.raises(ValueError, match="at message_start"):
        await agent.prompt("go")
    assert heard == ["agent_start", "turn_start", "message_start assistant"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("stop"), SystemExit(3)])
async def test_an_interrupt_is_never_only_a_note(interrupt: BaseException) -> None:
    """Whatever failed before it: Ctrl-C ends the program."""
    agent = Agent(model=MODEL, stream_fn=Script())
    agent.subscribe(raising("agent_end", ValueError("at the end")))
    agent.subscribe(raising("agent_end", interrupt))
    with pytest.raises(type(interrupt)):
        await agent.prompt("go")
    assert not agent.state.is_streaming


async def test_an_interrupt_while_a_failure_unwinds_is_not_lost() -> None:
    async def stubborn(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        if call_id == "t1":
            return result()
        try:
            await trio.sleep_forever()
        finally:
            raise KeyboardInterrupt

    agent = Agent(
        model=MODEL, tools=[tool("work", stubborn)], stream_fn=Script(assistant(call("t1"), call("t2")))
    )
    agent.subscribe(raising("tool_execution_end t1", ValueError("no")))
    heard = Recorder(agent)
    with pytest.raises(KeyboardInterrupt):
        await agent.prompt("go")
    check(heard.events)


async def test_an_interrupt_comes_before_an_error_of_the_ending() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    agent.subscribe(raising("turn_start", KeyboardInterrupt()))
    agent.subscribe(raising("agent_end", ValueError("at the end")))
    with pytest.raises(KeyboardInterrupt):
        await agent.prompt("go")


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("field", ["is_error", "terminate", "details", "content"])
async def test_a_hook_that_gives_no_json_makes_an_error_result(field: str, mode: ExecutionMode) -> None:
    """A match object for a flag, say: the hook's fault is the call's result, never the run's end."""

    async def after(context: Any, signal: AbortSignal) -> AfterToolCallResult:
        return AfterToolCallResult(**{field: object()})

    script = Script(assistant(call("t1")), assistant("done"))
    agent = Agent(
        model=MODEL, tools=[tool("work", work)], stream_fn=script, after_tool_call=after, tool_execution=mode
    )
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    check(heard.events, sequential=mode == "sequential")
    assert outcome.stop_reason == "stop"
    assert [event.is_error for event in heard.of(ToolExecutionEnd)] == [True]


async def test_agent_end_lists_all_that_was_said_also_after_a_failure() -> None:
    agent = Agent(
        model=MODEL, stream_fn=Script(assistant(call("t1")), assistant("done")), tools=[tool("work", work)]
    )
    agent.steer(user("steered"))
    heard = Recorder(agent)
    agent.subscribe(raising("message_update", ValueError("no"), nth=3))
    await agent.prompt("go")
    (end,) = heard.of(AgentEnd)
    assert [message.role for message in end.messages] == [
        "user",
        "user",
        "assistant",
        "toolResult",
        "assistant",
    ]
    assert list(end.messages) == [message for message in agent.messages if message.role != "system"]
