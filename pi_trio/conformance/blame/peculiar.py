"""What a difference means in a peculiar situation: two calls of one id, a prompt of nothing, a listener that counts
twice. These rules are asked before those of the kind, and each applies only where its situation is at hand and the
difference is of the sort that its clause speaks of; so they take nothing from the ordinary rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from pi_trio.messages import (
    AssistantMessage,
    ImageContent,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolRemoval,
    ToolResult,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)
from pi_trio.wire import wire_name

from ..failed import is_failed
from ..lines import TOOL_PHASE
from ..protocol import Object
from .conditions import (
    When,
    aborting,
    at,
    both,
    broken_off,
    call,
    call_of,
    came,
    failing,
    forgets_what_was_disturbed,
    loop,
    nothing_came,
    origin,
    role,
    scene,
    within,
)
from .memory import CallSoFar, is_among, objects_in
from .place import Place, inside
from .rule import Rule, Table, rule

_KINDS: Final = (
    UserMessage, AssistantMessage, ToolResultMessage, SystemMessage, TextContent, ThinkingContent, ImageContent,
    ToolCall, ToolDeclaration, ToolRemoval, ToolResult, Usage, UsageCost,
)  # fmt: skip
_KNOWN: Final = {wire_name(each.name) for kind in _KINDS for each in attrs.fields(kind)} | {"role", "type"}
_MESSAGES: Final = {"message", "messages", "toolResults"}
_ROLES: Final = ("user", "assistant", "toolResult", "system")
_BLOCKS: Final = ("text", "thinking", "image", "toolCall")
_WITH_MESSAGES: Final = ("message_start", "message_update", "message_end", "turn_end", "agent_end", "messages", "state",
                         "streamFn")  # fmt: skip


def _a_prompt_of_nothing(place: Place) -> bool:
    """The run was begun, or is to be, with an empty list."""
    command = place.scene.command
    asked = command.get("cmd") == "prompt" and command.get("input") == []
    return asked and place.scene.turns <= 1


def _came_ok(is_ok: bool) -> When:
    """What came is that an operation has settled, well or not."""
    return lambda place: (place.other or {}).get("ok") is is_ok


def _comes_ok(is_ok: bool) -> When:
    """The same of the line itself."""
    return lambda place: place.line.get("ok") is is_ok


def _refused(place: Place) -> bool:
    return str(place.line.get("error", "")).startswith("Cannot continue")


# --- what was set while a run was open ----------------------------------------------------------------------


def _hears_of_new_messages(place: Place) -> bool:
    """The request that came holds messages that were set under the run, and the one that was due does not."""
    new = list(objects_in(place.scene.beside.set_meanwhile.get("setMessages")))
    wanted, got = (_request_messages(each) for each in (place.line, place.other or {}))
    return any(is_among(each, got) and not is_among(each, wanted) for each in new)


def _request_messages(line: Object) -> list[Object]:
    args = line.get("args")
    context = args.get("context", args) if isinstance(args, dict) else {}
    return list(objects_in(context.get("messages") if isinstance(context, dict) else None))


def _tools_are_new(place: Place) -> bool:
    return "setTools" in place.scene.beside.set_meanwhile


def _looked_up_anew(place: Place) -> bool:
    """Whether there is the call's tool depends on whether those count that were set under the run."""
    found = call_of(place)
    if found is None or not _tools_are_new(place):
        return False
    before, since = place.scene.tools, place.scene.beside.set_meanwhile["setTools"]
    one, other = (
        any(tool.get("name") == found.block.get("name") for tool in each) for each in (before, since)
    )
    return one is not other


# --- calls --------------------------------------------------------------------------------------------------


def _twin(done: Callable[[CallSoFar], object]) -> When:
    """There are several calls with the id of this one, and for one of them that was done."""

    def is_so(place: Place) -> bool:
        found = call_of(place)
        of_that_id = [
            each
            for each in place.scene.calls
            if found is not None and each.block.get("id") == found.block.get("id")
        ]
        return len(of_that_id) > 1 and any(done(each) for each in of_that_id)

    return is_so


