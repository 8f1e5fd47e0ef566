"""A difference in one sentence."""

from __future__ import annotations

from typing import Any, Final

from ..lines import event_of, is_ask
from ..protocol import Object
from ..shown import shown
from ..slips import told_or_asked
from .place import Path, Place

_LONGEST: Final = 60


def said(place: Place) -> str:
    """What happened."""
    line, other = name_of(place.line), name_of(place.other)
    if slip := slip_in(place):
        return f"{line}: {slip}"
    if place.way == "changed":
        wanted, came = (_value(each, place.whole_path) for each in (place.line, place.other))
        what = _dotted(place.path) or ("the state" if place.whole_path[-1:] == ("state",) else "it")
        return f"{line}: {what} is {came}, and should be {wanted}"
    if place.way == "extra":
        return f"{line} came, where {other} was to come"
    if place.other is None:
        return f"{line} did not come, nor anything behind it"
    if place.way == "missing":
        return f"{line} did not come; {other} came"
    return f"{other} came in place of {line}"


def slip_in(place: Place) -> str:
    """What is to be said if a listener hears of the right event in the wrong way; else nothing."""
    lines = (place.line, place.other)
    return told_or_asked(*(reversed(lines) if place.way == "extra" else lines))


def name_of(line: Object | None) -> str:
    """A line in a few words."""
    if line is None:
        return "nothing more"
    event = event_of(line)
    if isinstance(event, dict):
        listener = line["key"] if "tell" in line else line["ask"].get("key", "")
        return f"{_told(event)} to {listener}"
    if is_ask(line):
        return f"a call of {_callback(line['ask'])}"
    if "tell" in line:
        about = line.get("op") or _callback(line.get("ask")) or line.get("tool")
        return f"{line['tell']} of {about}" if about else str(line["tell"])
    if "send" in line:
        return f"the command {line['send'].get('cmd')}"
    if "end" in line:
        return f"the end ({line['end']})"
    return "a refusal" if "error" in line else "the end of the step"


def _told(event: Object) -> str:
    """An event, and whose it is: `tool_execution_end t1`, `message_start user`."""
    message = event.get("message")
    about = event.get("toolCallId", "")
    if str(event.get("type")).startswith("message") and isinstance(message, dict):
        about = message.get("toolCallId") or message.get("role", "")
    return f"{event.get('type')} {about}".rstrip()


def _callback(ask: Any) -> str:
    if not isinstance(ask, dict):
        return ""
    of = ask.get("key")
    return f"{ask.get('fn')} for {of}" if of is not None else str(ask.get("fn"))


def _dotted(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _value(line: Object | None, path: Path) -> str:
    """What stands there, in short."""
    value: Any = line
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return "absent"
    return shown(value, _LONGEST)
