"""Where a conversation comes to what a ruling is about: from there on a release may do otherwise than the runtime.

Of the written scenarios it is on record, line by line, how the releases differ there. Of one that was made up nothing
is on record, so a difference is put down to a ruling only if a command before it enters that ruling; what the release
does then is still judged by the monitors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..lines import commands_of
from ..protocol import Object
from .material import CONTAINED
from .scene import Key, key_of

_FAILURE: Final = ("D-01", "D-02", "D-03", "D-04", "D-09")
"""What applies when a run fails."""

_OF_CALLS: Final = CONTAINED | {"execute"}


def entered(lines: Sequence[Object]) -> frozenset[str]:
    """The rulings that the commands of a trace have entered."""
    streams: set[Key] = set()
    found: set[str] = set()
    for line in lines:
        for command in commands_of(line):
            found.update(_entered(command, streams))
    return frozenset(found)


def _entered(command: Object, started: set[Key]) -> Iterable[str]:
    """`started`: the streams that have seen their `start`."""
    match command["cmd"]:
        case "answer" if "throw" in command:
            return () if command["ask"]["fn"] in _OF_CALLS else _FAILURE
        case "answer" if command["ask"]["fn"] == "execute" and "value" not in command:
            return ("D-12", *_FAILURE)
        case "fail":
            return _FAILURE
        case "end" if "result" not in command:
            return ("D-05", *_FAILURE)
        case "push":
            return _of_event(command["event"], key_of(command["ask"]), started)
        case _:
            return ()


def _of_event(event: Object, stream: Key, started: set[Key]) -> Iterable[str]:
    if event["type"] == "start":
        if stream in started:
            return ("D-06",)
        started.add(stream)
    content = event.get("message", {}).get("content", ())
    calls = [block["id"] for block in content if block.get("type") == "toolCall"]
    return ("D-07",) if len(set(calls)) < len(calls) else ()