def _named_twice(place: Place) -> bool:
    """There are two tools of the name that is called."""
    found = call_of(place)
    name = found.block.get("name") if found is not None else None
    return [tool.get("name") for tool in place.scene.tools].count(name) > 1


def _another_is_held(place: Place) -> bool:
    """A listener holds what was told of another call, and of this one nothing."""
    of = place.event.get("toolCallId", place.key)
    held = place.scene.beside.held_of(*TOOL_PHASE)
    return bool(held) and all(each.get("toolCallId") != of for each in held)


def _changes_open_properties(place: Place) -> bool:
    """An argument is gone that the schema does not name, or one is filled in that the model has not given."""
    found, path = call_of(place), place.path
    if found is None or path[:1] != ("args",) or not isinstance(path[-1], str):
        return False
    wanted, got = (_held_in(each, place.whole_path) for each in (place.line, place.other))
    raw = inside(found.block.get("arguments"), path[1:-1])
    if not all(isinstance(each, dict) for each in (wanted, got, raw)):
        return False
    name, schema = path[-1], str(_schema_of(found, place))
    was_lost = name in raw and name in wanted and name not in got and f"'{name}'" not in schema
    was_filled_in = name not in raw and name not in wanted and name in got and "'default'" in schema
    return was_lost or was_filled_in


def _schema_of(found: CallSoFar, place: Place) -> Any:
    named = (tool for tool in place.scene.tools if tool.get("name") == found.block.get("name"))
    return next(named, {}).get("parameters")


# --- values -------------------------------------------------------------------------------------------------


def _held_in(value: Any, path: Iterable[str | int]) -> Any:
    """What holds the last step of a path."""
    return inside(value, tuple(path)[:-1])


def _loses_what_nobody_knows(place: Place) -> bool:
    """A field of an unknown name is gone, or something in a block or message of an unknown kind is otherwise."""
    path = place.whole_path
    if place.kind != "messages" and not _MESSAGES & set(place.path[:-1]):
        return False  # it is no part of a message
    wanted, got = (_held_in(each, path) for each in (place.line, place.other))
    if isinstance(wanted, dict) and isinstance(got, dict) and path[-1] in wanted and path[-1] not in got:
        if path[-1] not in _KNOWN and "arguments" not in path and "details" not in path:
            return True
    return any(_is_unknown(inside(place.line, path[:n]), path[:n]) for n in range(len(path) + 1))


def _is_unknown(value: Any, path: tuple[str | int, ...]) -> bool:
    if not isinstance(value, dict) or "arguments" in path or "details" in path:
        return False
    if isinstance(value.get("role"), str):
        return value["role"] not in _ROLES
    return path[-2:-1] == ("content",) and value.get("type") not in _BLOCKS


# --- who listens --------------------------------------------------------------------------------------------


def _counts_twice(place: Place) -> bool:
    """The listener was subscribed a second time."""
    return place.scene.beside.subscribed.count(place.key) > 1


def _another_is_first(place: Place) -> bool:
    """The event came to another listener instead."""
    return place.came == place.kind and (place.other or {}).get("key", place.key) != place.key


def _is_repeated(place: Place) -> bool:
    """The listener hears what it has just heard, or what it has heard long enough."""
    return place.scene.latest == place.kind or "unsubscribe" in place.scene.commands


def _runs_ahead(place: Place) -> bool:
    """A new event came while a listener held another one, and nothing was to come."""
    heard = place.scene.heard_already(place.key, place.kind)
    return bool(place.scene.beside.held) and nothing_came(place) and not heard


