"""The monitor of traces: everything that a driven subject said and was told, line by line.

Each listener's events are judged by a monitor of their own (`ears`); what lies between them, the asks and commands, by
the monitors of the transcript. A new `create` begins anew, with what was found kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..lines import KEYED, commands_of, event_of, is_ask
from .content import Object
from .docket import Docket, Monitor
from .ears import Ears
from .finding import Finding, Force
from .transcript.failures import Failures
from .transcript.hooks import CallHooks, TurnHooks
from .transcript.listeners import Listeners
from .transcript.payloads import Payloads, Reports
from .transcript.queues import Queues
from .transcript.refusals import Refusals
from .transcript.requests import RequestHooks, Streams
from .transcript.signals import Signals
from .transcript.stage import Stage, name_of, prepares


class TraceMonitor(Monitor):
    """Follows one trace. `cancelling`: an abort ends what waits for the outside world."""

    def __init__(
        self,
        force: Force,
        candidates: Iterable[str] | None = None,
        *,
        cancelling: bool = False,
    ) -> None:
        super().__init__(Docket(force, candidates))
        self._cancelling = cancelling
        self._line = 0
        self._commands: list[Object] = []
        self._done = True
        self._unsettled: list[str] = []
        """The operations that the line has begun, as long as they have not settled."""
        self._delivered: list[Object] = []
        """What listeners held when it came."""
        self._create({})

    def _create(self, command: Object) -> None:
        self._stage = stage = Stage(self._docket, command, cancelling=self._cancelling)
        self._ears = Ears(self._docket, loop=stage.loop, known=stage)
        for key in command.get("listeners", ()):
            self._ears.subscribe(key)
        self._signals = Signals(stage)
        self._watchers = (
            RequestHooks(stage), Streams(stage), CallHooks(stage), Reports(stage), TurnHooks(stage), Queues(stage),
            Listeners(stage), self._signals, Refusals(stage), Failures(stage), Payloads(stage),
        )  # fmt: skip

    @property
    def open(self) -> int:
        """How many callbacks are open."""
        return len(self._stage.open)

    def tell(self, line: Object) -> Sequence[Finding]:
        """Go on by one line."""
        if not self._done:
            if "unresolved" in line or ("error" in line and "tell" not in line):
                self._commands, self._done = [], True
            else:
                self._take_commands()
        self._docket.at = self._line
        self._line += 1
        if "send" in line:
            self._commands = list(commands_of(line))
            self._done = False
        elif is_ask(line):
            self._asked(line)
        elif "tell" in line:
            self._told(line)
        elif "reply" in line or "error" in line:
            for watcher in self._watchers:
                watcher.replied(line)
        return self._docket.collect()

    def _take_commands(self) -> None:
        """The line behind a command shows that it was done: one that cannot be has no effect."""
        self._done = True
        self._stage.blurred = len(self._commands) > 1
        self._unsettled = [each["op"] for each in self._commands if each.get("cmd") in ("prompt", "continue")]
        self._delivered = [event for _, event in self._stage.heard.values()]
        for command in self._commands:
            self._sent(command)

    def end(self) -> Sequence[Finding]:
        """The trace ends here."""
        return self._docket.collect()

    # --- what is sent -----------------------------------------------------------------------------------------

    def _sent(self, command: Object) -> None:
        kind = command.get("cmd")
        if kind == "create":
            self._create(command)
            return
        for watcher in self._watchers:
            watcher.sent(command)
        stage = self._stage
        if kind == "subscribe":
            self._ears.join(command["key"], self._delivered)
        elif kind == "unsubscribe":
            self._ears.unsubscribe(command["key"])
            stage.listening = False
        elif kind in ("setMessages", "reset"):
            self._change_state(command)
        elif kind in ("prompt", "continue"):
            stage.give(command.get("input"))
            if not stage.running:
                stage.running.add(command["op"])
        elif kind == "setTools":
            stage.tools = None  # a run may go on with those that it began with
        elif kind in ("steer", "followUp"):
            stage.give(command["message"])
        elif kind == "abort":
            stage.aborted = stage.aborted or bool(stage.running)
        elif kind == "answer":
            self._answered(command)
        elif kind == "push" and command["event"].get("type") == "start":
            stage.provide(command)
        elif kind in ("end", "fail") or (
            kind == "push" and command["event"].get("type") in ("done", "error")
        ):
            if kind == "fail" and name_of(command["ask"]) in stage.open:
                stage.fail()
            stage.provide(command)
            stage.close(name_of(command["ask"]))

    def _change_state(self, command: Object) -> None:
        if command.get("cmd") == "setMessages":
            self._ears.forget_state()
        elif command.get("cmd") == "reset":
            self._ears.empty_state()

    def _answered(self, command: Object) -> None:
        stage, ask = self._stage, command["ask"]
        name = name_of(ask)
        if "throw" in command:
            if name in stage.heard:
                self._ears.failed(*stage.heard[name])
                stage.fail()
            elif ask.get("fn") not in KEYED:
                stage.fail()
        elif prepares(ask.get("fn")):
            stage.give(command.get("value"))
        if command.get("value") != "stream":
            stage.close(name)

    # --- what is heard ----------------------------------------------------------------------------------------

    def _asked(self, line: Object) -> None:
        ask = line["ask"]
        event = event_of(line)
        if event is None:
            for watcher in self._watchers:
                watcher.asked(ask["fn"], line)
            if ask["fn"] == "streamFn":
                self._stage.request(name_of(ask))
        else:
            self._heard(ask["key"], event, line["args"].get("state"), line)
            self._stage.heard[name_of(ask)] = (ask["key"], event)
        self._stage.open[name_of(ask)] = line

    def _told(self, line: Object) -> None:
        what = line["tell"]
        if what == "event":
            self._heard(line["key"], line["event"], line.get("state"), None)
        elif what == "settled":
            self._settled(line)
        elif what == "signal":
            self._signals.signalled(line["ask"])
        elif what == "withdrawn":
            self._stage.close(name_of(line["ask"]))

    def _heard(self, key: str, event: Object, state: Object | None, ask: Object | None) -> None:
        first = self._ears.hear(key, event, state)
        if first:
            self._stage.say(event)
        if self._stage.blurred:
            # It may have been heard before the state was changed.
            for command in self._commands:
                self._change_state(command)
        for watcher in self._watchers:
            if first:
                watcher.said(event)
            watcher.heard(key, event, ask)

    def _settled(self, line: Object) -> None:
        stage, op = self._stage, line["op"]
        refused = not line["ok"] and op in [command.get("op") for command in self._commands]
        if op in self._unsettled:
            self._unsettled.remove(op)
        for watcher in self._watchers:
            watcher.settled(line, refused)
        if op in stage.running:
            stage.running.discard(op)
            if refused and self._unsettled:
                # It has not run after all, and the next one does.
                stage.running.add(self._unsettled[0])
                return
            if not refused:
                self._ears.settled(ok=line["ok"])
            stage.settle()
