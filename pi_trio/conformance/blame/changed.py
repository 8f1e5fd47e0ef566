"""What it means that a line came otherwise than expected: which promise the field that differs belongs to."""

from __future__ import annotations

from typing import Final

from ..fixed_texts import CUT, NO_RESULT
from .conditions import (
    When,
    aborting,
    another_is_late,
    at,
    both,
    call,
    call_of,
    continued,
    cutting,
    ended_without_done,
    error_text,
    failing,
    hooked,
    late,
    one_is_of_the_system,
    origin,
    other_origin,
    other_refusal,
    read_by_release,
    refusal,
    replaced_by,
    returned,
    role,
    scene,
    within,
    without_start,
)
from .missing import ABORTED_CALL, ARGUMENT_RULES, MISSING
from .place import Place
from .rule import Rule, Table, rule

_NAMED: Final = ("content", "details", "isError", "terminate")
_SETTINGS: Final = ("systemPrompt", "model", "thinkingLevel", "tools", "messages")
_FAILURE_FIELDS: Final = ("role", "content", "api", "provider", "model", "usage", "errorMessage")
_RESULT_FIELDS: Final = ("role", "toolCallId", "toolName", "content", "details", "isError", "timestamp")


def _override(*names: str) -> When:
    """afterToolCall has answered for the call, with one of these fields, or with any."""

    def is_so(place: Place) -> bool:
        found = call_of(place)
        answer = found.checked if found is not None else None
        return isinstance(answer, dict) and (not names or any(answer.get(name) is not None for name in names))

    return is_so


def _text_prompt(place: Place) -> bool:
    return any(isinstance(each, str) for each in place.scene.prompts)


def _unknown_field(known: tuple[str, ...]) -> When:
    return lambda place: len(place.fields) > 1 and place.fields[1] not in known


def _named_field(place: Place) -> bool:
    """The difference is in what afterToolCall can replace in every release."""
    names = place.fields[1:2] if place.path[:1] == ("result",) else place.fields[:1]
    return bool(names) and names[0] in _NAMED


def _nobody_has_set_it(place: Place) -> bool:
    """What differs of the state is as it was made, and it was made without that."""
    field = place.path[0] if place.kind == "state" and place.path else place.kind
    return field in _SETTINGS and field not in place.scene.settings


def _is_another_failure(place: Place) -> bool:
    """The failure's own message: no stream was open whose answer it could have become."""
    return not (place.scene.requested and place.scene.answer is None and place.scene.started)


def _of_a_later_turn(place: Place) -> bool:
    return place.scene.turns > 1


_RESULT_MESSAGE: Final = (
    rule("TOOL-30 TOOL-31", within("durationMs")),
    rule("TOOL-35 TOOL-36 TOOL-29", within("usage", "addedToolNames")),
    rule("TOOL-37", both(at("message"), _unknown_field(_RESULT_FIELDS))),
    rule(
        "TOOL-27 TOOL-28",
        lambda p: p.fields == ("message", "content") and p.message.get("content") in (None, []),
    ),
    rule("MSG-10"),
)

_THINKING_LEVEL: Final = rule("MSG-05 MSG-06", within("thinkingLevel"))

