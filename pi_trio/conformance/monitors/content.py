"""What events hold, against what was said before: the answer's calls, their ends and results, the failure's message.

Each check names the clause that it is made for, held or broken.
"""

from __future__ import annotations

from typing import Any, Final

from pi_trio.conformance.shown import shown

from ..failed import is_failed
from ..fixed_texts import ABORTED, TRUNCATED
from .batch import Call
from .digest import alike
from .docket import Docket
from .order import TURN_END

Object = dict[str, Any]

_RESULT_FIELDS: Final = frozenset({
    "role", "toolCallId", "toolName", "content", "details", "usage", "addedToolNames", "isError", "durationMs",
    "timestamp",
})  # fmt: skip
_MISSING: Final = object()
_TOLD: Final = ("text_", "thinking_", "toolcall_")
"""How the provider events begin of which listeners hear."""
_ENDS_AND_START: Final = ("start", "done", "error")


def message_of(event: Object) -> Object:
    """The message of an event; {} if that is none."""
    message = event.get("message")
    return message if isinstance(message, dict) else {}


def id_of(holder: Object) -> str:
    """The id of the call that an event or a result is about; of what is no id, what it looks like."""
    value = holder.get("toolCallId")
    return value if type(value) is str else shown(value)


def calls_of(message: Object) -> list[Object]:
    """The call blocks of a message, in source order."""
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == "toolCall"]


def is_told(event_type: object) -> bool:
    """Whether a provider event of that type is said as an update."""
    return isinstance(event_type, str) and event_type.startswith(_TOLD)


def is_unknown(event_type: object) -> bool:
    """Whether a type of provider events is one that nobody knows."""
    return isinstance(event_type, str) and not is_told(event_type) and event_type not in _ENDS_AND_START


def ends_as_usual(answer: Object) -> bool:
    """Whether the stop reason of an answer is the one that its content suggests."""
    return answer.get("stopReason") == ("toolUse" if calls_of(answer) else "stop")


def is_failure(message: Object) -> bool:
    """Whether it is what tells that a run has failed: an errored answer that is one empty text."""
    return (
        isinstance(message, dict)
        and message.get("role") == "assistant"
        and is_failed(message)
        and message.get("content") == [{"type": "text", "text": ""}]
        and "errorMessage" in message
        and "thinkingLevel" not in message
    )


def check_answer(docket: Docket, message: Object, partial: Object | None) -> None:
    """The answer of a turn, and what was known of it last before its end."""
    if "thinkingLevel" in message:
        if partial is not None and "thinkingLevel" not in partial:
            docket.tells("MSG-05", "MSG-06", "an answer that says a thinking level")
        else:
            # It may be the provider's own.
            docket.holds("MSG-05")
    elif not is_failure(message):
        docket.tells("MSG-06", "MSG-05", "an answer that says no thinking level")


def check_failure(docket: Docket, message: Object) -> None:
    """The message that tells of a failure."""
    usage = message.get("usage")
    spent = isinstance(usage, dict) and any(each for each in usage.values() if type(each) in (int, float))
    if spent or type(message.get("errorMessage")) is not str:
        docket.breaks("FAIL-06", "a failure's message that is not as it must be")
    else:
        docket.holds("FAIL-06")


def check_start(docket: Docket, call: Call, event: Object) -> None:
    """A `tool_execution_start`, against the call's block."""
    block = call.block
    if event.get("toolCallId") == block.get("id") and event.get("toolName") == block.get("name"):
        if alike(event.get("args", _MISSING), block.get("arguments", _MISSING)):
            docket.holds("TOOL-02")
            return
    docket.breaks("TOOL-02", "a start that has not id, name and arguments of its call", str(call.id))


def check_update(docket: Docket, call: Call, event: Object) -> None:
    """A `tool_execution_update`, against the call's block."""
    block = call.block
    if event.get("toolCallId") == block.get("id") and event.get("toolName") == block.get("name"):
        if event.get("args", _MISSING) == block.get("arguments", _MISSING):
            return
    docket.breaks("TOOL-04", "an update that has not id, name and arguments of its call", str(call.id))


def check_end(docket: Docket, call: Call, event: Object, *, truncated: bool) -> None:
    """A `tool_execution_end`, against the call's block. What is not as it must be is compared with nothing more."""
    found = len(docket.found)
    _check_end(docket, call, event, truncated=truncated)
    call.end = event if len(docket.found) == found else None


def _check_end(docket: Docket, call: Call, event: Object, *, truncated: bool) -> None:
    if event.get("toolCallId") != call.id or event.get("toolName") != call.block.get("name"):
        docket.breaks("TOOL-03", "an end that has not id and name of its call", str(call.id))
    error = event.get("isError")
    result = event.get("result")
    if result is None:
        if error is False:
            docket.as_pi("TOOL-32", "D-12", "an end without a result")
        else:
            docket.breaks("TOOL-03", "an end without a result", str(call.id))
        return
    if error is None:  # a hook may have made it anything else
        docket.breaks("TOOL-03", "an end without isError", str(call.id))
    if "durationMs" in event:
        docket.tells("TOOL-30", "TOOL-31", "an end that says a duration", str(call.id))
        if not _is_duration(event["durationMs"]):
            docket.breaks("TOOL-30", "an end whose duration is no number of milliseconds", str(call.id))
    elif call.reported or error is False:
        docket.tells("TOOL-31", "TOOL-30", "an end that says no duration", str(call.id))
    if truncated:
        if _text_of(result).find(TRUNCATED) >= 0:
            docket.tells(
                "TOOL-23", "TOOL-24", "a call of a truncated answer that was not executed", str(call.id)
            )
        else:
            docket.tells("TOOL-24", "TOOL-23", "a call of a truncated answer that was executed", str(call.id))


