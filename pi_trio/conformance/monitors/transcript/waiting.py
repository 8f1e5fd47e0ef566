"""Who waits for whom: listeners, aborts, settlement, refusals, and what a failure must come to."""

from __future__ import annotations

from typing import Final

from ..content import Object, id_of, is_failed, message_of
from .scene import LISTENER, WITHOUT_SIGNAL, Scene, Watcher, name_of

_TOOL_PHASE: Final = frozenset({"tool_execution_update", "tool_execution_end"})
PROMPT_REFUSED: Final = (
    "Agent is already processing a prompt. Use steer() or followUp() to queue messages, "
    "or wait for completion."
)
CONTINUE_REFUSED: Final = "Agent is already processing. Wait for completion before continuing."


class Listeners(Watcher):
    """While a listener holds an event, the run stands still (STATE-14), and who is behind it waits (STATE-13)."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._order: list[str] = []
        for key in scene.create.get("listeners", ()):
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
        return [self.scene.heard[name] for name in self.scene.open if name in self.scene.heard]

    def heard(self, key: str, event: Object, _ask: Object | None) -> None:
        if event.get("type") in _TOOL_PHASE or not self.scene.calm or key not in self._order:
            return
        for other, held in self._holds():
            if held == event and other != key and other in self._order:
                if self._order.index(other) < self._order.index(key):
                    self.docket.breaks("STATE-13", "an event at a listener while one before it holds it", key)
                    return
        self.docket.holds("STATE-13")

    def said(self, event: Object) -> None:
        self._moves(str(event.get("type")))

    def asked(self, fn: str, _line: Object) -> None:
        self._moves(fn)

    def _moves(self, what: str) -> None:
        if not self.scene.calm:
            return
        held = [event for _, event in self._holds() if event.get("type") not in _TOOL_PHASE]
        if held:
            self.docket.breaks("STATE-14", f"{what} while a listener holds {held[0].get('type')}")
        else:
            self.docket.holds("STATE-14")

    def settled(self, line: Object, refused: bool) -> None:
        if refused or line.get("op") not in self.scene.running:
            return
        if any(event.get("type") == "agent_end" for _, event in self._holds()):
            self.docket.breaks("RUN-17", "a run that settles while a listener holds its agent_end")
        else:
            self.docket.holds("RUN-17")


class Signals(Watcher):
    """After an abort the signal is raised, and where aborts cancel, nothing is asked any more."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._due: dict[str, None] = {}

    def sent(self, command: Object) -> None:
        if (
            command.get("cmd") == "abort"
            and self.scene.running
            and not self.scene.aborted
            and self.scene.calm
        ):
            self._due = {name: None for name, line in self.scene.open.items() if line.get("aborted") is False}

    def signalled(self, ask: Object) -> None:
        """The signal has reached an open ask."""
        name = name_of(ask)
        if self._due.pop(name, 0) == 0:
            if self.scene.calm and name not in self.scene.open:
                self.docket.breaks("ABORT-03", "a signal for what is not open")
        else:
            self.docket.holds("ABORT-03")

    def asked(self, fn: str, line: Object) -> None:
        self._check(fn, line)

    def heard(self, _key: str, _event: Object, ask: Object | None) -> None:
        if ask is not None:
            self._check(LISTENER, ask)

    def _check(self, fn: str, line: Object) -> None:
        if not self.scene.calm or self.scene.blurred or fn in WITHOUT_SIGNAL or not self.scene.running:
            return
        raised = line.get("aborted")
        if raised is not self.scene.aborted:
            what = (
                "an ask after an abort without a raised signal"
                if self.scene.aborted
                else "a signal without an abort"
            )
            self.docket.breaks("ABORT-04", what, fn)
        elif self.scene.aborted:
            self.docket.holds("ABORT-04")
            if self.scene.cancelling and fn != LISTENER:
                self.docket.breaks("ABORT-19", "a callback after an abort that cancels", fn)

    def settled(self, _line: Object, refused: bool) -> None:
        if self.scene.cancelling and self.scene.aborted and self.scene.calm and not refused:
            self.docket.holds("ABORT-19")

    def replied(self, _line: Object) -> None:
        left = [name for name in self._due if name in self.scene.open]
        self._due = {}
        if left and self.scene.calm and not self.scene.cancelling:
            self.docket.breaks("ABORT-03", "an open ask that an abort does not reach")


class Refusals(Watcher):
    """A prompt or a continue during a run is refused at once (RUN-09, RUN-10)."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._due: dict[str, str] = {}

    def sent(self, command: Object) -> None:
        kind = command.get("cmd")
        if kind in ("prompt", "continue") and self.scene.running and not self.scene.loop:
            self._due[command["op"]] = kind

    def settled(self, line: Object, refused: bool) -> None:
        op = line.get("op", "")
        if refused and op in self.scene.running:
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


class Failures(Watcher):
    """Who must fail the run, fails it; the tools and their hooks do not (FAIL-01 … FAIL-05, FAIL-12)."""

    _CLAUSES: Final = {
        LISTENER: "FAIL-01", "transformContext": "FAIL-02", "convertToLlm": "FAIL-02", "getApiKey": "FAIL-02",
        "prepareRequest": "FAIL-37", "prepareNextTurn": "FAIL-03", "prepareNextTurnWithContext": "FAIL-03",
        "finishTurn": "FAIL-04", "shouldStopAfterTurn": "FAIL-36", "streamFn": "FAIL-05",
    }  # fmt: skip

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
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
        if self._ended or name_of(ask) not in self.scene.open:
            return
        if kind == "fail":
            self._due = self._due or "FAIL-05"
        elif kind in ("push", "end"):
            self._give(command)
        elif kind == "answer" and "throw" in command:
            if fn == LISTENER and not self._of_run(self.scene.heard[name_of(ask)][1]):
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
        return event.get("type") not in _TOOL_PHASE or id_of(event) in self._calls

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
        if self._ended or self.scene.loop:
            return
        self._ended = True
        told = is_failed(self._last)
        if self._due is not None:
            if told:
                self.docket.holds(self._due)
            else:
                self.docket.breaks(self._due, "a run that does not fail though it must")
        elif self._harmless - self._provided and not self.scene.aborted:
            if told and self._last.get("errorMessage") in self._harmless - self._provided:
                self.docket.breaks("FAIL-12", "a run that fails because of a tool")
            else:
                self.docket.holds("FAIL-12")

    def settled(self, _line: Object, refused: bool) -> None:
        if not refused:
            self._ended = True