def _is_behind_at_a_hook(place: Place) -> bool:
    """The state that is seen from beforeToolCall lacks the latest message, or the call."""
    if "beforeToolCall" not in (place.scene.latest, place.address.get("fn")):
        return False
    if place.path[:1] not in (("messages",), ("pendingToolCalls",)):
        return False
    wanted, got = (_held_in(each, place.whole_path) for each in (place.line, place.other))
    return isinstance(got, list) and isinstance(wanted, list) and got == wanted[: len(got)]


def _queued_at_the_end(place: Place) -> bool:
    return is_among(place.message, place.scene.beside.at_the_end)


def _left_by_a_failed_run(place: Place) -> bool:
    return is_among(place.message, place.scene.beside.left)


# --- the rules ----------------------------------------------------------------------------------------------

_CONTRADICTED: Final = scene(lambda s: s.beside.contradicted)
_DEAF: Final = scene(
    lambda s: not s.requested and not s.created.get("listeners") and "subscribe" not in s.commands
)
_UNDISTURBED: Final = scene(lambda s: not s.aborted and not s.failed)
_PASSED: Final = call(lambda c: c.let_pass and not c.executed)

_NO_LISTENERS: Final = rule("STATE-24", both(_DEAF, nothing_came))
_OF_NOTHING: Final = rule("RUN-26", _a_prompt_of_nothing)
_RAISED: Final = rule("RUN-29", both(broken_off, came("settled"), _came_ok(False)))
_SECOND_TOOL: Final = rule("TOOL-40", both(came("tool_execution_end", "prepareArguments"), _named_twice))
_DISTURBED: Final = rule("FAIL-29", forgets_what_was_disturbed)
_READ_TOO_LATE: Final = rule("RUN-25", _looked_up_anew)
_NOT_RETURNED: Final = rule("TOOL-39 TOOL-32", call(lambda c: c.returned_nothing))

MISSING_EVENT: Final = (rule("STATE-18", both(_counts_twice, _another_is_first)),)
"""Asked of each event that did not come."""

MISSING: Final[Table] = {
    "agent_start": (
        _OF_NOTHING,
        rule("RUN-32", both(loop, scene(lambda s: s.command.get("cmd") == "continue"))),
    ),
    "turn_end": (_RAISED,),
    "agent_end": (_RAISED,),
    "message_start": (
        rule("TOOL-34", both(origin("result"), _twin(lambda c: c.answered))),
        rule("QUEUE-05", _queued_at_the_end),
        rule("QUEUE-19", _left_by_a_failed_run),
    ),
    "tool_execution_start": (rule("TOOL-34", _twin(lambda c: c.started)),),
    "tool_execution_update": (rule("TOOL-42", both(nothing_came, _another_is_held)),),
    "tool_execution_end": (
        _READ_TOO_LATE,
        rule("TOOL-34", _twin(lambda c: c.ended)),
        rule("TOOL-42", both(nothing_came, _another_is_held)),
        _NOT_RETURNED,
    ),
    "streamFn": (_OF_NOTHING, _NO_LISTENERS),
    "execute": (
        _READ_TOO_LATE,
        _SECOND_TOOL,
        rule("TOOL-34", _twin(lambda c: c.executed)),
        rule("HOOK-22", both(came("tool_execution_end"), _PASSED, _UNDISTURBED)),
    ),
    "beforeToolCall": (_READ_TOO_LATE, _SECOND_TOOL, rule("TOOL-34", _twin(lambda c: c.asked))),
    "afterToolCall": (_NOT_RETURNED, rule("TOOL-34", _twin(lambda c: c.asked_again))),
    "settled": (rule("RUN-32", both(loop, _refused)),),
}

