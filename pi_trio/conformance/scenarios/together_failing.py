"""A listener that fails, together in one step with an abort, a steered message, a late report or a held event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_trio.conformance.scripting import (
    AB,
    CALL,
    DONE,
    END,
    HELLO,
    LATE,
    OK,
    TWO,
    UPDATE,
    A,
    Events,
    Object,
    Step,
    abort,
    at_once,
    continue_,
    fail_listener,
    fails_at,
    finish,
    holds_event,
    messages,
    play,
    prompt,
    push,
    release,
    scenario,
    state,
    steer,
    topic,
    update,
)


def _told(
    name: str,
    title: str,
    *steps: Step,
    responses: Sequence[Events | None] = (None,),
    rules: Sequence[Object],
    listeners: Sequence[str] = ("L", "M"),
    told: Sequence[str] = ("M",),
    **given: Any,
) -> Object:
    """L is asked, and M behind it is told what L leaves to hear."""
    return scenario(
        name,
        title,
        listeners=listeners,
        told=told,
        responses=responses,
        rules=rules,
        steps=[prompt("go"), *steps],
        **given,
    )


def _in_stream(name: str, title: str, *steps: Step, responses: Sequence[Events | None] = (None,)) -> Object:
    """L keeps the answer's first update when the steps begin."""
    rules = [holds_event("L", "message_update")]
    return _told(name, title, play(HELLO[:2]), *steps, responses=responses, rules=rules)


def _in_tools(name: str, title: str, *steps: Step) -> Object:
    """L keeps the end of the first of two calls when the steps begin; the second tool runs."""
    return _told(
        name,
        title,
        finish("t1", "A"),
        *steps,
        tools=AB,
        hooks=["afterToolCall"],
        responses=[TWO, DONE],
        rules=[holds_event("L", END)],
    )


def _at(event: str, name: str, title: str, *steps: Step) -> Object:
    """L keeps an event of a text run's end when the steps begin."""
    return _told(name, title, *steps, responses=[DONE, DONE], rules=[holds_event("L", event)])


SCENARIOS = topic(
    "together",
    # And abort.
    _in_stream(
        "together_abort_and_failure_in_stream",
        "Abort, and the listener fails at an update of the answer: the run fails as aborted.",
        at_once(abort(), fail_listener("L", "message_update")),
        messages(),
    ),
    _in_stream(
        "together_failure_and_abort_in_stream",
        "The listener fails at an update of the answer, and abort: the run fails as aborted all the same.",
        at_once(fail_listener("L", "message_update"), abort()),
        messages(),
    ),
    _in_tools(
        "together_abort_and_failure_in_tools",
        "Abort, and the listener fails at a call's end: the other tool has the signal when the run fails.",
        at_once(abort(), fail_listener("L", END)),
        finish("t2", "B"),
        messages(),
    ),
    _in_tools(
        "together_failure_and_abort_in_tools",
        "The listener fails at a call's end, and abort: it still reaches the other tool.",
        at_once(fail_listener("L", END), abort()),
        finish("t2", "B"),
        messages(),
    ),
    _at(
        "turn_end",
        "together_failure_and_abort_at_end",
        "The listener fails at the last turn_end, and abort: a run with a good answer fails as aborted.",
        at_once(fail_listener("L", "turn_end"), abort()),
        state(),
    ),
    _at(
        "agent_end",
        "together_abort_and_failure_at_agent_end",
        "Abort, and the listener fails at agent_end.",
        at_once(abort(), fail_listener("L", "agent_end")),
        state(),
    ),
    # And a steered message.
    _in_stream(
        "together_steer_and_failure_in_stream",
        "A message is steered, and the listener fails at an update: it stays queued, continue delivers it.",
        at_once(steer("s1"), fail_listener("L", "message_update")),
        state(),
        continue_(),
        responses=[None, DONE],
    ),
    _in_tools(
        "together_failure_and_steer_in_tools",
        "The listener fails at a call's end, and a message is steered: it stays queued.",
        at_once(fail_listener("L", END), steer("s1")),
        finish("t2", "B"),
        state(),
        continue_(),
    ),
    _at(
        "turn_end",
        "together_steer_and_failure_at_end",
        "A message is steered, and the listener fails at the last turn_end: no turn more, it stays queued.",
        at_once(steer("s1"), fail_listener("L", "turn_end")),
        state(),
        continue_(),
    ),
    # And a late report.
    _told(
        "together_late_update_and_failure_in_tools",
        "The tool's return and a report at which the listener fails: no end is told for the call.",
        at_once(finish("t1", "A"), LATE),
        messages(),
        tools=A,
        hooks=["afterToolCall"],
        responses=[CALL],
        rules=[fails_at("L", UPDATE)],
    ),
    _in_tools(
        "together_update_and_failure_in_tools",
        "The other tool reports, and the listener fails at a call's end: the report is told before the failure.",
        at_once(update("t2", "half"), fail_listener("L", END)),
        finish("t2", "B"),
    ),
    _in_tools(
        "together_failure_and_update_in_tools",
        "The listener fails at a call's end, and the other tool reports in the same stretch.",
        at_once(fail_listener("L", END), update("t2", "half")),
        finish("t2", "B"),
    ),
    _told(
        "together_failure_and_late_update_in_stream",
        "The listener fails at an update of the second answer, and a tool reports that has returned long ago.",
        play(HELLO[:2], 1),
        at_once(fail_listener("L", "message_update", 2), LATE),
        tools=A,
        responses=[CALL, None],
        rules=[holds_event("L", "message_update", 2), OK],
    ),
    _told(
        "together_late_update_and_failure_at_agent_end",
        "A tool reports that has returned long ago, and the listener fails at agent_end.",
        at_once(LATE, fail_listener("L", "agent_end")),
        tools=A,
        responses=[CALL, DONE],
        rules=[holds_event("L", "agent_end"), OK],
    ),
    # And a listener that holds an event.
    _told(
        "together_hold_and_failure_in_stream",
        "One listener lets go of an update in the stretch of the next one, and another fails at the first.",
        play(HELLO[:2]),
        at_once(push(HELLO[2]), release("M", "message_update")),
        messages(),
        listeners=["M", "L", "N"],
        told=["N"],
        rules=[holds_event("M", "message_update"), fails_at("L", "message_update")],
    ),
    _told(
        "together_hold_and_failure_in_tools",
        "Two tools return: the listener keeps the first end and fails at the second.",
        at_once(finish("t1", "A"), finish("t2", "B")),
        release("L", END),
        messages(),
        tools=AB,
        hooks=["afterToolCall"],
        responses=[TWO, DONE],
        rules=[holds_event("L", END), fails_at("L", END, 1)],
    ),
    _told(
        "together_hold_and_failure_at_end",
        "The answer's end: one listener fails at turn_end, and the one behind it keeps the first that it gets.",
        release("M", "turn_end"),
        state(),
        told=[],
        responses=[DONE],
        rules=[fails_at("L", "turn_end"), holds_event("M", "turn_end")],
    ),
    _told(
        "together_hold_and_failure_at_agent_end",
        "The run's end: one listener fails at agent_end, and the one behind it keeps the first that it gets.",
        release("M", "agent_end"),
        state(),
        told=[],
        responses=[DONE],
        rules=[fails_at("L", "agent_end"), holds_event("M", "agent_end")],
    ),
)
