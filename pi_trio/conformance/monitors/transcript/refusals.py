"""Who calls during a run is told so at once, in the words that Pi fixes."""

from __future__ import annotations

from pi_trio.conformance.fixed_texts import CONTINUE_REFUSED, PROMPT_REFUSED

from ..content import Object
from .stage import Stage, Watcher


class Refusals(Watcher):
    """A prompt or a continue during a run is refused at once (RUN-09, RUN-10)."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._due: dict[str, str] = {}

    def sent(self, command: Object) -> None:
        kind = command.get("cmd")
        if kind in ("prompt", "continue") and self.stage.running and not self.stage.loop:
            self._due[command["op"]] = kind

    def settled(self, line: Object, refused: bool) -> None:
        op = line.get("op", "")
        if refused and op in self.stage.running:
            # It has not run after all, and the next one does.
            self._due.pop(next(iter(self._due), ""), None)
            return
        kind = self._due.pop(op, None)
        if kind is None:
            return
        clause, text = ("RUN-09", PROMPT_REFUSED) if kind == "prompt" else ("RUN-10", CONTINUE_REFUSED)
        if line.get("ok") is False and line.get("error") == text:
            self.docket.holds(clause)
        else:
            self.docket.breaks(clause, f"a {kind} during a run that is not refused with its text")

    def replied(self, _line: Object) -> None:
        for kind in self._due.values():
            self.docket.breaks(
                "RUN-09" if kind == "prompt" else "RUN-10", f"a {kind} during a run that is not refused"
            )
        self._due = {}
