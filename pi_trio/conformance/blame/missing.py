"""What it means that a line did not come: why it was due, by what had happened.

The rules of a kind are asked in order. The last one of each kind has no condition, and names a clause that is in
force in every release.
"""

from __future__ import annotations

from typing import Final

from ..fixed_texts import CUT, EMPTY_CONTEXT, NO_RESULT, NOTHING_TO_CONTINUE, PROMPT_REFUSED
from ..monitors.transcript.stage import MANY_TURNS
from .conditions import (
    When,
    a_system_message_came,
    a_turn_is_due,
    aborting,
    all_terminate,
    an_event_came,
    at,
    behind_tools,
    both,
    broken_off,
    call,
    came,
    comes_later,
    continued,
    continued_by_steering,
    cutting,
    decided,
    ended_without_done,
    error_text,
    failing,
    first_turn,
    hooked,
    in_batch,
    judged_by_release,
    late,
    loop,
    nothing_came,
    origin,
    other_origin,
    other_refusal,
    polled_already,
    queued,
    refusal,
    replaced_by,
    returned,
    role,
    scene,
    sequential,
    truncated,
    without_start,
)
from .memory import is_among
from .place import Place
from .rule import Rule, Table, rule

_PREPARE: Final = ("prepareNextTurn", "prepareNextTurnWithContext")
_POLLS: Final = ("getSteeringMessages", "getFollowUpMessages")
_HOOKS_OF_A_REQUEST: Final = ("prepareRequest", "transformContext", "convertToLlm", "getApiKey")
ARGUMENT_RULES: Final = "TOOL-15 TOOL-16 TOOL-17 TOOL-18"


def _steered(place: Place) -> bool:
    return bool(place.scene.steering)


def _followed_up(place: Place) -> bool:
    return bool(place.scene.follow_ups)


def _behind_a_message(place: Place) -> bool:
    """A queued message is due, and another one has just been said."""
    return place.scene.latest == "message_end" and bool(origin("steering", "follow-up")(place))


def _modes_were_set(place: Place) -> bool:
    return "setOption" in place.scene.commands


def _a_call_is_started(place: Place) -> bool:
    """A call is started where no start was to come."""
    return place.came == "tool_execution_start" and place.kind != "tool_execution_start"


def _another_is_launched(place: Place) -> bool:
    """A call is executed while this one is still being prepared."""
    key = place.event.get("toolCallId", place.key)
    return place.came == "execute" and (place.other or {}).get("ask", {}).get("key") != key


def _one_is_late(place: Place) -> bool:
    return any(is_among(message, place.scene.late) for message in place.scene.steering)


def _prompted_a_text(place: Place) -> bool:
    prompts = place.scene.prompts
    return place.scene.prompted < len(prompts) and isinstance(prompts[place.scene.prompted], str)


def _a_queued_message_came(place: Place) -> bool:
    return place.kind != "message_start" and bool(other_origin("steering", "follow-up")(place))


def _rejects(place: Place) -> bool:
    return place.line.get("ok") is False


def _waits(place: Place) -> bool:
    return place.scene.operations.get(place.line.get("op", "")) == "waitForIdle"


def _continues(place: Place) -> bool:
    """It was asked to go on with what there is."""
    return place.scene.command.get("cmd") == "continue"


def _says(text: str) -> When:
    return lambda place: text in str(place.line.get("error", ""))


def _has_given_messages(place: Place) -> bool:
    given = place.scene.created.get("initialState", {}).get("messages")
    return bool(given) or "setMessages" in place.scene.commands


def _cut(fn: str) -> When:
    return lambda place: place.address.get("fn") == fn


_FAILS_THE_RUN: Final = {
    "transformContext": "FAIL-02", "convertToLlm": "FAIL-02", "getApiKey": "FAIL-02", "prepareRequest": "FAIL-37",
    "prepareNextTurn": "FAIL-03", "prepareNextTurnWithContext": "FAIL-03", "finishTurn": "FAIL-04",
    "shouldStopAfterTurn": "FAIL-36",
}  # fmt: skip
"""Hooks whose throw fails the run, with the clause that says so."""


