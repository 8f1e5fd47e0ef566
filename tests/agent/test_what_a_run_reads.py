"""What a run reads of its agent, and when: most of it once, at its start."""

from __future__ import annotations

from typing import Any

import attrs

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import NextTurn
from pi_trio.events import AgentEvent

from .calling import work
from .scripting import MODEL, Script, answers_of, assistant, call, results_of, text_of, tool


async def test_what_a_run_reads_at_its_start_is_fixed() -> None:
    agent = Agent(model=MODEL, thinking_level="high", tools=[tool("work", work)])
    other = attrs.evolve(MODEL, id="m-2")
    called: list[str] = []

    def change(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_start":
            agent.model = other
            agent.thinking_level = "off"
            agent.tools = []
            agent.tool_execution = "sequential"
            agent.finish_turn = lambda turn, signal: called.append("finish_turn")  # type: ignore[assignment, func-returns-value]

    script = Script(assistant(call("t1")), assistant("done"))
    agent.stream_fn = script
    unsubscribe = agent.subscribe(change)
    await agent.prompt("go")
    assert [request.model.id for request in script.requests] == ["m-1", "m-1"]
    assert [request.options.reasoning for request in script.requests] == ["high", "high"]
    assert [text_of(message) for message in results_of(agent.messages)] == ["t1 worked"]
    assert called == []
    assert agent.state.model.id == "m-2"
    unsubscribe()
    await agent.prompt("go")
    assert script.requests[-1].model.id == "m-2"
    assert script.requests[-1].options.reasoning is None
    assert called == ["finish_turn"]


async def test_prepare_next_turn_is_looked_up_at_each_call() -> None:
    agent = Agent(model=MODEL, tools=[tool("work", work)])
    called: list[str] = []

    def first(signal: AbortSignal) -> None:
        called.append("first")
        agent.prepare_next_turn = second

    def second(signal: AbortSignal) -> None:
        called.append("second")
        agent.prepare_next_turn_with_context = third

    def third(turn: Any, signal: AbortSignal) -> NextTurn | None:
        called.append("third")
        agent.prepare_next_turn_with_context = agent.prepare_next_turn = None
        return None

    agent.prepare_next_turn = first
    agent.stream_fn = Script(*(assistant(call(f"t{n}")) for n in range(5)))
    await agent.prompt("go")
    assert called == ["first", "second", "third"]


async def test_options_reach_the_stream_function() -> None:
    def on_payload(*args: Any) -> None: ...
    def on_response(*args: Any) -> None: ...
    def on_event(*args: Any) -> None: ...

    script = Script()
    agent = Agent(
        model=MODEL,
        thinking_level="low",
        stream_fn=script,
        session_id="s-1",
        thinking_budgets={"low": 100},
        transport="sse",
        max_retry_delay_ms=0,
        identity={"session": "x"},
        on_payload=on_payload,
        on_response=on_response,
        on_provider_stream_event=on_event,
        get_api_key=lambda provider: f"key of {provider}",
    )
    await agent.prompt("go")
    options = script.requests[0].options
    assert (options.session_id, options.transport, options.max_retry_delay_ms) == ("s-1", "sse", 0)
    assert options.thinking_budgets == {"low": 100}
    assert (options.on_payload, options.on_response) == (on_payload, on_response)
    assert options.on_provider_stream_event is on_event
    assert options.reasoning == "low"
    assert options.api_key == "key of tests"
    assert "key of tests" not in repr(options)
    assert options.identity is not None
    assert options.identity["session"] == "x"
    assert options.identity["attribution"] == {
        "name": "pi",
        "url": "https://pi.dev",
        "categories": ["cli-agent"],
    }
    assert script.requests[0].context.system_prompt is None
    assert script.requests[0].context.tools is None
    assert answers_of(agent.messages)[0].thinking_level == "low"
