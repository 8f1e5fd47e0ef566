"""The state that is seen with an event, against what the events before it entail.

An event is reduced once, when the first listener hears it; whoever hears it later sees the state of then, which other
events may have changed meanwhile. What was not seen to begin is not known, and not judged until it is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from .content import Object, id_of, message_of
from .docket import Docket

_UNKNOWN: Final = object()


class Reduction:
    """Follows the state of one agent."""

    def __init__(self, docket: Docket) -> None:
        self._docket = docket
        self._streaming: Any = _UNKNOWN
        self._error: Any = _UNKNOWN
        self._pending: Counter[Any] | None = None
        self._ids: set[Any] = set()
        self._count: int | None = None
        self._owed: dict[str, Any] = {}
        """What each field was to show with the latest event, and did not."""
        self._emptied = False
        """It was reset, and no run has begun since."""

    def forget(self) -> None:
        """The state was changed by hand: what it holds now is not known."""
        self._count = None
        self._pending = None
        self._owed = {}

    def empty(self) -> None:
        """The state was reset: under an open run, where that is not refused, and then it does not look like one."""
        self.forget()
        self._emptied = True
        self._streaming = self._error = _UNKNOWN

    def doubt(self) -> None:
        """What was reduced may not be all that was said."""
        self.forget()
        self._streaming = self._error = _UNKNOWN

    def reduce(self, event: Object) -> None:
        """An event is said."""
        kind = event.get("type")
        if kind in ("message_start", "message_update"):
            self._streaming = event.get("message")
        elif kind == "message_end":
            self._streaming = None
            if self._count is not None:
                self._count += 1
        elif kind == "tool_execution_start":
            if self._pending is not None:
                self._pending[id_of(event)] += 1
            self._ids.add(id_of(event))
        elif kind == "tool_execution_end":
            self._end(id_of(event))
        elif kind == "turn_end":
            message = message_of(event)
            if message.get("role") == "assistant" and message.get("errorMessage"):
                self._error = message["errorMessage"]
        elif kind == "agent_start":
            self._streaming, self._error = None, None
            self._pending, self._ids, self._owed = Counter(), set(), {}
            self._emptied = False
        elif kind == "agent_end":
            self._streaming = None

    def _end(self, call_id: Any) -> None:
        if self._pending is not None:
            self._pending[call_id] -= 1
            self._pending = +self._pending
        self._ids.discard(call_id)

    # --- what is seen -----------------------------------------------------------------------------------------

    def see(self, event: Object, state: Object, *, first: bool) -> None:
        """A state is seen with an event; `first`: by the first listener that hears it."""
        docket = self._docket
        found = len(docket.found)
        if not self._emptied:
            self._holds("STATE-01", state.get("isStreaming") is True, "a run that is not streaming")
        self._holds("STATE-09", "signal" in state, "a run without a signal")
        if self._streaming is not _UNKNOWN:
            updates = first and event.get("type") == "message_update"
            self._see_what_was_owed(state, "streamingMessage", self._streaming, first=first)
            self._holds(
                "STATE-03" if updates else "STATE-02",
                state.get("streamingMessage") == self._streaming,
                "another streamingMessage than the one that is open",
            )
            self._streaming = state.get("streamingMessage")
        if self._error is not _UNKNOWN:
            self._see_what_was_owed(state, "errorMessage", self._error, first=first)
            clause = "STATE-06" if event.get("type") != "turn_end" else "STATE-05"
            self._holds(
                clause, state.get("errorMessage") == self._error, "another errorMessage than was told"
            )
            self._error = state.get("errorMessage")
        if self._pending is not None:
            self._see_pending(state.get("pendingToolCalls"))
        messages = state.get("messages")
        if isinstance(messages, list):
            self._see_messages(event, messages, first=first)
        if first and len(docket.found) == found:
            docket.holds("STATE-08")

    def _see_what_was_owed(self, state: Object, field: str, due: Any, *, first: bool) -> None:
        """Whether a field shows only now what it owed with the event before: then it is not wrong, but late."""
        if first:
            seen, owed = state.get(field), self._owed.pop(field, _UNKNOWN)
            if seen != due:
                self._owed[field] = due
                if seen == owed:
                    self._docket.breaks("STATE-08", "a state that changes when its event has been heard")

    def _holds(self, clause: str, right: bool, what: str) -> None:
        if right:
            self._docket.holds(clause)
        else:
            self._docket.breaks(clause, what)

    def _see_pending(self, ids: Any) -> None:
        assert self._pending is not None
        known = isinstance(ids, list) and all(type(each) is str for each in ids)
        if known and len(ids) == len(self._pending) and all(each in self._pending for each in ids):
            self._docket.holds("STATE-04", "TOOL-33")
        elif known and len(ids) == len(self._ids) and all(each in self._ids for each in ids):
            self._docket.as_pi("TOOL-33", "D-07", "a call that runs and is not pending")
        else:
            self._docket.breaks("STATE-04", "other pending calls than those that were started and not ended")
            self._pending = None

    def _see_messages(self, event: Object, messages: list[Any], *, first: bool) -> None:
        ended = first and event.get("type") == "message_end"
        if ended and (not messages or messages[-1] != event.get("message")):
            self._docket.breaks("STATE-07", "a message that has ended and is not the last of the transcript")
        elif self._count is not None:
            self._holds(
                "STATE-07", len(messages) == self._count, "a transcript with other messages than were said"
            )
        self._count = len(messages)
