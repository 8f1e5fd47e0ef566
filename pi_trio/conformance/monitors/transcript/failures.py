"""What a failure must come to: whose error fails the run, and whose does not."""

from __future__ import annotations

from typing import Final

from ...failed import is_failed
from ...lines import TOOL_PHASE
from ..content import Object, id_of, message_of
from .stage import LISTENER, Stage, Watcher, name_of


class Failures(Watcher):
    """Who must fail the run, fails it; the tools and their hooks do not (FAIL-01 … FAIL-05, FAIL-12)."""

    _CLAUSES: Final = {
        LISTENER: "FAIL-01", "transformContext": "FAIL-02", "convertToLlm": "FAIL-02", "getApiKey": "FAIL-02",
        "prepareRequest": "FAIL-37", "prepareNextTurn": "FAIL-03", "prepareNextTurnWithContext": "FAIL-03",
        "finishTurn": "FAIL-04", "shouldStopAfterTurn": "FAIL-36", "streamFn": "FAIL-05",
    }  # fmt: skip

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._due: str | None = None
        self._last: Object = {}
        self._harmless: set[str] = set()
        self._provided: set[str] = set()
        self._calls: set[str] = set()
        self._ended = True

    def sent(self, command: Object) -> None:
        kind = command.get("cmd")
        ask = command.get("ask", {})
        fn = ask.get("fn") if isinstance(ask, dict) else None
        if self._ended or name_of(ask) not in self.stage.open:
            return
        if kind == "fail":
            self._due = self._due or "FAIL-05"
        elif kind in ("push", "end"):
            self._give(command)
        elif kind == "answer" and "throw" in command:
            if fn == LISTENER and not self._of_run(self.stage.heard[name_of(ask)][1]):
                return
            if fn in self._CLAUSES:
                self._due = self._due or self._CLAUSES[fn]
            else:
                self._harmless.add(command["throw"])

    def _give(self, command: Object) -> None:
        """The provider says that it has failed: then the run may fail with these words."""
        event = command.get("event")
        failure = (
            command.get("result")
            if command["cmd"] == "end"
            else isinstance(event, dict) and event.get("error")
        )
        if isinstance(failure, dict):
            self._provided.add(str(failure.get("errorMessage")))

    def _of_run(self, event: Object) -> bool:
        """Whether an event is of the open run, and not of a call that a failed one has left open."""
        return event.get("type") not in TOOL_PHASE or id_of(event) in self._calls

    def said(self, event: Object) -> None:
        kind = event.get("type")
        message = message_of(event)
        if kind == "agent_start":
            self._due, self._last, self._ended = None, {}, False
            self._harmless, self._provided, self._calls = set(), set(), set()
        elif kind == "tool_execution_start":
            self._calls.add(id_of(event))
        elif kind == "message_end" and message.get("role") == "assistant":
            self._last = message
        elif kind == "agent_end":
            self._run_ends()

    def _run_ends(self) -> None:
        if self._ended or self.stage.loop:
            return
        self._ended = True
        told = is_failed(self._last)
        if self._due is not None:
            if told:
                self.docket.holds(self._due)
            elif not self.ends_wrongly:
                self.docket.breaks(self._due, "a run that does not fail though it must")
        elif self._harmless - self._provided and not self.stage.aborted:
            if told and self._last.get("errorMessage") in self._harmless - self._provided:
                self.docket.breaks("FAIL-12", "a run that fails because of a tool")
            else:
                self.docket.holds("FAIL-12")

    def settled(self, _line: Object, refused: bool) -> None:
        if not refused:
            self._ended = True
