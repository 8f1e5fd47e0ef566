"""Two things in one step: what the script does in one synchronous stretch, and what it causes there.

Five things come together in pairs, in the stream, in a tool batch and at the end of a run: an abort, a steered
message, a report of progress behind its tool's return, and a listener that holds an event; the fifth, a listener that
fails, has a module of its own. Either order is played where the order can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_trio.conformance.scripting import (
    AB,
    ABORTED,
    CALL,
    DONE,
    END,
    HALF,
    HELLO,
    LATE,
    OK,
    REST,
    START,
    TWO,
    UPDATE,
    A,
    Events,
    Object,
    Step,
    abort,
    at_once,
    break_off,
    continue_,
    crash,
    finish,
    holds_event,
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

OPENED, TEXT, LAST = HELLO[:1], HELLO[1:-1], HELLO[-1]
STOPPED = break_off(HALF, "aborted", "stopped")


def _second_answer(
    name: str,
    title: str,
    *steps: Step,
    responses: Sequence[Events | None] = (CALL, None),
    rules: Sequence[Object] = (),
    **given: Any,
) -> Object:
    """The tool of the first turn has returned; the steps say what happens in the second answer."""
    return scenario(
        name,
        title,
        tools=A,
        responses=responses,
        rules=[*rules, OK],
        steps=[prompt("go"), *steps],
        **given,
    )


SCENARIOS = topic(
    "together",
    # Abort and a steered message.
    scenario(
        "together_abort_and_steer_in_stream",
        "Abort and a steered message during text: the message stays queued, and continue delivers it.",
        responses=[None, DONE],
        steps=[prompt("go"), play(HALF), at_once(abort(), steer("s1")), push(STOPPED), state(), continue_()],
    ),
    scenario(
        "together_abort_and_steer_in_tools",
        "Abort, a steered message and the tool's return: the message is said before the aborted answer.",
        tools=A,
        responses=[CALL, ABORTED],
        steps=[prompt("go"), at_once(abort(), steer("s1"), finish("t1", "A")), state()],
    ),
    scenario(
        "together_abort_and_steer_at_end",
        "The answer's end, abort and a steered message: a turn follows that asks with a raised signal.",
        responses=[None, ABORTED],
        steps=[prompt("go"), play(HELLO[:-1]), at_once(push(LAST), abort(), steer("s1")), state()],
    ),
    # Abort and a late report.
    scenario(
        "together_abort_and_late_update_in_tools",
        "The tool's return, abort and a report: the report is still told, its listener gets a raised signal.",
        tools=A,
        hooks=["afterToolCall"],
        told=[],
        responses=[CALL, ABORTED],
        steps=[prompt("go"), at_once(finish("t1", "A"), abort(), LATE)],
    ),
    scenario(
        "together_late_update_and_abort_in_tools",
        "The tool's return, a report and abort: the signal reaches the listener in the report's delivery.",
        tools=A,
        hooks=["afterToolCall"],
        told=[],
        responses=[CALL, ABORTED],
        steps=[prompt("go"), at_once(finish("t1", "A"), LATE, abort())],
    ),
    _second_answer(
        "together_abort_and_late_update_in_stream",
        "Abort during text and a report of a tool that has returned long ago: only the abort has an effect.",
        play(HALF, 1),
        at_once(abort(), LATE),
        push(STOPPED, 1),
    ),
    _second_answer(
        "together_abort_and_late_update_at_end",
        "Abort and a late report while a listener holds agent_end: neither has an effect.",
        at_once(LATE, abort()),
        release("L", "agent_end"),
        state(),
        told=[],
        responses=[CALL, DONE],
        rules=[holds_event("L", "agent_end")],
    ),
    # Abort and a listener that holds an event.
    scenario(
        "together_abort_and_hold_in_stream",
        "A delta and abort: the listener that keeps its update has a raised signal, the rest waits for it.",
        told=[],
        responses=[None],
        rules=[holds_event("L", "message_update", 1)],
        steps=[
            prompt("go"),
            play(HELLO[:2]),
            at_once(push(HELLO[2]), abort()),
            push(STOPPED),
            release("L", "message_update", 1),
        ],
    ),
    scenario(
        "together_abort_and_release_in_tools",
        "Abort, and the listener lets go of the first call's start: both calls are aborted.",
        tools=AB,
        hooks=["beforeToolCall"],
        told=[],
        responses=[TWO, ABORTED],
        rules=[holds_event("L", START)],
        steps=[prompt("go"), at_once(abort(), release("L", START))],
    ),
    scenario(
        "together_release_and_abort_in_tools",
        "The listener lets go of the first call's start, and abort: it comes before the preparation.",
        tools=AB,
        hooks=["beforeToolCall"],
        told=[],
        responses=[TWO, ABORTED],
        rules=[holds_event("L", START)],
        steps=[prompt("go"), at_once(release("L", START), abort())],
    ),
    scenario(
        "together_abort_and_hold_of_end_in_tools",
        "A tool's return and abort: its end is kept by a listener while the other tool lets go.",
        tools=AB,
        hooks=["afterToolCall"],
        told=[],
        responses=[TWO, ABORTED],
        rules=[holds_event("L", END)],
        steps=[
            prompt("go"),
            at_once(finish("t1", "A"), abort()),
            crash("t2", "let go"),
            release("L", END),
        ],
    ),
    scenario(
        "together_abort_and_hold_at_end",
        "The answer's end and abort: a listener keeps turn_end, then the run ends as a good one.",
        told=[],
        responses=[None],
        rules=[holds_event("L", "turn_end")],
        steps=[
            prompt("go"),
            play(HELLO[:-1]),
            at_once(push(LAST), abort()),
            state(),
            release("L", "turn_end"),
            state(),
        ],
    ),
    # A steered message and a late report.
    scenario(
        "together_steer_and_late_update_in_tools",
        "The tool's return, a steered message and a report: the report precedes the end, the message follows.",
        tools=A,
        responses=[CALL, DONE],
        steps=[prompt("go"), at_once(finish("t1", "A"), steer("s1"), LATE)],
    ),
    _second_answer(
        "together_steer_and_late_update_in_stream",
        "A late report and a steered message during text: the report is dropped, the message has its turn.",
        play(HALF, 1),
        at_once(LATE, steer("s1")),
        push(REST, 1),
        responses=[CALL, None, DONE],
    ),
    _second_answer(
        "together_steer_and_late_update_at_end",
        "The last answer's end, a steered message and a late report: one turn more, without the report.",
        play(HELLO[:-1], 1),
        at_once(push(LAST, 1), steer("s1"), LATE),
        responses=[CALL, None, DONE],
    ),
    # A steered message and a listener that holds an event.
    scenario(
        "together_steer_and_hold_in_stream",
        "A delta and a steered message: a listener keeps the update, and the message waits for the turn's end.",
        told=[],
        responses=[None, DONE],
        rules=[holds_event("L", "message_update")],
        steps=[
            prompt("go"),
            play(OPENED),
            at_once(push(TEXT), steer("s1")),
            release("L", "message_update"),
            push(LAST),
        ],
    ),
    scenario(
        "together_steer_and_hold_in_tools",
        "A tool's return and a steered message: a listener keeps the end, and the message waits for the batch.",
        tools=AB,
        told=[],
        responses=[TWO, DONE],
        rules=[holds_event("L", END)],
        steps=[
            prompt("go"),
            at_once(finish("t1", "A"), steer("s1")),
            finish("t2", "B"),
            release("L", END),
        ],
    ),
    scenario(
        "together_release_and_steer_at_end",
        "The listener lets go of the last turn_end, and a message is steered: it still has its turn.",
        told=[],
        responses=[DONE, DONE],
        rules=[holds_event("L", "turn_end")],
        steps=[prompt("go"), at_once(release("L", "turn_end"), steer("s1"))],
    ),
    scenario(
        "together_steer_and_release_at_agent_end",
        "A message is steered, and the listener lets go of agent_end: it stays for the next run.",
        told=[],
        responses=[DONE, DONE],
        rules=[holds_event("L", "agent_end")],
        steps=[prompt("go"), at_once(steer("s1"), release("L", "agent_end")), state(), prompt("again")],
    ),
    # A late report and a listener that holds an event.
    scenario(
        "together_late_update_and_hold_in_tools",
        "The tool's return and a report: the listener keeps both reports, and the end waits for the late one.",
        tools=A,
        hooks=["afterToolCall"],
        told=[],
        responses=[CALL, DONE],
        rules=[holds_event("L", UPDATE, None)],
        steps=[
            prompt("go"),
            update("t1", "half"),
            at_once(finish("t1", "A"), LATE),
            release("L", UPDATE, 0),
            release("L", UPDATE, 1),
        ],
    ),
    scenario(
        "together_late_update_and_release_in_tools",
        "A late report, and the listener lets go of the one that holds up the end: the late one is dropped.",
        tools=A,
        told=[],
        responses=[CALL, DONE],
        rules=[holds_event("L", UPDATE)],
        steps=[
            prompt("go"),
            update("t1", "half"),
            finish("t1", "A"),
            at_once(LATE, release("L", UPDATE)),
        ],
    ),
    scenario(
        "together_late_update_and_release_of_end",
        "A late report, and the listener lets go of the tool's end: the report is dropped.",
        tools=A,
        told=[],
        responses=[CALL, DONE],
        rules=[holds_event("L", END)],
        steps=[prompt("go"), finish("t1", "A"), at_once(release("L", END), LATE)],
    ),
    _second_answer(
        "together_late_update_and_hold_in_stream",
        "A delta and a late report: a listener keeps the update of the answer, the report is dropped.",
        play(OPENED, 1),
        at_once(push(TEXT, 1), LATE),
        release("L", "message_update", 2),
        push(LAST, 1),
        told=[],
        rules=[holds_event("L", "message_update", 2)],
    ),
    _second_answer(
        "together_late_update_and_release_at_end",
        "A late report, and the listener lets go of agent_end: nothing is told any more.",
        at_once(LATE, release("L", "agent_end")),
        state(),
        told=[],
        responses=[CALL, DONE],
        rules=[holds_event("L", "agent_end")],
    ),
)
