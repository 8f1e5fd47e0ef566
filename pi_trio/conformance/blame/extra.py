"""What it means that a line came that is not expected: why nothing like it may come there.

As in `missing`, the rules of a kind are asked in order, and the last of each kind always applies.
"""

from __future__ import annotations

from typing import Final

from ..fixed_texts import PROMPT_REFUSED
from .conditions import (
    aborting,
    all_terminate,
    both,
    broken_off,
    call,
    call_of,
    cutting,
    failing,
    hooked,
    in_batch,
    loop,
    nothing_came,
    origin,
    over,
    polled_already,
    queued,
    refusal,
    role,
    scene,
    sequential,
    truncated,
)
from .missing import ARGUMENT_RULES, MISSING, REFUSED
from .place import Place
from .rule import Table, rule

_OF_A_REQUEST: Final = ("prepareRequest", "transformContext", "convertToLlm", "getApiKey")


def _stopped(place: Place) -> bool:
    return place.scene.decision in ("end", True)


def _heard_already(place: Place) -> bool:
    return place.scene.heard_already(place.key, place.kind)


def _unknown(place: Place) -> bool:
    found = place.scene.call(place.key)
    names = [tool.get("name") for tool in place.scene.created.get("tools", ())]
    return found is not None and bool(names) and found.block.get("name") not in names


def _speaks_otherwise(place: Place) -> bool:
    speaking = place.scene.speaking
    return speaking is not None and speaking.get("role") == "assistant"


def _more_to_prepare(place: Place) -> bool:
    return any(not call.started for call in place.scene.calls)


def _another_is_prepared(place: Place) -> bool:
    """What came last belongs to the preparation of a call, and that is not this one."""
    begun = [call.block.get("id") for call in place.scene.calls if call.started and not call.executed]
    return place.scene.latest in ("beforeToolCall", "tool_execution_start") and begun[-1:] != [place.key]


def _waited_for(place: Place) -> bool:
    """A listener still holds what was told last: the step had nothing more to come."""
    return place.other is not None and nothing_came(place)


def _has_left(place: Place) -> bool:
    return "unsubscribe" in place.scene.commands


def _is_gone(place: Place) -> bool:
    """It is this listener that has left."""
    return place.key in place.scene.beside.gone


def _of_a_listener(place: Place) -> bool:
    """It is about a listener's ask."""
    return place.address.get("fn") == "listener"


#: Asked before the rules of the kind.
OUT_OF_PLACE: Final = {
    "event": (
        rule("STATE-17", both(_heard_already, _waited_for, lambda p: _has_left(p) and not _is_gone(p))),
        rule("STATE-16", both(_heard_already, _has_left)),
        rule("STATE-13", _heard_already),
        rule("RUN-04", over),
    ),
    "callback": (
        rule("FAIL-35", both(failing, loop)),
        rule("FAIL-26", both(failing, scene(lambda s: s.running))),
        rule("FAIL-13", failing),
        rule("FAIL-13", both(over, scene(lambda s: s.left_failed))),
        rule("RUN-02", over),
        rule("ABORT-19", cutting),
    ),
}

