"""What is open when a run fails, and how each thing is closed; and the streams that nobody finishes.

Each scenario is the smallest one for a sentence of a ruling: a call in a state in which a failure can find it, a
response that fails at its own start, a message that was taken from its queue and not said.
"""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.scripting import (
    AB,
    ABC,
    DONE,
    SEQUENTIAL,
    T1,
    T2,
    T3,
    Object,
    Step,
    abort,
    answer,
    answers,
    assistant,
    broken,
    call,
    command,
    continue_,
    declaration,
    done,
    end_stream,
    fail_listener,
    fails_at,
    finish,
    follow_up,
    holds,
    holds_event,
    messages,
    play,
    prompt,
    push,
    release,
    response,
    returns,
    scenario,
    state,
    steer,
    system,
    throws,
    tool,
    topic,
    until,
    update,
)

_A = tool("a")
TWO = response(T1, T2)
HELLO = response(("Hel", "lo"))
HALF = until("text_delta", HELLO)
START, UPDATE, END = "tool_execution_start", "tool_execution_update", "tool_execution_end"


def _ends(
    name: str, title: str, *steps: Step, rules: tuple[Object, ...], hooks: tuple[str, ...] = ()
) -> Object:
    """Two parallel calls, the end of one makes L fail; the rules say what of the other is open then."""
    return scenario(
        name,
        title,
        tools=AB,
        hooks=hooks,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO],
        rules=rules,
        steps=[prompt("go"), *steps],
    )


def _endless(name: str, title: str, *steps: Step, **given: Any) -> Object:
    """A stream that ends without a result; the steps feed it, and end it."""
    return scenario(name, title, responses=[None], steps=[prompt("hi"), *steps], **given)