CHANGED: Final[Table] = {
    **dict.fromkeys(_WITH_MESSAGES, (rule("MSG-11", _loses_what_nobody_knows),)),
    "message_start": (
        rule("FAIL-30", both(failing, within("errorMessage"), scene(
            lambda s: len(s.beside.thrown) > 1 and s.beside.thrown[0] == s.beside.thrown[1]))),
        rule("MSG-11", _loses_what_nobody_knows),
    ),
    "message_end": (
        rule("STREAM-18", both(_CONTRADICTED, role("assistant"), within("stopReason"))),
        rule("ABORT-17", both(aborting, within("stopReason"), lambda p: (
            not is_failed(p.message)))),
        rule("MSG-11", _loses_what_nobody_knows),
    ),
    "tool_execution_end": (
        _NOT_RETURNED,
        rule("HOOK-22", both(at("result"), call(lambda c: c.left_whole and not c.threw))),
    ),
    "streamFn": (
        _DISTURBED,
        rule("RUN-25", both(_tools_are_new, at("context", "tools"))),
        rule("RUN-25", _hears_of_new_messages),
        rule("MSG-11", _loses_what_nobody_knows),
    ),
    **dict.fromkeys(("transformContext", "convertToLlm", "prepareRequest"), (
        _DISTURBED, rule("RUN-25", _hears_of_new_messages))),
    "execute": (rule("TOOL-44", _changes_open_properties),),
    "beforeToolCall": (rule("TOOL-44", _changes_open_properties),),
    "prepareNextTurn": (rule("TURN-29", loop),),
    "settled": (
        rule("RUN-32", both(loop, _refused)),
        rule("RUN-29", both(broken_off, at("ok"), _comes_ok(True), scene(lambda s: not s.failed and not s.aborted))),
    ),
    "state": (
        _DISTURBED,
        rule("HOOK-23", _is_behind_at_a_hook),
        rule("STATE-11", both(at("messages"), scene(lambda s: s.beside.messages_meanwhile))),
        rule("QUEUE-05", both(at("hasQueuedMessages"), scene(lambda s: s.beside.at_the_end))),
        rule("QUEUE-19", both(at("hasQueuedMessages"), scene(lambda s: s.beside.left))),
        rule("MSG-11", _loses_what_nobody_knows),
    ),
    "messages": (
        _DISTURBED,
        rule("STATE-11", scene(lambda s: s.beside.messages_meanwhile)),
        rule("MSG-11", _loses_what_nobody_knows),
    ),
    "peekQueued": (
        rule("QUEUE-05", scene(lambda s: s.beside.at_the_end)),
        rule("QUEUE-19", scene(lambda s: s.beside.left and not s.returned)),
    ),
}  # fmt: skip

EXTRA_EVENT: Final = (
    rule("STATE-18", both(_counts_twice, _is_repeated)),
    rule("FAIL-15", both(failing, _runs_ahead)),
)
"""Asked of each event that came and should not have."""

EXTRA: Final[Table] = {
    "agent_start": (rule("RUN-32", both(loop, scene(lambda s: s.command.get("cmd") == "continue"))),),
    "message_start": (
        rule("RUN-26", both(_a_prompt_of_nothing, origin("prompt"))),
        rule("TOOL-42", both(origin("result"), nothing_came, scene(lambda s: s.beside.held_of(*TOOL_PHASE)))),
    ),
    "message_update": (rule("STREAM-01", both(nothing_came, scene(lambda s: s.beside.held))),),
    "message_end": (
        rule(
            "STREAM-01",
            both(nothing_came, role("assistant"), scene(lambda s: s.beside.held and not s.failed)),
        ),
    ),
    **dict.fromkeys(("execute", "beforeToolCall", "tool_execution_end"), (_READ_TOO_LATE,)),
    "settled": (rule("RUN-29", both(broken_off, _comes_ok(False))),),
}


def of_a_kind(place: Place) -> Iterable[Rule]:
    """The rules for a place, in order."""
    if {"thinkingLevel", "durationMs"} & set(place.fields):
        return ()  # which every message has, or none
    is_event = bool(place.event)
    if place.way == "changed":
        return CHANGED.get(place.kind, ())
    if place.way == "extra":
        return (*(EXTRA_EVENT if is_event else ()), *EXTRA.get(place.kind, ()))
    return (*(MISSING_EVENT if is_event else ()), *MISSING.get(place.kind, ()))