def _is_duration(value: Any) -> bool:
    """Whether it is a number that a clock may have told, or stands for one, as in a trace."""
    return value == "#" or (type(value) in (int, float) and value >= 0)


def is_aborted(event: Object) -> bool:
    """Whether it is the end of a call that an abort has left undone."""
    return event.get("isError") is True and _text_of(event.get("result")) == ABORTED


def _text_of(result: Any) -> str:
    content = result.get("content") if isinstance(result, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else None
    return text if type(text) is str else ""


def check_result(docket: Docket, call: Call, message: Object) -> None:
    """A result's message, against the end of its call."""
    end = call.end
    if end is None:
        return
    wrong = [field for field in ("toolCallId", "toolName") if message.get(field, _MISSING) != end.get(field)]
    if not alike(message.get("isError", _MISSING), end.get("isError")):
        wrong.append("isError")
    result = end.get("result")
    if isinstance(result, dict):
        wrong.extend(_differences(docket, result, message))
    if ("durationMs" in message) is not ("durationMs" in end):
        docket.breaks(
            "TOOL-30" if docket.in_force("TOOL-30") else "TOOL-31",
            "a result that does not say a duration just as its end does",
            str(call.id),
        )
    elif message.get("durationMs") != end.get("durationMs"):
        docket.breaks("TOOL-30", "a result with another duration than its end", str(call.id))
    if wrong:
        docket.breaks("MSG-10", f"a result whose {' and '.join(wrong)} is not that of its end", str(call.id))
    else:
        docket.holds("MSG-10")
    if message.keys() <= _RESULT_FIELDS:
        docket.holds("TOOL-37")
    else:
        docket.breaks(
            "TOOL-37", "a result with other fields", ", ".join(sorted(message.keys() - _RESULT_FIELDS))
        )


def _differences(docket: Docket, result: Object, message: Object) -> list[str]:
    wrong = []
    if result.get("content") is not None:
        if not alike(message.get("content"), result["content"]):
            wrong.append("content")
    elif message.get("content") == []:
        docket.tells("TOOL-27", "TOOL-28", "an empty content where the tool gave none")
    elif message.get("content") is None:
        docket.tells("TOOL-28", "TOOL-27", "no content where the tool gave none")
    else:
        wrong.append("content")
    if not alike(message.get("details", _MISSING), result.get("details", _MISSING)):
        wrong.append("details")
    usage = result.get("usage")
    if usage is not None:
        if "usage" not in message:
            for clause in ("TOOL-35", "TOOL-36"):
                docket.denies(clause, "a result without the usage of its call")
            docket.holds("TOOL-29")
        else:
            docket.denies("TOOL-29", "a result with the usage of its call")
            docket.holds("TOOL-35", "TOOL-36")
            if not alike(message["usage"], usage):
                docket.breaks(
                    "TOOL-36" if docket.in_force("TOOL-36") else "TOOL-35",
                    "a result with another usage than its call",
                )
    elif message.get("usage") is not None:
        wrong.append("usage")
    if "addedToolNames" in message:
        for clause in ("TOOL-29", "TOOL-36"):
            docket.denies(clause, "a result with the tools that its call has added")
        other = not alike(message["addedToolNames"], result.get("addedToolNames", _MISSING))
        if other and docket.in_force("TOOL-35"):
            wrong.append("addedToolNames")
    elif result.get("addedToolNames"):
        docket.denies("TOOL-35", "a result without the tools that its call has added")
    return wrong


def check_turn_end(
    docket: Docket, event: Object, answer: Object | None, results: list[Object | None] | None
) -> bool:
    """`turn_end`, against the answer and the results that the turn has said; None is what was not seen.

    Whether it is as it must be.
    """
    found = len(docket.found)
    if answer is not None:
        if alike(event.get("message"), answer):
            docket.holds("TURN-04")
        else:
            docket.breaks("TURN-04", f"{TURN_END} with another message than the turn's answer")
    told = event.get("toolResults")
    if results is None:
        return len(docket.found) == found
    if not isinstance(told, list) or len(told) != len(results):
        count = len(told) if isinstance(told, list) else "no"
        docket.breaks(
            "TURN-05", f"{TURN_END} with other results than were said", f"{count} for {len(results)}"
        )
    elif any(said is not None and not alike(each, said) for each, said in zip(told, results, strict=True)):
        docket.breaks("TURN-05", f"{TURN_END} with other results than were said")
    elif results:
        docket.holds("TURN-05")
    return len(docket.found) == found
