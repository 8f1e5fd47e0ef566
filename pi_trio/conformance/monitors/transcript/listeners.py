"""While a listener holds an event, the run and its stream wait for it, and so does whoever is behind it."""

from __future__ import annotations

from typing import Final

from ...lines import TOOL_PHASE
from ..content import Object, message_of
from .stage import Stage, Watcher

_OF_A_STREAM: Final = ("message_update", "message_end")
_WHILE_STREAMING: Final = ("message_start", "message_update")


class Listeners(Watcher):
    """While a listener holds an event, the run stands still (STATE-14), its stream too (STREAM-01), and who is behind
    it waits (STATE-13).
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._order: list[str] = []
        self._stands_still = True
        """It has stood still whenever a listener held an event, but for its stream."""
        self._held: tuple[str, Object] | None = None
        """Who held an event last, if nothing has moved since."""
        self._holds_end = False
        """Somebody has held the end of the run."""
        for key in stage.create.get("listeners", ()):
            self._join(key)

    def _join(self, key: str) -> None:
        if key not in self._order:
            self._order.append(key)

    def sent(self, command: Object) -> None:
        if command.get("cmd") == "subscribe":
            self._join(command["key"])
        elif command.get("cmd") == "unsubscribe" and command.get("key") in self._order:
            self._order.remove(command["key"])

    def _holds(self) -> list[tuple[str, Object]]:
        """Who holds what."""
        return [self.stage.heard[name] for name in self.stage.open if name in self.stage.heard]

    def heard(self, key: str, event: Object, ask: Object | None) -> None:
        if ask is not None:
            self._holds_end = self._holds_end or event.get("type") == "agent_end"
        self._awaits(key, event)
        if ask is not None and event.get("type") not in TOOL_PHASE:
            self._held = key, event

    def _awaits(self, key: str, event: Object) -> None:
        if event.get("type") in TOOL_PHASE or not self.stage.calm or key not in self._order:
            return
        for other, held in self._holds():
            if held == event and other != key and other in self._order:
                if self._order.index(other) < self._order.index(key):
                    self.docket.breaks("STATE-13", "an event at a listener while one before it holds it", key)
                    return
        if self._held is not None and self._held[1] == event and self._held[0] in self._order:
            if self._order.index(self._held[0]) < self._order.index(key):
                self.docket.holds("STATE-13")

    def said(self, event: Object) -> None:
        if event.get("type") == "agent_start":
            self._holds_end = False
        self._moves(str(event.get("type")))

    def asked(self, fn: str, _line: Object) -> None:
        self._moves(fn)

    def _moves(self, what: str) -> None:
        if not self.stage.calm:
            return
        held = next((event for _, event in self._holds() if event.get("type") not in TOOL_PHASE), None)
        if held is None:
            if self._held is not None:
                self.docket.holds("STREAM-01" if what == "message_update" else "STATE-14")
            self._held = None
            return
        answers = held.get("type") in _WHILE_STREAMING and message_of(held).get("role") == "assistant"
        reads_on = self._stands_still and answers and what in _OF_A_STREAM
        self._stands_still = self._stands_still and reads_on
        clause = "STREAM-01" if reads_on else "STATE-14"
        self.docket.breaks(clause, f"{what} while a listener holds {held.get('type')}")

    def settled(self, line: Object, refused: bool) -> None:
        if refused or line.get("op") not in self.stage.running:
            return
        if any(event.get("type") == "agent_end" for _, event in self._holds()):
            self.docket.breaks("RUN-17", "a run that settles while a listener holds its agent_end")
        elif self._holds_end:
            self.docket.holds("RUN-17")
