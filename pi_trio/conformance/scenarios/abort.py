"""Abort before and during a response: the signal is raised, and the provider decides how it ends."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.scripting import (
    AB,
    ABORTED,
    DONE,
    T1,
    T2,
    T3,
    TOOL_HOOKS,
    Object,
    abort,
    after,
    answer,
    at_once,
    break_off,
    call,
    fail_stream,
    follow_up,
    holds,
    holds_event,
    play,
    prompt,
    push,
    release,
    response,
    returns,
    scenario,
    state,
    steer,
    throw,
    tool,
    topic,
    until,
    wait_for_idle,
)

_A = tool("a")
CALL = response(T1)
TWO = response(T1, T2)
THREE = response(T1, T2, T3)
HELLO = response(("Hel", "lo"))
STARTED, REST = until("text_delta", HELLO), after("text_delta", HELLO)
BEFORE, AFTER = TOOL_HOOKS
LET_GO = "let go"
"""What a tool says that was stopped by the signal."""


def _held_hook(hook: str, when: str, **fields: Any) -> Object:
    """Abort while the first call of a request hook is open: the request is made all the same."""
    return scenario(
        f"abort_in_{when}",
        f"Abort while {hook} waits: its answer is used, and the request is made with a raised signal.",
        hooks=[hook],
        responses=[ABORTED],
        rules=[holds(hook)],
        steps=[prompt("go"), abort(), answer(hook)],
        **fields,
    )


SCENARIOS = topic(
    "abort",
    scenario(
        "abort_when_idle",
        "Abort before and after a run has no effect on it or on the next.",
        responses=[response("one"), response("two")],
        steps=[abort(), prompt("go"), abort(), prompt("again"), state()],
    ),
    scenario(
        "prompt_and_abort_same_tick",
        "Abort in one stretch with the prompt: the request is made, with a raised signal.",
        responses=[ABORTED],
        steps=[at_once(prompt("go"), abort()), state()],
    ),
    scenario(
        "abort_before_streamfn",
        "Abort while a listener holds turn_start: the prompt, the hooks and the request still follow.",
        hooks=["transformContext", "getApiKey"],
        listeners=["L"],
        told=[],
        responses=[ABORTED],
        rules=[holds_event("L", "turn_start")],
        steps=[prompt("go"), abort(), release("L", "turn_start")],
    ),
    scenario(
        "abort_before_injection",
        "Abort at the turn_start of a drained steering message: it is said before the aborted answer.",
        listeners=["L"],
        told=[],
        responses=[None, ABORTED],
        rules=[holds_event("L", "turn_start", 1)],
        steps=[
            prompt("go"),
            steer("s1"),
            play(HELLO),
            abort(),
            release("L", "turn_start", 1),
            state(),
        ],
    ),
    _held_hook("prepareRequest", "prepare_request"),
    _held_hook("transformContext", "transform_context"),
    _held_hook("convertToLlm", "convert_to_llm"),
    _held_hook("getApiKey", "get_api_key"),
    scenario(
        "abort_before_stream_opens",
        "Abort while the stream function waits: it gets the signal, its stream is read as any other.",
        responses=[None],
        steps=[prompt("go"), abort(), play(ABORTED)],
    ),
    scenario(
        "abort_stream_function_throws",
        "A stream function that fails after an abort ends the run as aborted, not as an error.",
        responses=[None, DONE],
        steps=[prompt("go"), abort(), throw("streamFn", LET_GO), state(), prompt("again")],
    ),
    scenario(
        "abort_in_stream",
        "Abort during text: what the provider still sends is shown, then its aborted message ends the run.",
        responses=[None],
        steps=[
            prompt("go"),
            play(STARTED),
            abort(),
            push(REST[0]),
            push(break_off(STARTED, "aborted", "stopped")),
            state(),
        ],
    ),
    scenario(
        "abort_in_stream_that_throws",
        "Abort during text and the reading fails: the failure message is an aborted one.",
        responses=[None],
        steps=[prompt("go"), play(STARTED), abort(), fail_stream(LET_GO), state()],
    ),
    scenario(
        "abort_and_delta_same_tick",
        "Abort and a delta in one stretch: the delta is shown, with a raised signal.",
        responses=[None],
        steps=[
            prompt("go"),
            play(until("text_start", HELLO)),
            at_once(push(HELLO[2]), abort(), push(break_off(STARTED, "aborted", "stopped"))),
        ],
    ),
    scenario(
        "abort_ignored_by_provider",
        "Abort during an answer that still completes with two calls: both get an aborted result.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[None, ABORTED],
        steps=[prompt("go"), play(until("start", TWO)), abort(), push(after("start", TWO))],
    ),
    scenario(
        "abort_ignored_with_unknown_tool",
        "After an abort neither the tool's name nor its arguments are looked at.",
        tools=[tool("a")],
        responses=[None, ABORTED],
        steps=[prompt("go"), abort(), play(response(call("t1", "nothing"), call("t2", "a", [1])))],
    ),
    scenario(
        "abort_ignored_length",
        "After an abort the calls of a message cut off by the token limit still say that it was cut off.",
        tools=AB,
        responses=[None, ABORTED],
        steps=[prompt("go"), abort(), play(response(T1, T2, stop="length"))],
    ),
    scenario(
        "follow_up_polled_after_abort_ignored",
        "A provider that ignores the abort of a text ends a good turn: the follow-up's turn starts.",
        responses=[None, ABORTED],
        steps=[prompt("go"), play(STARTED), follow_up("f1"), abort(), push(REST)],
    ),
    scenario(
        "abort_hang_provider_never_ends",
        "Abort twice during a stream that goes on: the run stays open until the provider is done.",
        responses=[None],
        steps=[prompt("go"), play(STARTED), abort(), wait_for_idle(), abort(), state(), push(REST)],
    ),
    scenario(
        "abort_in_second_stream",
        "Abort while the answer after a tool turn streams: one aborted message and one agent_end.",
        tools=[_A],
        responses=[CALL],
        rules=[returns("t1", "A")],
        steps=[
            prompt("go"),
            play(STARTED, 1),
            abort(),
            push(break_off(STARTED, "aborted", "stopped"), 1),
            wait_for_idle(),
        ],
    ),
)
