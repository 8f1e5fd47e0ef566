"""What was given to a call comes out of it: its progress, at once and as it was reported, and an error that is one.

A log of events cannot tell what a tool has reported, nor whether a hook has answered with an `isError` that is neither
true nor false. A trace can: the tester itself has given it.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from pi_trio.conformance.shown import shown

from ..content import Object
from ..digest import digest
from .stage import Stage, Watcher, name_of

_MAKERS: Final = ("execute", "afterToolCall")
_REMEMBERED: Final = 256
"""How many reports are remembered; where there were more, an older one may be told as well."""
_ABSENT: Final = ["absent"]


class Payloads(Watcher):
    """Updates carry what was reported (TOOL-04), and `isError` is true or false, unless it was given (TOOL-03)."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._reported: deque[tuple[str, int]] = deque(maxlen=_REMEMBERED)
        self._given: set[int] = set()
        """The digests of what was given for `isError`, as far as it is neither true nor false."""

    def sent(self, command: Object) -> None:
        ask, value = command.get("ask"), command.get("value", _ABSENT)
        if not isinstance(ask, dict):
            return
        if command.get("cmd") == "update":
            self._reported.append((str(ask.get("key")), digest(value)))
        elif ask.get("fn") in _MAKERS and isinstance(value, dict) and _is_odd(value.get("isError")):
            self._given.add(digest(value["isError"]))

    def said(self, event: Object) -> None:
        if event.get("type") == "tool_execution_update":
            self._told(str(event.get("toolCallId")), event.get("partialResult", _ABSENT))
        elif event.get("type") == "tool_execution_end":
            error = event.get("isError")
            if _is_odd(error) and digest(error) not in self._given:
                self.docket.breaks("TOOL-03", "an end whose isError is neither true nor false", shown(error))

    def _told(self, key: str, partial: Any) -> None:
        if (key, digest(partial)) in self._reported:
            self.docket.holds("TOOL-04")
        elif len(self._reported) < _REMEMBERED:
            self.docket.breaks("TOOL-04", "an update with another partial result than was reported", key)


class Reports(Watcher):
    """What a tool reports is heard of at once, if nobody is in the way (TOOL-22)."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._due: str | None = None

    def sent(self, command: Object) -> None:
        if self._due is not None:
            self.docket.breaks("TOOL-22", "a report of a tool that nobody hears of", self._due)
        self._due, stage = None, self.stage
        idle = stage.calm and not stage.blurred and not stage.aborted and not stage.heard
        if (
            command.get("cmd") == "update"
            and idle
            and stage.running
            and name_of(command["ask"]) in stage.open
        ):
            self._due = str(command["ask"].get("key"))

    def said(self, event: Object) -> None:
        if event.get("type") == "tool_execution_update" and str(event.get("toolCallId")) == self._due:
            self.docket.holds("TOOL-22")
            self._due = None


def _is_odd(error: Any) -> bool:
    """Whether it is no truth value; what is absent is another monitor's concern."""
    return error is not None and type(error) is not bool