def _decided_otherwise(place: Place) -> bool:
    """The stop hook has answered with something that is no decision."""
    return place.scene.decision not in (None, True, False, "end", "continue")


def _failed_at(name: str) -> When:
    return scene(lambda s: s.failed == name)


def _a_listener_failed(place: Place) -> bool:
    return "_" in place.scene.failed


def _goes_on(place: Place) -> bool:
    """The run does what only one does that goes well."""
    return place.came == "streamFn" or (place.came == "message_start" and not other_origin("answer")(place))


EARLY: Final = (
    rule(
        "FAIL-05", both(scene(lambda s: s.failed in ("stream", "streamFn") and not s.loop), came("streamFn"))
    ),
    rule("FAIL-01", both(_a_listener_failed, scene(lambda s: not s.told and not s.loop), _goes_on)),
    *(
        rule(clause, both(_failed_at(hook), lambda p: not p.scene.loop, came("streamFn", "agent_end")))
        for hook, clause in _FAILS_THE_RUN.items()
    ),
    rule("MSG-09", a_system_message_came),
    rule("TURN-27", other_origin("prepared")),
    rule("FAIL-22", both(failing, _a_call_is_started)),
    rule("ABORT-11", both(aborting, _a_call_is_started)),
    rule("QUEUE-03", both(_a_queued_message_came, in_batch)),
    rule("QUEUE-06", both(_a_queued_message_came, other_origin("follow-up"))),
    rule("QUEUE-02", _a_queued_message_came),
)
"""Asked first, whatever was expected: a queued message that is said too early."""

#: An end with "Operation aborted": what has made it due.
ABORTED_CALL: Final = (
    rule("ABORT-05", came("beforeToolCall")),
    rule("ABORT-21", both(cutting, call(lambda c: c.executed))),
    rule("ABORT-22", both(cutting, call(lambda c: c.asked))),
    rule("ABORT-07", call(lambda c: c.asked and c.before_abort and not c.executed and c.refused)),
    rule("ABORT-08 ABORT-07", call(lambda c: c.before_abort)),
    rule("ABORT-05 ABORT-06", call(lambda c: c.started)),
    rule("ABORT-10 ABORT-11"),
)

_OTHER_END: Final = (
    rule("QUEUE-03", both(_steered, came("tool_execution_end"), other_refusal(""))),
    rule(ARGUMENT_RULES, other_refusal("arguments")),
    rule("TOOL-12", other_refusal("unknown")),
    rule("TOOL-24 TOOL-23", other_refusal("truncated")),
    rule("HOOK-04", other_refusal("blocked")),
    rule("ABORT-09 ABORT-06 ABORT-01", other_refusal("aborted")),
)
"""A call was refused that should have gone on."""

_DUE: Final = (
    rule("TURN-12 TURN-24", both(queued, scene(lambda s: s.decision in ("end", True)))),
    rule("ABORT-14", both(aborting, behind_tools)),
    rule("TURN-21", scene(lambda s: s.turns > MANY_TURNS)),
    rule("TURN-22", both(all_terminate, queued)),
    rule("TURN-07", behind_tools),
    rule("QUEUE-04", both(_steered, _one_is_late)),
    rule("QUEUE-02", _steered),
    rule("QUEUE-06", _followed_up),
    rule("TURN-13", decided("continue")),
)
"""One more turn was due, and did not come."""

REFUSED: Final = (
    rule("RUN-09", _says(PROMPT_REFUSED)),
    rule("RUN-10", _says("Agent is already")),
    rule("RUN-12 RUN-11", both(_says(NOTHING_TO_CONTINUE), _has_given_messages)),
    rule("RUN-11", _says(NOTHING_TO_CONTINUE)),
    rule("RUN-11", _says(EMPTY_CONTEXT)),
)
"""An operation was to be refused: with which words."""

