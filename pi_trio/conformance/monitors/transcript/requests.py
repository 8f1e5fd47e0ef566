"""Requests: their hooks in order, and what the stream gives is what is said."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from ...failed import is_failed
from ..content import Object, is_told, is_unknown, message_of
from .stage import REQUEST_HOOKS, Stage, Watcher, name_of, timeless


class RequestHooks(Watcher):
    """The hooks of a request are asked once each, in order, before the stream function (STREAM-10, STREAM-12)."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._order = [*(hook for hook in REQUEST_HOOKS if hook in stage.hooks), "streamFn"]
        self._asked = 0

    def asked(self, fn: str, _line: Object) -> None:
        if fn not in self._order or not self.stage.calm:
            return
        due = self._order[self._asked]
        if fn == due:
            if len(self._order) > 1:
                self.docket.holds("STREAM-12" if fn == "prepareRequest" else "STREAM-10")
            self._asked = (self._asked + 1) % len(self._order)
        else:
            clause = "STREAM-12" if "prepareRequest" in (fn, due) else "STREAM-10"
            self.docket.breaks(
                clause, "a hook of a request that is not its next one", f"{fn} instead of {due}"
            )
            self._asked = (self._order.index(fn) + 1) % len(self._order)

    def said(self, event: Object) -> None:
        if event.get("type") in ("agent_start", "turn_start", "turn_end", "agent_end"):
            self._asked = 0


class Streams(Watcher):
    """Each event of a stream is said as it was given (STREAM-02, STREAM-03, STREAM-05)."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._given: deque[tuple[str, Object]] = deque()
        self._ends: list[tuple[Any, Any]] = []
        """What may be the answer, and the type of the event that brought it."""
        self._started = False
        self._unknown = False
        """The stream has given an event that nobody knows."""
        self._over = False
        self._stream = ""
        self._latest: Object = {}
        """The event of the stream that was said last."""

    def asked(self, fn: str, line: Object) -> None:
        if fn == "streamFn":
            self._latest = {}
            self._given.clear()
            self._ends = []
            self._started = self._over = self._unknown = False
            self._stream = name_of(line["ask"])

    def sent(self, command: Object) -> None:
        if command.get("cmd") not in ("push", "end") or name_of(command.get("ask", {})) != self._stream:
            return
        if command["cmd"] == "end":
            self._ends.append((None, command.get("result")))
            return
        event = command.get("event")
        if not isinstance(event, dict) or self._over:
            return
        kind = event.get("type")
        if kind == "start":
            if not self._started:
                self._given.append(("message_start", event))
            self._started = True
        elif kind in ("done", "error"):
            self._ends.append((kind, event.get("message") if kind == "done" else event.get("error")))
            self._over = True
        elif is_unknown(kind):
            self._unknown = True
        elif self._started and is_told(kind):
            self._given.append(("message_update", event))

    def said(self, event: Object) -> None:
        kind = event.get("type")
        message = message_of(event)
        if kind == "turn_start":
            # What an abort has cut off is not said any more.
            self._given.clear()
            self._stream = ""
        if not self._stream or message.get("role") != "assistant" or not self.stage.calm:
            return
        if kind == "message_update":
            told = event.get("assistantMessageEvent")
            if not (isinstance(told, dict) and is_unknown(told.get("type"))):
                self._next(event, message)
        elif kind == "message_start" and self._given and self._given[0][0] == kind:
            right = timeless(message) == timeless(self._given[0][1].get("partial"))
            if right or not self._cut:
                self._given.popleft()
                self._compare("STREAM-02", right, "an answer that does not start as its stream does")
        elif kind == "message_end" and self._ends and not self._cut:
            self._end(message)

    @property
    def _cut(self) -> bool:
        return self.stage.cancelling and self.stage.aborted

    def _next(self, event: Object, message: Object) -> None:
        if self._given and self._given[0][0] == "message_start":
            self._given.popleft()  # what was started without it is the fault of the order
        if self._given and _says(event, message, self._given[0][1]):
            self._latest = self._given.popleft()[1]
            self.docket.holds("STREAM-03")
        elif not self._given or _says(event, message, self._latest):
            self.docket.breaks("STREAM-03", "an update that the stream does not have here")
        else:
            self._skip_to(event, message)

    def _skip_to(self, event: Object, message: Object) -> None:
        """An update is not that of the stream's next event: it is a later one's, or is changed."""
        later = next((at for at, (_, given) in enumerate(self._given) if _says(event, message, given)), None)
        if later is None:
            self.docket.breaks("STREAM-03", "an update that is not the stream's event")
        else:
            self.docket.breaks("STREAM-03", "an event of the stream that was not said")
        for _ in range(1 if later is None else later + 1):
            self._latest = self._given.popleft()[1]

    def _end(self, message: Object) -> None:
        if self._given:
            if self._given[0][0] == "message_update":
                self.docket.breaks("STREAM-03", "an event of the stream that was not said")
            self._given.clear()
        finals = [(kind, _unlevelled(each)) for kind, each in self._ends if isinstance(each, dict)]
        if finals:
            said = _unlevelled(message)
            right = any(said == final for _, final in finals)
            if right:
                self.docket.holds("STREAM-05", *self._shown_by(said, finals))
            else:
                clause = self._ended_otherwise(said, finals)
                self.docket.breaks(clause, "an answer that is not the stream's result")
                self.stage.wrong_answer = message
        self._stream = ""

    def _shown_by(self, said: Object, finals: Sequence[tuple[Any, Object]]) -> Iterator[str]:
        """What an answer shows besides, if it is what its stream has given."""
        if self._unknown:
            yield "STREAM-09"
        if any(said == final and _contradicts(kind, final) for kind, final in finals):
            yield "STREAM-18"
        if self.stage.aborted and not is_failed(said):
            yield "ABORT-17"

    def _ended_otherwise(self, said: Object, finals: Sequence[tuple[Any, Object]]) -> str:
        """The clause that is broken by an answer which is not what the stream has given: whose end was read off
        something else than its message, or which is another one altogether.
        """
        for kind, final in finals:
            if _but_for_its_end(said) == _but_for_its_end(final) and is_failed(said) is not is_failed(final):
                if _contradicts(kind, final):
                    return "STREAM-18"
                if self.stage.aborted and is_failed(said):
                    return "ABORT-17"
        return "STREAM-05"

    def _compare(self, clause: str, right: bool, what: str) -> None:
        if right:
            self.docket.holds(clause)
        else:
            self.docket.breaks(clause, what)


def _says(event: Object, message: Object, given: Object) -> bool:
    """Whether an update says an event of the stream."""
    told = event.get("assistantMessageEvent")
    return (
        isinstance(told, dict)
        and _bare(told) == _bare(given)
        and timeless(message) == timeless(given.get("partial"))
    )


def _unlevelled(message: Object) -> Object:
    return {key: value for key, value in message.items() if key not in ("thinkingLevel", "timestamp")}


def _contradicts(kind: str | None, final: Object) -> bool:
    """Whether the type of the event that brings an answer says something else of its end than the answer."""
    return kind is not None and is_failed(final) is (kind == "done")


def _but_for_its_end(message: Object) -> Object:
    return {key: value for key, value in message.items() if key not in ("stopReason", "errorMessage")}


def _bare(event: Object) -> Object:
    return {key: value for key, value in event.items() if key != "partial"}