CHANGED: Final[Table] = {
    "agent_end": (
        rule("RUN-06", failing),
        rule("RUN-13", continued),
        rule("RUN-05"),
    ),
    "turn_end": (
        _THINKING_LEVEL,
        rule("TURN-05", at("toolResults")),
        rule("TURN-04"),
    ),
    "message_start": (
        rule("ABORT-26", both(cutting, role("assistant"))),
        rule("FAIL-07", both(failing, role("assistant"), within("stopReason"))),
        rule("FAIL-06", both(failing, role("assistant"))),
        _THINKING_LEVEL,
        rule("STREAM-07", error_text(NO_RESULT)),
        rule("STREAM-04", both(origin("answer"), without_start)),
        rule("STREAM-02", origin("answer")),
        *(Rule(each.clauses, both(origin("result"), each.when)) for each in _RESULT_MESSAGE),
        rule("QUEUE-20", returned),
        rule("QUEUE-14", both(origin("follow-up"), another_is_late, hooked("prepareNextTurn"))),
        rule("QUEUE-13", both(late, hooked("prepareNextTurn"), other_origin("follow-up"))),
        rule("QUEUE-07", both(origin("steering"), other_origin("follow-up"))),
        rule("QUEUE-06", both(origin("follow-up"), other_origin("steering"))),
        rule("QUEUE-08", both(origin("steering", "follow-up"), other_origin("steering", "follow-up"))),
        rule("MSG-12 MSG-09", both(role("system"), within("toolsAdded", "toolsRemoved"))),
        rule("QUEUE-17", origin("steering", "follow-up")),
        rule("TURN-18", origin("prepared")),
        rule("MSG-15", both(origin("announcement"), replaced_by("prepareRequest"))),
        rule("MSG-08", origin("announcement")),
        rule("RUN-07", _text_prompt),
        rule("RUN-08"),
    ),
    "message_update": (
        rule("STREAM-03", at("assistantMessageEvent")),
        rule("MSG-04"),
    ),
    "message_end": (
        rule("MSG-02", lambda p: p.message.get("role") != "assistant"),
        rule("STREAM-07", error_text(NO_RESULT)),
        rule("ABORT-24", both(cutting, error_text(CUT), scene(lambda s: s.requested))),
        rule("ABORT-26", both(cutting, error_text(CUT))),
        rule("FAIL-07", both(failing, within("stopReason"))),
        rule("FAIL-06", both(failing, _is_another_failure)),
        rule("FAIL-18", failing),
        _THINKING_LEVEL,
        rule("STREAM-06", ended_without_done),
        rule("ABORT-16", both(aborting, within("stopReason", "errorMessage"))),
        rule("STREAM-05"),
    ),
    "tool_execution_start": (
        rule("TOOL-02", at("args")),
        rule("TOOL-01"),
    ),
    "tool_execution_update": (rule("TOOL-04"),),
    "tool_execution_end": (
        rule("FAIL-27", both(failing, at("durationMs"))),
        rule("TOOL-30 TOOL-31", at("durationMs")),
        rule("FAIL-20", both(failing, refusal("truncated"))),
        rule("FAIL-19", failing),
        rule("TOOL-24", other_refusal("truncated")),
        rule("ABORT-06", both(aborting, other_refusal("aborted"), refusal("unknown", "arguments", "blocked"))),
        rule("ABORT-23", both(cutting, call(lambda c: c.returned))),
        *(Rule(each.clauses, both(refusal("aborted"), aborting, each.when)) for each in ABORTED_CALL),
        rule("TOOL-38", both(at("result", "details"), refusal(
            "truncated", "unknown", "arguments", "blocked", "preparation", "threw", "check threw", "aborted"))),
        rule("HOOK-06 HOOK-07", both(at("result", "terminate"), refusal("blocked"))),
        rule("ABORT-31", both(refusal("truncated"), aborting)),
        rule("TOOL-23", refusal("truncated")),
        rule("TOOL-12", refusal("unknown")),
        rule("TOOL-14", refusal("arguments")),
        rule("HOOK-05", both(refusal("blocked"), lambda p: "Tool execution was blocked" in str(p.event.get("result")))),
        rule("HOOK-04", refusal("blocked")),
        rule("TOOL-13", refusal("preparation")),
        rule("HOOK-19", refusal("check threw")),
        rule("TOOL-19", refusal("threw")),
        rule("HOOK-16 HOOK-14", both(_override("content"), at("result", "structuredContent"))),
        rule("HOOK-15 HOOK-14 HOOK-13", both(_override("usage", "structuredContent"),
                                             within("usage", "structuredContent"))),
        rule("HOOK-12", both(_override(), _named_field)),
        rule("HOOK-17 HOOK-18", _override()),
        rule("TOOL-25 TOOL-26", at("isError")),
        rule("TOOL-37", at("result")),
        rule("TOOL-03"),
    ),
    "streamFn": (
        rule("STREAM-15 STREAM-20", within("identity")),
        rule("STREAM-17", within("apiKey")),
        rule("STREAM-12", both(at("model"), replaced_by("prepareRequest"))),
        rule("TURN-19", both(at("model"), replaced_by("prepareNextTurn", "prepareNextTurnWithContext"))),
        rule("RUN-24", at("model")),
        rule("STREAM-23", within("reasoning")),
        rule("RUN-24", at("options")),
        rule("TURN-28 STREAM-13", both(at("context", "systemPrompt"), replaced_by("prepareNextTurn"))),
        rule("STREAM-14 STREAM-13", one_is_of_the_system),
        rule("STREAM-14 STREAM-13", lambda p: p.fields[1:2] and p.fields[1] != "messages"),
        rule("STREAM-24", replaced_by("convertToLlm")),
        rule("STREAM-11", replaced_by("transformContext")),
        rule("STREAM-12", replaced_by("prepareRequest")),
        rule("TURN-19", replaced_by("prepareNextTurn", "prepareNextTurnWithContext")),
        rule("TURN-23", _of_a_later_turn),
        rule("RUN-31", scene(lambda s: s.operations and len(s.operations) > 1)),
        rule("STREAM-16"),
    ),
    "transformContext": (
        rule("STREAM-14 STREAM-13", one_is_of_the_system),
        rule("STREAM-11", replaced_by("transformContext")),
        rule("TURN-23", _of_a_later_turn),
        rule("RUN-31"),
    ),
    "convertToLlm": (rule("STREAM-14 STREAM-13", one_is_of_the_system), rule("STREAM-24")),
    "getApiKey": (rule("STREAM-26", replaced_by("prepareRequest")), rule("STREAM-25")),
    "prepareRequest": (
        rule("TURN-19", both(_of_a_later_turn, replaced_by("prepareNextTurn"))),
        rule("STREAM-12 STREAM-10"),
    ),
    "execute": (
        rule("TOOL-41", lambda p: not at("args")(p)),
        rule("HOOK-03", replaced_by("beforeToolCall")),
        rule("TOOL-13", scene(lambda s: any("prepareArguments" in tool for tool in s.created.get("tools", ())))),
        rule(ARGUMENT_RULES, read_by_release),
        rule("TOOL-43", call(lambda c: c.block.get("arguments") != {})),
        rule("TOOL-41"),
    ),
    "beforeToolCall": (
        _THINKING_LEVEL,
        rule("HOOK-21", at("context")),
        rule(ARGUMENT_RULES, both(at("args"), read_by_release)),
        rule("HOOK-02"),
    ),
    "afterToolCall": (
        _THINKING_LEVEL,
        rule("HOOK-21", at("context")),
        rule("TOOL-25 TOOL-26", both(at("isError"), lambda p: "isError" in (p.args.get("result") or {}))),
        rule("HOOK-11"),
    ),
    "finishTurn": (rule("TURN-25", scene(lambda s: s.broken_off)), rule("TURN-11 TURN-20")),
    "state": (
        rule("STATE-01", at("isStreaming")),
        rule("STATE-03", both(at("streamingMessage"), scene(lambda s: s.latest == "message_update"))),
        rule("STATE-02", at("streamingMessage")),
        rule("TOOL-33", both(at("pendingToolCalls"), scene(
            lambda s: len({str(c.block.get("id")) for c in s.calls}) < len(s.calls)))),
        rule("STATE-04", at("pendingToolCalls")),
        rule("FAIL-09", both(at("errorMessage"), failing)),
        rule("STATE-05", both(at("errorMessage"), scene(lambda s: s.running and not s.over))),
        rule("STATE-06", at("errorMessage")),
        rule("STATE-09", at("signal")),
        rule("ABORT-29", both(at("hasQueuedMessages"), scene(lambda s: s.returned and s.cancel_mode))),
        rule("ABORT-20", both(at("hasQueuedMessages"), cutting)),
        rule("QUEUE-20", both(at("hasQueuedMessages"), scene(lambda s: s.returned))),
        rule("RUN-20", both(at("hasQueuedMessages"), scene(lambda s: "reset" in s.commands))),
        rule("QUEUE-11", both(at("hasQueuedMessages"), scene(lambda s: s.broken_off))),
        rule("QUEUE-18", at("hasQueuedMessages")),
        rule("STATE-12", _nobody_has_set_it),
        rule("STATE-22 STATE-23", at("systemPrompt")),
        rule("STATE-12", both(at("model"), scene(lambda s: "model" not in s.created.get("initialState", {})))),
        rule("STATE-10", lambda p: p.path[:1] in (("model",), ("thinkingLevel",), ("tools",))),
        rule("STATE-20 STATE-23", both(at("messages"), one_is_of_the_system)),
        rule("FAIL-29", both(at("messages"), failing)),
        rule("RUN-22 RUN-23 RUN-20", both(at("messages"), scene(lambda s: "reset" in s.commands))),
        rule("STATE-07", at("messages")),
        rule("STATE-08"),
    ),
    "messages": (
        rule("STATE-12", _nobody_has_set_it),
        rule("RUN-23 RUN-28", scene(lambda s: "reset" in s.commands)),
        rule("STATE-20 STATE-23", one_is_of_the_system),
        rule("STATE-07"),
    ),
    "peekQueued": (
        rule("QUEUE-20", scene(lambda s: s.returned)),
        rule("QUEUE-16 QUEUE-15"),
    ),
    **{kind: rules for kind, rules in MISSING.items() if kind in (
        "settled", "signal", "withdrawn", "prepareArguments", "unhandled", "end", "shouldStopAfterTurn",
        "prepareNextTurn", "prepareNextTurnWithContext", "getSteeringMessages", "getFollowUpMessages", "agent_start",
        "turn_start",
    )},
}  # fmt: skip
