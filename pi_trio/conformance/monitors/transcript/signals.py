"""What an abort does at once: it raises the signal of all that is open, and of all that is asked later."""

from __future__ import annotations

from ..content import Object
from .stage import LISTENER, WITHOUT_SIGNAL, Stage, Watcher, name_of


class Signals(Watcher):
    """After an abort the signal is raised, and where aborts cancel, nothing is asked any more."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._due: dict[str, None] = {}

    def sent(self, command: Object) -> None:
        if (
            command.get("cmd") == "abort"
            and self.stage.running
            and not self.stage.aborted
            and self.stage.calm
        ):
            self._due = {name: None for name, line in self.stage.open.items() if line.get("aborted") is False}

    def signalled(self, ask: Object) -> None:
        """The signal has reached an open ask."""
        name = name_of(ask)
        if self._due.pop(name, 0) == 0:
            if self.stage.calm and name not in self.stage.open:
                self.docket.breaks("ABORT-03", "a signal for what is not open")
        else:
            self.docket.holds("ABORT-03")

    def asked(self, fn: str, line: Object) -> None:
        self._check(fn, line)

    def heard(self, _key: str, _event: Object, ask: Object | None) -> None:
        if ask is not None:
            self._check(LISTENER, ask)

    def _check(self, fn: str, line: Object) -> None:
        if not self.stage.calm or self.stage.blurred or fn in WITHOUT_SIGNAL or not self.stage.running:
            return
        raised = line.get("aborted")
        if raised is not self.stage.aborted:
            what = (
                "an ask after an abort without a raised signal"
                if self.stage.aborted
                else "a signal without an abort"
            )
            self.docket.breaks("ABORT-04", what, fn)
        elif self.stage.aborted:
            self.docket.holds("ABORT-04")
            if self.stage.cancelling and fn != LISTENER:
                self.docket.breaks("ABORT-19", "a callback after an abort that cancels", fn)

    def settled(self, _line: Object, refused: bool) -> None:
        if self.stage.cancelling and self.stage.aborted and self.stage.calm and not refused:
            self.docket.holds("ABORT-19")

    def replied(self, _line: Object) -> None:
        left = [name for name in self._due if name in self.stage.open]
        self._due = {}
        if left and self.stage.calm and not self.stage.cancelling:
            self.docket.breaks("ABORT-03", "an open ask that an abort does not reach")
