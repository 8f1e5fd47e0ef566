"""Runs that fail: a listener that throws at each type of event, and what becomes of the work under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_trio.conformance.scripting import (
    AB,
    ABC,
    DONE,
    SEQUENTIAL,
    T1,
    T2,
    T3,
    TOOL_HOOKS,
    Events,
    Object,
    Step,
    abort,
    after,
    command,
    continue_,
    crash,
    fails_at,
    finish,
    follow_up,
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
    throws,
    tool,
    topic,
    until,
    update,
    wait_for_idle,
)

_A = tool("a")
TWO = response(T1, T2)
HELLO = response("hello")
START, UPDATE, END = "tool_execution_start", "tool_execution_update", "tool_execution_end"

_BOTH_RETURN: tuple[Step, ...] = (finish("t1", "A"), finish("t2", "B"))

# Event type: what the failure does, and what the script does between the prompt and the next one.
_FAILING: dict[str, tuple[str, tuple[Step, ...]]] = {
    "agent_start": ("nothing of the run happens, the prompt is not in the transcript", ()),
    "turn_start": ("the prompt is not in the transcript", ()),
    "message_start": ("the prompt's message is lost", ()),
    "message_update": ("the open answer is never ended, its later events go nowhere", ()),
    "message_end": ("the prompt's message is in the transcript, the second listener lacks its end", ()),
    START: ("no tool runs, and no call has an end or a result", ()),
    UPDATE: (
        "the run fails when the tool has returned, the other tool runs on",
        (update("t1", "half"), *_BOTH_RETURN),
    ),
    END: ("failure events at once while the other tool runs on, and no call has a result", _BOTH_RETURN),
    "turn_end": ("a second turn_end follows, the results are kept", _BOTH_RETURN),
    "agent_end": ("a good run gets a failure message and a second agent_end", _BOTH_RETURN),
}

_BEFORE_REQUEST = ("agent_start", "turn_start", "message_start", "message_end")
_TOLD_IN_FULL = "the failure has no such event and is told in full"
_ALWAYS = {
    "message_start": "the failure's own message is not excepted, so prompt rejects and there is no agent_end",
    "message_end": "the failure's own message is not excepted, so prompt rejects and there is no agent_end",
    "turn_end": "the failure's own is not excepted, so prompt rejects and there is no agent_end",
    "agent_end": "the second one is not excepted, so prompt rejects",
}


def _failing_listeners() -> Iterator[Object]:
    """Two calls, then text; L fails at one type of event, once and always, and M listens behind it."""
    for event, (effect, steps) in _FAILING.items():
        set_up: Object = {"tools": AB, "hooks": TOOL_HOOKS, "listeners": ["L", "M"], "told": ["M"]}
        yield scenario(
            f"listener_throws_{event}",
            f"A listener fails once at {event}: {effect}; the next prompt works.",
            responses=[DONE] if event in _BEFORE_REQUEST else [TWO, DONE, DONE],
            rules=[fails_at("L", event)],
            steps=[prompt("go"), *steps, prompt("again")],
            **set_up,
        )
        yield scenario(
            f"listener_always_throws_{event}",
            f"A listener fails at every {event}: {_ALWAYS.get(event, _TOLD_IN_FULL)}.",
            responses=[TWO, DONE, DONE],
            rules=[fails_at("L", event, None)],
            steps=[prompt("go"), *steps, prompt("again"), state()],
            **set_up,
        )


def _orphans(
    name: str,
    title: str,
    *steps: Step,
    responses: Sequence[Events] = (TWO, DONE),
    rules: Sequence[Object] = (fails_at("L", END),),
) -> Object:
    """Two parallel calls; the first one's end makes L fail, and the steps say what the second does then."""
    return scenario(
        name,
        title,
        tools=AB,
        hooks=["afterToolCall"],
        listeners=["L", "M"],
        told=["M"],
        responses=responses,
        rules=rules,
        steps=[prompt("go"), *steps],
    )