EXTRA: Final[Table] = {
    "agent_start": (
        rule("RUN-03", scene(lambda s: s.running and s.turns)),
        *REFUSED,
        rule("RUN-16", scene(lambda s: s.command.get("cmd") == "continue")),
        rule("RUN-01"),
    ),
    "turn_start": (
        rule("FAIL-25", failing),
        rule("ABORT-26", cutting),
        rule("QUEUE-11", both(broken_off, queued)),
        rule("TURN-06", broken_off),
        rule("TURN-12 TURN-24", _stopped),
        rule("TURN-09", all_terminate),
        rule("TURN-08", scene(lambda s: s.answer is not None and not s.calls and not s.queued)),
        rule("TURN-01"),
    ),
    "turn_end": (
        rule("FAIL-25", failing),
        rule("TOOL-03", in_batch),
        rule("TURN-03"),
    ),
    "agent_end": (
        rule("RUN-03", over),
        rule("RUN-02"),
    ),
    "message_start": (
        rule("ABORT-20", both(cutting, origin("steering", "follow-up"))),
        rule("ABORT-26", cutting),
        rule("FAIL-26", both(failing, origin("steering", "follow-up", "prompt"))),
        rule("FAIL-18", both(failing, role("assistant"))),
        rule("STREAM-08", both(role("assistant"), _speaks_otherwise)),
        rule("STREAM-04", origin("answer")),
        rule("QUEUE-03", both(origin("steering", "follow-up"), in_batch)),
        rule("QUEUE-11", both(origin("steering", "follow-up"), broken_off)),
        rule("QUEUE-06", origin("follow-up")),
        rule("QUEUE-08", origin("steering")),
        rule("MSG-09 MSG-13", origin("announcement")),
        rule("TURN-27 TURN-18", origin("prepared")),
        rule("TOOL-06", both(origin("result"), sequential)),
        rule("TOOL-05", origin("result")),
        rule("QUEUE-15", scene(lambda s: s.turns > 1)),
        rule("MSG-01"),
    ),
    "message_update": (
        rule("STREAM-19", scene(lambda s: s.requested and not s.streaming)),
        rule("STREAM-04", scene(lambda s: s.streaming and not s.started)),
        rule("STREAM-09", _speaks_otherwise),
        rule("MSG-03"),
    ),
    "message_end": (
        rule("FAIL-18", failing),
        rule("MSG-01"),
    ),
    "tool_execution_start": (
        rule("FAIL-22 FAIL-38", failing),
        rule("TOOL-01", call(lambda c: c.started)),
        rule("TURN-06", broken_off),
        rule("ABORT-11", aborting),
        rule("TOOL-23", truncated),
        rule("TOOL-11", both(sequential, scene(lambda s: not s.all_sequential))),
        rule("TOOL-06", sequential),
        rule("TOOL-07", scene(lambda s: any(c.started and not c.ended and not c.executed for c in s.calls))),
        rule("TOOL-01"),
    ),
    "tool_execution_update": (
        rule("TOOL-20", call(lambda c: c.returned)),
        rule("TOOL-20", lambda p: call_of(p) is None),
        rule("TOOL-04"),
    ),
    "tool_execution_end": (
        rule("FAIL-19", failing),
        rule("TOOL-03", call(lambda c: c.ended)),
        rule("ABORT-13", both(aborting, call(lambda c: c.executed and not c.returned))),
        rule("HOOK-09", both(hooked("afterToolCall"), call(lambda c: c.returned and not c.asked_again))),
        rule("TOOL-21", call(lambda c: c.updates)),
        rule(ARGUMENT_RULES, refusal("arguments")),
        rule("TOOL-24", refusal("truncated")),
        rule("TOOL-03"),
    ),
    "streamFn": (
        rule("STATE-17", both(_waited_for, _has_left)),
        rule("STATE-14", both(_waited_for, scene(lambda s: "_" in s.latest))),
        rule("TURN-06", broken_off),
        rule("TURN-09", all_terminate),
        rule("STREAM-10"),
    ),
    **dict.fromkeys(_OF_A_REQUEST, (
        rule("STATE-17", both(_waited_for, _has_left)),
        rule("STATE-14", both(_waited_for, scene(lambda s: "_" in s.latest))),
        rule("STREAM-10"),
    )),
    "beforeToolCall": (
        rule("TOOL-23", truncated),
        rule("TURN-06", broken_off),
        rule("TOOL-12", _unknown),
        rule("ABORT-05 ABORT-07", aborting),
        rule("TOOL-07", scene(lambda s: s.latest == "beforeToolCall")),
        rule("STATE-14", both(_waited_for, scene(lambda s: s.latest == "tool_execution_start"))),
        rule("HOOK-01"),
    ),
    "execute": (
        rule("TOOL-23", truncated),
        rule("TURN-06", broken_off),
        rule("TOOL-12", _unknown),
        rule("HOOK-08", both(call(lambda c: c.refused), scene(lambda s: s.command.get("throw")))),
        rule("HOOK-04", call(lambda c: c.refused)),
        rule("ABORT-07", both(aborting, call(lambda c: c.asked and c.before_abort), _more_to_prepare)),
        rule("ABORT-08 ABORT-01", aborting),
        rule("TOOL-11", both(sequential, scene(lambda s: not s.all_sequential))),
        rule("TOOL-06", both(sequential, scene(lambda s: any(c.executed and not c.answered for c in s.calls)))),
        rule("TOOL-07", scene(lambda s: any(not c.started for c in s.calls))),
        rule("TOOL-07", _another_is_prepared),
        rule("STATE-17", both(_waited_for, _has_left)),
        rule("STATE-14", both(_waited_for, scene(lambda s: "_" in s.latest))),
        rule("TOOL-09"),
    ),
    "afterToolCall": (
        rule("HOOK-10", call(lambda c: not c.executed)),
        rule("TOOL-21", call(lambda c: c.updates)),
        rule("HOOK-09"),
    ),
    "prepareNextTurn": (rule("TURN-17", scene(lambda s: "prepareNextTurnWithContext" in s.created.get("hooks", ()))),
                        rule("TURN-15 TURN-16")),
    "prepareNextTurnWithContext": (rule("TURN-16 TURN-20"),),
    "finishTurn": (rule("TURN-11 TURN-20"),),
    "shouldStopAfterTurn": (rule("TURN-06", broken_off), rule("TURN-10 TURN-11 TURN-20")),
    "getSteeringMessages": (
        rule("QUEUE-11", broken_off),
        rule("TURN-12 TURN-24", _stopped),
        rule("QUEUE-13 QUEUE-14", polled_already),
        rule("QUEUE-21"),
    ),
    "getFollowUpMessages": (
        rule("QUEUE-11", broken_off),
        rule("TURN-12 TURN-24", _stopped),
        rule("QUEUE-06"),
    ),
    "settled": (
        rule("RUN-18", lambda p: p.scene.operations.get(p.line.get("op", "")) == "waitForIdle"),
        rule("RUN-09", lambda p: PROMPT_REFUSED in str(p.line.get("error"))),
        rule("RUN-17"),
    ),
    "signal": (rule("FAIL-14", both(failing, scene(lambda s: not s.aborted))), rule("ABORT-03")),
    "withdrawn": (
        rule("FAIL-15", both(failing, _of_a_listener)),
        rule("FAIL-13", failing),
        rule("ABORT-30", cutting),
        rule("ABORT-01"),
    ),
    "prepareArguments": (rule("TOOL-12", _unknown), rule("TOOL-13")),
    "unhandled": (rule("FAIL-16", failing), rule("TOOL-20")),
    "end": MISSING["end"],
}  # fmt: skip
