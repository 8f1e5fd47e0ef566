"""What is no matter of a ruling, and so has to be as the runtime or the release has it.

A ruling speaks of how what was begun is closed: turns, the end of a run, failed answers, and failed calls. All else is
*ordinary*. Ordinary lines that both sides have must be there, in that order; those that one side has may be there, in
their place; others may not. From what shows the transcript, such as a request, what closings put into it is left out.
When a run settles depends on how it is closed; how it settles has to be as one of the two has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pi_trio.jsonvalue import ABSENT

from ..compare import canonical, opcodes
from ..lines import event_of, is_callback
from ..protocol import Object

_ELSEWHERE: Final = frozenset({"withdrawn", "unhandled", "settled"})
"""Tells that are looked at elsewhere, or not at all."""

_FRAMES: Final = frozenset({"turn_start", "turn_end", "agent_end"})


def strays(lines: Sequence[Object], one: Sequence[Object], other: Sequence[Object]) -> Iterator[str]:
    """Where the ordinary lines of a trace follow neither of two others."""
    common = {_exactly(line) for line in one} & {_exactly(line) for line in other}
    sides = tuple(_ordinary(each, common) for each in (lines, one, other))
    got, left, right = (_settled(each) for each in (lines, one, other))
    if any(ok not in (left.get(op), right.get(op)) for op, ok in got.items()):
        yield "an operation settles otherwise than in both"
    yield from _strays(*([_outline(line) for line in side] for side in sides))
    yield from _strays(*sides)


def _settled(lines: Sequence[Object]) -> dict[str, bool]:
    return {line["op"]: line["ok"] for line in lines if line.get("tell") == "settled"}


def _strays(got: Sequence[Object], left: Sequence[Object], right: Sequence[Object]) -> Iterator[str]:
    merged: list[tuple[bool, str]] = []
    for tag, first, last, start, stop in opcodes(left, right):
        if tag == "equal":
            merged += [(True, canonical(line)) for line in left[first:last]]
        else:
            merged += [(False, canonical(line)) for line in (*left[first:last], *right[start:stop])]
    places = {0}
    for line in got:
        text = canonical(line)
        places = {after for place in places for after in _reached(merged, place, text)}
        if not places:
            yield f"besides what the ruling is about, it says what neither runtime nor release says there: {text[:200]}"
            return
    if all(any(due for due, _ in merged[place:]) for place in places):
        yield "besides what the ruling is about, something is missing that runtime and release both say"


def _reached(merged: Sequence[tuple[bool, str]], place: int, text: str) -> Iterator[int]:
    """The places behind a line of that text that are reached without leaving out what both have."""
    for index in range(place, len(merged)):
        due, said = merged[index]
        if said == text:
            yield index + 1
        if due:
            return


def _ordinary(lines: Sequence[Object], common: set[str]) -> list[Object]:
    """The ordinary lines, without what closings put into them."""
    found: list[Object] = []
    silent = False
    for line in lines:
        if "send" in line:
            silent = line["send"]["cmd"] == "answer" and line["send"]["ask"]["fn"] == "listener"
        if silent and _says_nothing(line):
            continue
        if line.get("tell") not in _ELSEWHERE and not _closes(line, common):
            found.append(_shape(line))
    return found


def _says_nothing(line: Object) -> bool:
    """Whether a line shows no more than that an answer was given. A refusal does, and so does a reply with a value."""
    return "send" in line or "unresolved" in line or line.get("reply", ABSENT) is None


def _closes(line: Object, common: set[str]) -> bool:
    """Whether it tells of something that is closed, other than both sides do."""
    event = event_of(line)
    if event is None:
        return False
    kind = event["type"]
    if kind in _FRAMES or (kind.startswith("message_") and _failed_answer(event["message"])):
        return True
    failed = event.get("isError") is True or (
        kind.startswith("message_") and _failed_result(event["message"])
    )
    return (failed or kind == "tool_execution_start") and _exactly(line) not in common


def _outline(line: Object) -> Object:
    """Without what a callback or a reply shows: that it is there, both may have, and still show different things."""
    return (
        {key: value for key, value in line.items() if key not in ("args", "reply")} if _shows(line) else line
    )


def _shows(line: Object) -> bool:
    return is_callback(line) or isinstance(line.get("reply"), (dict, list))


def _failed_answer(message: Object) -> bool:
    return message.get("role") == "assistant" and message.get("stopReason") in ("error", "aborted")


def _failed_result(message: Object) -> bool:
    return message.get("role") == "toolResult" and message.get("isError") is True


def _exactly(line: Object) -> str:
    return canonical(_unnumbered(line))


def _unnumbered(line: Object) -> Object:
    """Without the number of its ask, and without the state that goes with an event."""
    plain = {key: value for key, value in line.items() if key != "state"}
    if isinstance(line.get("ask"), dict):
        plain["ask"] = {key: value for key, value in line["ask"].items() if key != "nth"}
    return plain


def _shape(line: Object) -> Object:
    """A line without what closings change in it."""
    shown = _unnumbered(line)
    if "args" in shown:
        shown["args"] = {key: value for key, value in shown["args"].items() if key != "state"}
    shaped: Object = _without_closings(shown)
    return shaped


_LIVE: Final = frozenset({"errorMessage", "streamingMessage", "pendingToolCalls"})
"""Parts of a state that follow from the events, and are looked at there."""


def _without_closings(value: Any) -> Any:
    if isinstance(value, list):
        return [
            _without_closings(item)
            for item in value
            if not (isinstance(item, dict) and (_failed_answer(item) or _failed_result(item)))
        ]
    if not isinstance(value, dict):
        return value
    left_out = _LIVE if "isStreaming" in value else frozenset[str]()
    return {key: _without_closings(item) for key, item in value.items() if key not in left_out}