SCENARIOS = topic(
    "failure",
    *_failing_listeners(),
    scenario(
        "second_listener_throws",
        "The second listener fails at turn_start: the first has heard that event, and both hear the failure.",
        listeners=["L", "M", "N"],
        told=["L", "N"],
        responses=[DONE],
        rules=[fails_at("M", "turn_start")],
        steps=[prompt("go")],
    ),
    scenario(
        "listener_throws_at_failure_message",
        "A listener fails at the failure's own message: the rest is skipped and prompt rejects.",
        listeners=["L", "M"],
        told=[],
        responses=[DONE, DONE],
        rules=[
            fails_at("L", "turn_start"),
            fails_at("M", "message_end"),
        ],
        steps=[prompt("go"), state(), prompt("again")],
    ),
    scenario(
        "listener_throws_at_result",
        "A listener fails at the first result's end: that one is in the transcript, the second is lost.",
        tools=AB,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", "message_end", 2), returns("t1", "A"), returns("t2", "B")],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "listener_throws_at_answer",
        "A listener fails at the answer's message_end: the call in it never starts.",
        tools=[_A],
        listeners=["L", "M"],
        told=["M"],
        responses=[response(T1), DONE],
        rules=[fails_at("L", "message_end", 1)],
        steps=[prompt("go"), messages(), prompt("again")],
    ),
    scenario(
        "listener_throws_at_second_start",
        "A listener fails at the second call's start: the first, prepared, never runs and never ends.",
        tools=AB,
        hooks=TOOL_HOOKS,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", START, 1)],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "listener_throws_at_steered_message",
        "A listener fails at a steered message: it is in no queue and in no transcript.",
        listeners=["L"],
        told=[],
        responses=[None, DONE],
        rules=[fails_at("L", "message_start", 2)],
        steps=[prompt("go"), steer("s1"), steer("s2"), play(HELLO), state(), command("peekQueued")],
    ),
    scenario(
        "continue_drained_message_lost",
        "What continue drained is lost when the run fails before it is said.",
        listeners=["L"],
        told=[],
        state={"messages": [DONE[-1]["message"]]},
        responses=[DONE],
        rules=[fails_at("L", "turn_start")],
        steps=[steer("s1"), steer("s2"), continue_(), state(), command("peekQueued")],
    ),
    scenario(
        "failed_run_keeps_queues",
        "A run that fails in its first request leaves both queues as they are; continue then delivers them.",
        responses=[throws("streamFn", "no route"), response("one"), response("two")],
        steps=[prompt("go"), follow_up("f1"), steer("s1"), continue_()],
    ),
    _orphans(
        "failed_run_leaves_tool_running_end_after_idle",
        "A tool returns after its run has failed: afterToolCall is asked, its end reaches nobody.",
        wait_for_idle(),
        state(),
        finish("t1", "A"),
        state(),
        finish("t2", "B"),
        state(),
    ),
    _orphans(
        "failed_run_update_after_idle",
        "The run has failed and settled; progress of the other tool is an error that nobody handles.",
        finish("t1", "A"),
        update("t2", "half"),
        finish("t2", "B"),
    ),
    _orphans(
        "failed_run_tool_leaks_into_next_run",
        "A tool of a failed run reports and returns during the next run: it is heard there.",
        finish("t1", "A"),
        prompt("again"),
        play(until("text_delta", HELLO), 1),
        update("t2", "half"),
        finish("t2", "B"),
        push(after("text_delta", HELLO), 1),
        responses=[TWO],
    ),
    _orphans(
        "failed_run_tool_ends_during_failure_events",
        "A listener holds the failure's agent_end: the other tool's update and end come behind it.",
        finish("t1", "A"),
        update("t2", "half"),
        finish("t2", "B"),
        release("L", "agent_end"),
        rules=[fails_at("L", END), holds_event("L", "agent_end")],
    ),
    _orphans(
        "failed_run_held_update_after_agent_end",
        "An update that L still holds when the run fails reaches M behind agent_end.",
        update("t2", "half"),
        finish("t1", "A"),
        release("L", UPDATE),
        finish("t2", "B"),
        rules=[fails_at("L", END), holds_event("L", UPDATE)],
    ),
    _orphans(
        "failed_run_orphan_tool_not_abortable",
        "After a failed run waitForIdle resolves at once and abort does not reach the tool that still runs.",
        finish("t1", "A"),
        wait_for_idle(),
        abort(),
        finish("t2", "B"),
    ),
    scenario(
        "failed_run_abort_reaches_tool_during_failure",
        "While the failure is still being told, abort does reach the tool that runs on.",
        tools=AB,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", END), holds_event("L", "message_start", 2)],
        steps=[prompt("go"), finish("t1", "A"), abort(), release("L", "message_start", 2), finish("t2", "B")],
    ),
    scenario(
        "failed_run_stream_goes_on",
        "A listener fails at the first update: the stream is not stopped, its later events go nowhere.",
        listeners=["L", "M"],
        told=["M"],
        responses=[None, DONE],
        rules=[fails_at("L", "message_update")],
        steps=[prompt("go"), play(HELLO[:2]), abort(), push(HELLO[2:]), messages(), prompt("again")],
    ),
    scenario(
        "failed_run_sequential_orphan",
        "Sequential, a listener fails at the first end: the other calls never start, none has a result.",
        tools=ABC,
        hooks=TOOL_HOOKS,
        settings=SEQUENTIAL,
        listeners=["L", "M"],
        told=["M"],
        responses=[response(T1, T2, T3), DONE],
        rules=[fails_at("L", END)],
        steps=[prompt("go"), finish("t1", "A"), messages(), prompt("again")],
    ),
    scenario(
        "listener_throws_at_update_tool_throws",
        "The error of an update's delivery wins over the tool's own.",
        tools=[_A],
        hooks=["afterToolCall"],
        listeners=["L"],
        told=[],
        responses=[response(T1), DONE],
        rules=[fails_at("L", UPDATE)],
        steps=[
            prompt("go"),
            update("t1", "half"),
            crash("t1", "broken"),
            messages(),
        ],
    ),
    scenario(
        "listener_throws_at_update_while_tool_runs_second_tool_events",
        "A listener fails at one tool's update: the other still ends, then the run fails.",
        tools=AB,
        hooks=["afterToolCall"],
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", UPDATE)],
        steps=[prompt("go"), update("t1", "half"), finish("t2", "B"), finish("t1", "A"), state()],
    ),
    scenario(
        "two_failures_in_one_batch",
        "Two ends fail one after the other: the first failure ends the run, the second is heard by nobody.",
        tools=AB,
        listeners=["L", "M"],
        told=["M"],
        responses=[TWO, DONE],
        rules=[fails_at("L", END, None), holds_event("L", "message_start", 2)],
        steps=[prompt("go"), finish("t1", "A"), finish("t2", "B"), release("L", "message_start", 2)],
    ),
)