MISSING: Final[Table] = {
    "agent_start": (
        rule("RUN-01", an_event_came),
        rule("RUN-27", lambda p: "No messages" in str((p.other or {}).get("error"))),
        rule("RUN-14", both(_continues, scene(lambda s: s.behind_answer and s.steering))),
        rule("RUN-15", both(_continues, scene(lambda s: s.behind_answer and s.follow_ups))),
        rule("RUN-13", _continues),
        rule("RUN-19"),
    ),
    "turn_start": (
        rule("ABORT-26", cutting),
        rule("FAIL-25", failing),
        rule("TURN-15 TURN-16", came(*_PREPARE)),
        rule("QUEUE-13 QUEUE-14", both(came("getSteeringMessages"), polled_already)),
        rule("QUEUE-21", came(*_POLLS)),
        rule("TURN-01", scene(lambda s: s.turns == 0)),
        rule("TURN-01", came("message_start", "streamFn", *_HOOKS_OF_A_REQUEST)),
        *_DUE,
        rule("TURN-07"),
    ),
    "turn_end": (
        rule("ABORT-24", both(cutting, broken_off)),
        rule("FAIL-08", both(failing, scene(lambda s: s.told))),
        rule("FAIL-24", failing),
        rule("TURN-11", both(came("finishTurn"), hooked("finishTurn"))),
        rule("TURN-10", came("shouldStopAfterTurn")),
        rule("TURN-02", came("streamFn", *_HOOKS_OF_A_REQUEST)),
        rule("TURN-06", broken_off),
        rule("TURN-01", came("turn_start")),
        rule("RUN-02", came("agent_end")),
        rule("TURN-04"),
    ),
    "agent_end": (
        rule("FAIL-08", failing),
        rule("ABORT-24", both(cutting, broken_off)),
        rule("ABORT-28", cutting),
        rule("QUEUE-11", both(broken_off, queued)),
        rule("QUEUE-11", both(broken_off, came(*_POLLS))),
        rule("TURN-06", broken_off),
        rule("TURN-15 TURN-16", came(*_PREPARE)),
        rule("TURN-12", decided("end")),
        rule("TURN-24 TURN-14", decided(True)),
        rule("QUEUE-21", came(*_POLLS)),
        rule("ABORT-12", both(aborting, all_terminate)),
        rule("TURN-09", both(all_terminate, came("turn_start", *_PREPARE))),
        rule("TURN-26", both(came("turn_start", *_PREPARE), _decided_otherwise)),
        rule("TURN-08", came("turn_start", "streamFn")),
        rule("RUN-02"),
    ),
    "message_start": (
        rule("ABORT-26", both(cutting, role("assistant"))),
        rule("FAIL-08", both(failing, role("assistant"))),
        rule("FAIL-39", both(failing, sequential)),
        rule("FAIL-23", both(failing, role("toolResult"))),
        rule("STREAM-07", error_text(NO_RESULT)),
        rule("STREAM-06", both(ended_without_done, origin("answer"))),
        rule("STREAM-04", both(origin("answer"), without_start)),
        rule("STREAM-02", origin("answer")),
        rule("TOOL-06", both(origin("result"), sequential)),
        rule("TOOL-05", origin("result")),
        rule("ABORT-29", both(returned, scene(lambda s: s.cancel_mode))),
        rule("QUEUE-20", returned),
        rule("QUEUE-17", role("note", "custom")),
        rule("RUN-14", both(origin("steering"), continued_by_steering)),
        rule("RUN-15", both(origin("follow-up"), continued)),
        rule("ABORT-14", both(origin("steering"), aborting)),
        rule("QUEUE-13", both(late, hooked("prepareNextTurn"), other_origin("follow-up"))),
        rule("QUEUE-07", both(origin("steering"), other_origin("follow-up"))),
        rule("QUEUE-01", both(origin("steering"), first_turn)),
        rule("QUEUE-12 QUEUE-02", both(origin("steering"), late, hooked("prepareNextTurn"))),
        rule("QUEUE-04", both(origin("steering"), late)),
        rule("QUEUE-10", both(_behind_a_message, _modes_were_set)),
        rule("QUEUE-09", _behind_a_message),
        rule("QUEUE-03", both(origin("steering"), scene(lambda s: s.behind_tools))),
        rule("QUEUE-02", origin("steering")),
        rule("QUEUE-06", origin("follow-up")),
        rule("TURN-18", origin("prepared")),
        rule("MSG-15", both(origin("announcement"), replaced_by("prepareRequest"))),
        rule("MSG-08", origin("announcement")),
        rule("RUN-07", _prompted_a_text),
        rule("RUN-08"),
    ),
    "message_update": (
        rule("ABORT-16", aborting),
        rule("STREAM-03"),
    ),
    "message_end": (
        rule("FAIL-17", both(failing, role("user", "system", "toolResult"))),
        rule("STREAM-07", error_text(NO_RESULT)),
        rule("ABORT-24", both(cutting, error_text(CUT), scene(lambda s: s.requested))),
        rule("ABORT-26", both(cutting, error_text(CUT))),
        rule("FAIL-18", both(failing, scene(lambda s: s.requested and s.started and s.answer is None))),
        rule("FAIL-08", failing),
        rule("STREAM-06", both(ended_without_done, role("assistant"))),
        rule("MSG-01"),
    ),
    "tool_execution_start": (
        rule("FAIL-21 FAIL-22", both(failing, came("turn_end"))),
        rule("FAIL-39", both(failing, sequential, scene(lambda s: any(c.answered for c in s.calls)))),
        rule("FAIL-21 FAIL-22", failing),
        rule("TOOL-24", other_refusal("truncated")),
        rule("TOOL-23", truncated),
        rule("ABORT-10 ABORT-01", aborting),
        rule("TOOL-07", both(came("beforeToolCall", "execute"))),
        rule("QUEUE-03", both(_steered, scene(lambda s: any(c.started for c in s.calls)))),
        rule("TOOL-06", both(sequential, scene(lambda s: any(c.started for c in s.calls)))),
        rule("TOOL-01"),
    ),
    "tool_execution_update": (
        rule("ABORT-13", aborting),
        rule("TOOL-21", both(came("tool_execution_end", "afterToolCall"), call(lambda c: c.returned))),
        rule("TOOL-22"),
    ),
    "tool_execution_end": (
        rule("FAIL-20", both(failing, refusal("truncated"))),
        rule("FAIL-21", both(failing, call(lambda c: c.started and not c.asked and not c.executed), sequential)),
        rule("FAIL-19", failing),
        rule("ABORT-23", both(cutting, call(lambda c: c.returned))),
        rule("HOOK-10", both(came("afterToolCall"), call(lambda c: not c.executed))),
        rule("TOOL-07", both(comes_later, _another_is_launched, call(lambda c: not c.executed))),
        rule("TOOL-08", both(comes_later, came("tool_execution_start"), call(lambda c: not c.executed))),
        *(Rule(each.clauses, both(refusal("aborted"), aborting, each.when)) for each in ABORTED_CALL),
        rule("ABORT-31", both(refusal("truncated"), aborting)),
        rule("TOOL-23", refusal("truncated")),
        rule("TOOL-12", refusal("unknown")),
        rule(ARGUMENT_RULES, both(judged_by_release, call(lambda c: not c.executed))),
        rule("TOOL-14", refusal("arguments")),
        rule("HOOK-08", both(refusal("blocked"), scene(lambda s: s.command.get("throw")))),
        rule("HOOK-04", refusal("blocked")),
        rule("TOOL-13", refusal("preparation")),
        rule("TOOL-08", call(lambda c: not c.executed)),
        rule("HOOK-19", refusal("check threw")),
        rule("HOOK-20", both(comes_later, nothing_came, call(lambda c: c.asked_again))),
        rule("TOOL-10", both(comes_later, nothing_came)),
        rule("TOOL-10", both(comes_later, came("tool_execution_end"))),
        rule("TOOL-19", refusal("threw")),
        rule("TOOL-10", both(nothing_came, scene(lambda s: sum(not c.ended for c in s.calls) > 1))),
        rule("TOOL-03"),
    ),
    "streamFn": (
        rule("ABORT-14", both(aborting, behind_tools)),
        rule("ABORT-15", aborting),
        rule("TURN-07", both(behind_tools, came("agent_end", "turn_end"))),
        rule("TURN-02", came("turn_end", "agent_end")),
        rule("STREAM-10"),
    ),
    "prepareRequest": (rule("STREAM-12 STREAM-10"),),
    **dict.fromkeys(("transformContext", "convertToLlm", "getApiKey"), (
        rule("ABORT-15", aborting),
        rule("STREAM-12", came("prepareRequest")),
        rule("STREAM-10"),
    )),
    "beforeToolCall": (
        *_OTHER_END,
        rule("ABORT-06 HOOK-01", aborting),
        rule("TOOL-07", came("tool_execution_start")),
        rule("TOOL-24", truncated),
        rule("HOOK-01"),
    ),
    "execute": (
        *_OTHER_END,
        rule("TOOL-24", truncated),
        rule("ABORT-09", aborting),
        rule("TOOL-07", came("tool_execution_start", "beforeToolCall")),
        rule("TOOL-11", both(sequential, came("execute"))),
        rule("TOOL-09"),
    ),
    "afterToolCall": (
        rule("ABORT-13", aborting),
        rule("TOOL-21", call(lambda c: c.updates)),
        rule("HOOK-09"),
    ),
    "finishTurn": (
        rule("TURN-02", came("streamFn", *_HOOKS_OF_A_REQUEST)),
        rule("TURN-25", broken_off),
        rule("TURN-11 TURN-20"),
    ),
    "shouldStopAfterTurn": (rule("TURN-10 TURN-14 TURN-20"),),
    "prepareNextTurn": (
        rule("TURN-17", came("prepareNextTurnWithContext")),
        *(Rule(each.clauses, both(came("agent_end"), a_turn_is_due, each.when)) for each in _DUE),
        rule("TURN-15 TURN-16"),
    ),
    "prepareNextTurnWithContext": (rule("TURN-17 TURN-20"),),
    "getSteeringMessages": (
        rule("TURN-15 TURN-16", came(*_PREPARE)),
        rule("QUEUE-12", polled_already),
        rule("QUEUE-21"),
    ),
    "getFollowUpMessages": (rule("QUEUE-21"),),
    "settled": (
        *REFUSED,
        rule("FAIL-10", both(_says("Cannot continue from"), scene(lambda s: s.left_failed))),
        rule("RUN-16", _says("Cannot continue from")),
        rule("RUN-30", both(_waits, scene(lambda s: not s.running))),
        rule("RUN-18", _waits),
        rule("FAIL-34", both(loop, _rejects)),
        rule("FAIL-33", both(_rejects, scene(lambda s: s.failed == "agent_end"))),
        rule("FAIL-32", both(_rejects, at("error"))),
        rule("FAIL-11", _rejects),
        rule("FAIL-09", both(failing, at("ok"))),
        rule("STREAM-07", ended_without_done),
        rule("ABORT-18", both(aborting, at("ok"))),
        rule("RUN-17"),
    ),
    "signal": (rule("ABORT-03"),),
    "withdrawn": (
        rule("FAIL-16", both(_failed_at("tool_execution_update"), nothing_came)),
        rule("FAIL-35", both(failing, loop)),
        rule("FAIL-13", failing),
        rule("ABORT-21", _cut("execute")),
        rule("ABORT-22", _cut("beforeToolCall")),
        rule("ABORT-23", _cut("afterToolCall")),
        rule("ABORT-24", _cut("streamFn")),
        rule("ABORT-25", _cut("finishTurn")),
        rule("ABORT-27"),
    ),
    "prepareArguments": (rule("TOOL-07", came("execute")), rule("TOOL-13")),
    "unhandled": (rule("FAIL-16"),),
    "end": (rule("STREAM-07", ended_without_done), rule("RUN-17")),
}  # fmt: skip
