"""A call's way to its tool: its arguments prepared and validated, and the hook that may change or block it."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import BeforeToolCallResult
from pi_trio.events import ToolExecutionEnd, ToolExecutionStart
from pi_trio.jsonvalue import ABSENT
from pi_trio.messages import ToolCall
from pi_trio.tools.tool import UpdateFn

from .calling import NUMBERS, agent_with
from .scripting import (
    MODEL,
    Recorder,
    Script,
    assistant,
    call,
    result,
    result_texts,
    results_of,
    text_of,
    tool,
    yielding,
)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n": "seven"}, 'Validation failed for tool "work":'),
        ({}, 'Validation failed for tool "work":'),
    ],
)
async def test_invalid_arguments_never_reach_the_tool(arguments: Any, text: str) -> None:
    reached: list[Any] = []
    agent = agent_with(
        call("t1", **arguments),
        execute=reached.append,
        parameters=NUMBERS,
        before_tool_call=lambda context, signal: reached.append(context),
        after_tool_call=lambda context, signal: reached.append(context),
    )
    await agent.prompt("go")
    assert result_texts(agent)[0].startswith(text)
    assert reached == []


async def test_the_tool_gets_validated_arguments_and_events_tell_the_raw_ones() -> None:
    got: list[Any] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        got.append(args)
        args["mine"] = True
        return result()

    agent = agent_with(call("t1", n="42", s=5), execute=work, parameters=NUMBERS)
    heard = Recorder(agent)
    await agent.prompt("go")
    assert got == [{"n": 42, "s": "5", "mine": True}]
    assert heard.of(ToolExecutionStart)[0].args == {"n": "42", "s": 5}


async def test_prepare_arguments_comes_before_validation() -> None:
    got: list[Any] = []

    def prepare(arguments: Any) -> Any:
        if "bad" in arguments:
            raise ValueError("cannot prepare")
        arguments["n"] = 1
        return arguments

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        got.append(args)
        return result()

    agent = Agent(
        model=MODEL,
        tools=[tool("work", work, NUMBERS, prepare_arguments=prepare)],
        stream_fn=Script(assistant(call("t1"), call("t2", bad=True))),
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    assert got == [{"n": 1}]
    assert result_texts(agent) == ["ok", "cannot prepare"]
    assert [event.args for event in heard.of(ToolExecutionStart)] == [{}, {"bad": True}]


async def test_of_two_tools_with_a_name_the_first_is_called() -> None:
    agent = agent_with(call("t1"), execute=lambda *args: result("first"))
    agent.tools = [*agent.tools, tool("work", lambda *args: result("second"))]
    await agent.prompt("go")
    assert result_texts(agent) == ["first"]


@pytest.mark.parametrize("pause", [None, yielding])
async def test_before_tool_call_may_change_the_arguments_in_place(pause: Any) -> None:
    got: list[Any] = []

    def change(context: Any, signal: AbortSignal) -> Any:
        context.args["n"] = "no number at all"  # not validated again
        context.args["list"].append(2)
        return None if pause is None else pause("")

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        got.append(args)
        return result()

    agent = agent_with(call("t1", n=1, list=[1]), execute=work, parameters=NUMBERS, before_tool_call=change)
    heard = Recorder(agent)
    await agent.prompt("go")
    assert got == [{"n": "no number at all", "list": [1, 2]}]
    assert heard.of(ToolExecutionStart)[0].args == {"n": 1, "list": [1]}
    assert results_of(agent.messages)[0].is_error is False


async def test_what_before_tool_call_sees() -> None:
    seen: list[Any] = []
    agent = agent_with(
        "text", call("t1", n="1"), execute=lambda *args: result(), parameters=NUMBERS,
        before_tool_call=lambda context, signal: seen.append((context, signal)),
    )  # fmt: skip
    signals: list[AbortSignal] = []
    agent.subscribe(lambda event, signal: signals.append(signal))
    await agent.prompt("go")
    ((context, signal),) = seen
    assert context.assistant_message is agent.messages[2]
    assert context.tool_call == call("t1", n="1")
    assert context.args == {"n": 1}
    assert context.context.messages == agent.messages[:3]
    assert context.context.tools == agent.tools
    assert all(one is signal for one in signals)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (BeforeToolCallResult(block=True, reason="not today"), "not today"),
        (BeforeToolCallResult(block=1), "Tool execution was blocked"),
        (BeforeToolCallResult(block="yes", reason=""), "Tool execution was blocked"),
        (BeforeToolCallResult(block=False, reason="not today"), "worked"),
        (BeforeToolCallResult(reason="not today"), "worked"),
        (None, "worked"),
    ],
)
async def test_before_tool_call_may_block(answer: Any, text: str) -> None:
    after: list[Any] = []
    agent = agent_with(
        call("t1"), execute=lambda *args: result("worked"), before_tool_call=lambda context, signal: answer,
        after_tool_call=lambda context, signal: after.append(context),
    )  # fmt: skip
    heard = Recorder(agent)
    await agent.prompt("go")
    (message,) = results_of(agent.messages)
    blocked = text != "worked"
    assert text_of(message) == text
    assert message.is_error is blocked
    assert message.details == ({} if blocked else ABSENT)
    assert len(after) == (0 if blocked else 1)
    assert (heard.of(ToolExecutionEnd)[0].duration_ms is None) is blocked


async def test_before_tool_call_raises() -> None:
    def refuse(context: Any, signal: AbortSignal) -> None:
        raise PermissionError("never")

    agent = agent_with(call("t1"), call("t2"), execute=lambda *args: result(), before_tool_call=refuse)
    outcome = await agent.prompt("go")
    assert result_texts(agent) == ["never", "never"]
    assert outcome.stop_reason == "stop"


async def test_an_unfinished_call_is_refused_with_what_the_provider_says() -> None:
    broken = ToolCall(id="t1", name="work", arguments={}, arguments_error="unexpected end")
    agent = agent_with(broken, execute=lambda *args: result())
    await agent.prompt("go")
    assert result_texts(agent) == ['Invalid arguments for tool "work": unexpected end']
