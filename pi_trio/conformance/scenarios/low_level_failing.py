"""The loop alone when something fails: the error is raised and not told, and what was said until then stays."""

from __future__ import annotations

from collections.abc import Iterator

from pi_trio.conformance.scripting import (
    AB,
    ABORTED,
    CALL,
    DONE,
    END,
    FINISH,
    NEXT,
    OK,
    REQUEST,
    REQUEST_HOOKS,
    START,
    TOOL_HOOKS,
    TWO,
    UPDATE,
    WORD,
    A,
    Object,
    abort,
    after,
    broken,
    command,
    end_stream,
    fails_at,
    finish,
    holds_event,
    loop,
    messages,
    play,
    prompt,
    push,
    release,
    throws,
    topic,
    until,
    update,
)

_WHERE = {
    REQUEST: ("prepare_request", "before the second request"),
    "transformContext": ("transform_context", "before the second request"),
    "convertToLlm": ("convert_to_llm", "before the second request"),
    "getApiKey": ("get_api_key", "before the second request"),
    NEXT: ("prepare_next_turn", "between the turns"),
    FINISH: ("finish_turn", "behind the results"),
}


def _throwing() -> Iterator[Object]:
    """Each hook whose error is the run's fails, as soon as there has been a tool turn."""
    for hook, (name, where) in _WHERE.items():
        nth = 1 if hook in REQUEST_HOOKS else 0
        yield loop(
            f"loop_{name}_throws",
            f"When {hook} fails {where} the run is rejected with its error and nothing more is said.",
            tools=A,
            hooks=[hook],
            responses=[CALL, DONE, DONE],
            rules=[OK, throws(hook, f"{hook} failed", nth=nth)],
            steps=[prompt("go"), messages(), prompt("again"), messages()],
        )


SCENARIOS = topic(
    "low_level",
    loop(
        "loop_provider_error",
        "A provider's error is an answer: the turn ends, no queue is polled, the run ends well.",
        tools=A,
        hooks=[FINISH],
        responses=[broken(until("toolcall_end", CALL))],
        steps=[prompt("go"), messages()],
    ),
    loop(
        "loop_provider_aborted",
        "A provider ends as aborted without an abort: the turn ends, no queue is polled, the run ends well.",
        responses=[ABORTED, DONE],
        steps=[prompt("go"), prompt("again")],
    ),
    loop(
        "loop_stream_function_throws",
        "A stream function fails: the run is rejected with its error, and its prompt is not in the context.",
        responses=[throws("streamFn", "no route"), DONE],
        steps=[prompt("go"), messages(), prompt("again"), messages()],
    ),
    loop(
        "loop_stream_iteration_throws",
        "Reading a stream fails behind a delta: the run is rejected, and the open answer is never ended.",
        responses=[None, DONE],
        steps=[
            prompt("go"),
            play(until("text_delta", WORD)),
            command("fail", ask={"fn": "streamFn", "nth": 0}, error="connection lost"),
            prompt("again"),
        ],
    ),
    *_throwing(),
    loop(
        "loop_stream_ends_without_result",
        "A stream ends without a result: nothing is open any more, and the run never settles.",
        responses=[None],
        steps=[prompt("go"), play(until("text_delta", WORD)), end_stream()],
    ),
    loop(
        "loop_listener_throws",
        "A listener fails at the prompt's message: the one behind it does not hear of that, and nothing follows.",
        listeners=["L", "M"],
        told=["M"],
        responses=[DONE],
        rules=[fails_at("L", "message_start")],
        steps=[prompt("go"), messages(), prompt("again")],
    ),
    loop(
        "loop_listener_throws_at_agent_end",
        "A listener fails at agent_end: a run that was complete is rejected, and adds nothing.",
        listeners=["L", "M"],
        told=["M"],
        responses=[DONE, DONE],
        rules=[fails_at("L", "agent_end")],
        steps=[prompt("go"), messages(), prompt("again")],
    ),
    loop(
        "loop_listener_throws_in_stream",
        "A listener fails at an update of the answer: the run is rejected, and the stream is not stopped.",
        listeners=["L", "M"],
        told=["M"],
        responses=[None, DONE],
        rules=[fails_at("L", "message_update")],
        steps=[
            prompt("go"),
            play(until("text_delta", WORD)),
            abort(),
            push(after("text_delta", WORD)),
            prompt("again"),
        ],
    ),
    loop(
        "loop_listener_throws_in_tools",
        "A listener fails at a call's end while another tool runs: that one is heard behind the rejection.",
        tools=AB,
        hooks=["afterToolCall"],
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", END)],
        steps=[
            prompt("go"),
            finish("t1", "A"),
            abort(),
            update("t2", "half"),
            finish("t2", "B"),
            prompt("again"),
        ],
    ),
    loop(
        "loop_listener_throws_at_update",
        "A listener fails at a report of progress: the run fails when the tool has returned.",
        tools=AB,
        listeners=["L"],
        told=[],
        responses=[TWO, DONE],
        rules=[fails_at("L", UPDATE)],
        steps=[prompt("go"), update("t1", "half"), finish("t1", "A"), finish("t2", "B"), prompt("again")],
    ),
    loop(
        "loop_listener_throws_while_update_held",
        "A listener fails at a call's end while it keeps a report of another: the run is rejected at once.",
        tools=AB,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO],
        rules=[fails_at("L", END), holds_event("L", UPDATE)],
        steps=[
            prompt("go"),
            update("t2", "half"),
            finish("t1", "A"),
            release("L", UPDATE),
            finish("t2", "B"),
        ],
    ),
    loop(
        "loop_listener_throws_at_second_start",
        "A listener fails at the second call's start: neither call runs, and neither ends.",
        tools=AB,
        hooks=TOOL_HOOKS,
        listeners=["L"],
        told=[],
        responses=[TWO, DONE],
        rules=[fails_at("L", START, 1)],
        steps=[prompt("go"), messages(), prompt("again")],
    ),
)