SCENARIOS = topic(
    "failure",
    # Calls.
    _ends(
        "failed_run_after_tool_call_open",
        "A listener fails at a call's end while afterToolCall of the other waits; the hook's answer is late.",
        finish("t1", "A"),
        finish("t2", "B"),
        answer("afterToolCall", {"isError": True}, key="t1"),
        messages(),
        hooks=("afterToolCall",),
        rules=(holds("afterToolCall", key="t1"), fails_at("L", END)),
    ),
    _ends(
        "failed_run_update_held_of_finished_tool",
        "A listener fails at a call's end while it holds an update of the other, whose tool has returned.",
        update("t1", "half"),
        finish("t1", "A"),
        finish("t2", "B"),
        release("L", UPDATE),
        messages(),
        rules=(holds_event("L", UPDATE), fails_at("L", END)),
    ),
    _ends(
        "failed_run_end_held",
        "A listener fails at a call's end while it still holds the end of the other.",
        finish("t1", "A"),
        finish("t2", "B"),
        release("L", END),
        messages(),
        rules=(holds_event("L", END), fails_at("L", END, 1)),
    ),
    _ends(
        "failed_run_end_held_and_abort",
        "Abort after the failure, while a delivery is still under way that the closing has to wait for.",
        finish("t1", "A"),
        finish("t2", "B"),
        abort(),
        release("L", END),
        rules=(holds_event("L", END), fails_at("L", END, 1)),
    ),
    scenario(
        "failed_run_truncated_calls",
        "A listener fails at the second start of three calls in a message cut off by the token limit.",
        tools=ABC,
        listeners=["L", "M"],
        told=["M"],
        responses=[response(T1, T2, T3, stop="length")],
        rules=[fails_at("L", START, 1)],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "failed_run_second_start",
        "A listener fails at the second start of three parallel calls: one is launched, one was never started.",
        tools=ABC,
        listeners=["L", "M"],
        told=["M"],
        responses=[response(T1, T2, T3)],
        rules=[fails_at("L", START, 1)],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "failed_run_sequential_result_start",
        "Sequential, a listener fails at the message_start of the first of three results.",
        tools=ABC,
        settings=SEQUENTIAL,
        listeners=["L", "M"],
        told=["M"],
        responses=[response(T1, T2, T3)],
        rules=[fails_at("L", "message_start", 2), returns("t1", "A")],
        steps=[prompt("go"), messages()],
    ),
    # The response.
    scenario(
        "failed_run_answer_start",
        "A listener fails at the answer's own message_start, which the stream's start has caused.",
        listeners=["L", "M"],
        told=["M"],
        responses=[HELLO, DONE],
        rules=[fails_at("L", "message_start", 1)],
        steps=[prompt("go"), prompt("again")],
    ),
    scenario(
        "failed_run_answer_without_start",
        "A listener fails at the message_start of a whole answer without start, which holds a call.",
        tools=[_A],
        listeners=["L", "M"],
        told=["M"],
        responses=[(done(assistant("on it", T1, stop="toolUse")),), DONE],
        rules=[fails_at("L", "message_start", 1)],
        steps=[prompt("go"), prompt("again")],
    ),
    scenario(
        "failed_run_errored_turn_end",
        "A listener fails at the turn_end of an answer that was an error: the run has two errors to tell.",
        listeners=["L", "M"],
        told=["M"],
        responses=[broken(HALF, says="429 too many requests"), DONE],
        rules=[fails_at("L", "turn_end")],
        steps=[prompt("go"), state(), prompt("again")],
    ),
    # Listeners.
    scenario(
        "two_listeners_throw_at_one_event",
        "Two listeners fail at one turn_start, and a third hears it behind them.",
        listeners=["L", "M", "N"],
        told=["N"],
        rules=[fails_at("L", "turn_start"), fails_at("M", "turn_start")],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "two_listeners_throw_at_agent_end",
        "Two listeners fail at the agent_end of a good run; both hear the next run.",
        listeners=["L", "M", "N"],
        told=["N"],
        responses=[DONE, DONE],
        rules=[fails_at("L", "agent_end"), fails_at("M", "agent_end")],
        steps=[prompt("go"), state(), prompt("again")],
    ),
    # Streams that nobody finishes.
    _endless(
        "stream_ends_empty",
        "A stream ends without any event and without a result.",
        play(()),
        end_stream(),
        state(),
    ),
    _endless(
        "stream_ends_after_abort",
        "Abort during text, and the stream ends without a result.",
        play(HALF),
        abort(),
        end_stream(),
        state(),
    ),
    _endless(
        "stream_ends_finish_turn",
        "A stream ends without a result: finishTurn sees the answer, and its continue counts for nothing.",
        play(HALF),
        end_stream(),
        hooks=["finishTurn"],
        rules=[answers("finishTurn", {"action": "continue"})],
    ),
    # What the state shows.
    scenario(
        "stream_double_start_state",
        "The state around a second start in the middle of a text.",
        snapshot=True,
        responses=[None],
        steps=[
            prompt("hi"),
            play(HALF),
            push({"type": "start", "partial": assistant("Anew", stop="pending")}),
            state(),
            push(HELLO[len(HALF) :]),
        ],
    ),
    scenario(
        "tool_duplicate_call_ids_state",
        "The pending calls while three run of which the first and the last have one id.",
        snapshot=True,
        tools=ABC,
        responses=[response(T1, T2, call("t1", "c")), DONE],
        steps=[prompt("go"), finish("t1", "A"), finish("t1", "C", 1), finish("t2", "B")],
    ),
    # Queues.
    scenario(
        "failed_run_steering_all_half_said",
        "Two messages steered at once, the run fails when one of them is said; a third was steered meanwhile.",
        listeners=["L"],
        told=[],
        settings={"steeringMode": "all"},
        responses=[None, DONE],
        rules=[holds_event("L", "message_end", 2)],
        steps=[
            prompt("go"),
            steer("s1"),
            steer("s2"),
            play(HELLO),
            steer("s3"),
            fail_listener("L", "message_end", 2),
            state(),
            command("peekQueued"),
            continue_(),
        ],
    ),
    scenario(
        "failed_run_follow_up_drained",
        "The run fails at the turn_start for which the first of two follow-ups was taken.",
        listeners=["L"],
        told=[],
        responses=[None, DONE, DONE],
        rules=[fails_at("L", "turn_start", 1)],
        steps=[
            prompt("go"),
            follow_up("f1"),
            follow_up("f2"),
            play(HELLO),
            command("peekQueued"),
            continue_(),
        ],
    ),
    scenario(
        "failed_run_steering_drained",
        "The run fails at the turn_start for which a steered message was taken; a prompt follows.",
        listeners=["L"],
        told=[],
        responses=[None, DONE],
        rules=[fails_at("L", "turn_start", 1)],
        steps=[prompt("go"), steer("s1"), play(HELLO), state(), prompt("again")],
    ),
    scenario(
        "failed_continue_steering_drained",
        "A continue fails before the steered message is said with which it began; a prompt follows.",
        listeners=["L"],
        told=[],
        state={"messages": [assistant("done")]},
        responses=[DONE],
        rules=[fails_at("L", "turn_start")],
        steps=[steer("s1"), continue_(), state(), prompt("again")],
    ),
    scenario(
        "prepare_next_turn_throws_with_follow_up",
        "prepareNextTurn fails and a follow-up is queued; a prompt follows.",
        hooks=["prepareNextTurn"],
        responses=[response("one"), DONE, DONE],
        rules=[throws("prepareNextTurn", "no room", nth=0)],
        steps=[follow_up("f1"), prompt("go"), state(), prompt("again")],
    ),
    scenario(
        "failed_run_system_message_drained",
        "The run fails before a steered system message is said whose tools are not those that can run.",
        tools=[_A],
        listeners=["L"],
        told=[],
        settings={"steeringMode": "all"},
        responses=[None],
        rules=[fails_at("L", "message_start", 2)],
        steps=[
            prompt("go"),
            steer("s1"),
            steer(system("rules", toolsAdded=[declaration(tool("b"))])),
            play(HELLO),
            command("peekQueued"),
        ],
    ),
)
