"""The monitor of traces: everything that a driven subject said and was told, line by line.

Each listener's events are judged by a monitor of their own (`ears`); what lies between them, the asks and commands, by
the monitors of the transcript. A new `create` begins anew, with what was found kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..lines import commands_of, event_of, is_ask
from .content import Object
from .docket import Docket
from .ears import Ears
from .finding import Finding, Force, Releases
from .transcript.hooks import CallHooks, TurnHooks
from .transcript.queues import Queues
from .transcript.requests import RequestHooks, Streams
from .transcript.scene import OF_CALLS, Scene, name_of, prepares
from .transcript.waiting import Failures, Listeners, Refusals, Signals


class TraceMonitor:
    """Follows one trace. `cancelling`: an abort ends what waits for the outside world."""

    def __init__(
        self,
        force: Force,
        candidates: Iterable[str] | None = None,
        *,
        cancelling: bool = False,
    ) -> None:
        self._docket = Docket(force, candidates)
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
        self._scene = scene = Scene(self._docket, command, cancelling=self._cancelling)
        self._ears = Ears(self._docket, loop=scene.loop, injects=scene.injects)
        for key in command.get("listeners", ()):
            self._ears.subscribe(key)
        self._signals = Signals(scene)
        self._watchers = (
            RequestHooks(scene), Streams(scene), CallHooks(scene), TurnHooks(scene), Queues(scene), Listeners(scene),
            self._signals, Refusals(scene), Failures(scene),
        )  # fmt: skip

    @property
    def candidates(self) -> Releases:
        """The releases that it may still be."""
        return self._docket.candidates

    @property
    def reached(self) -> set[str]:
        """The clauses that were exercised so far."""
        return self._docket.reached

    @property
    def taken(self) -> set[str]:
        """The names of the transitions that were taken so far."""
        return {each.name for each in self._docket.taken}

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
        self._scene.blurred = len(self._commands) > 1
        self._unsettled = [each["op"] for each in self._commands if each.get("cmd") in ("prompt", "continue")]
        self._delivered = [event for _, event in self._scene.heard.values()]
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
        scene = self._scene
        if kind == "subscribe":
            self._ears.join(command["key"], self._delivered)
        elif kind == "unsubscribe":
            self._ears.unsubscribe(command["key"])
            scene.listening = False
        elif kind in ("setMessages", "reset"):
            self._change_state(command)
        elif kind in ("prompt", "continue"):
            scene.give(command.get("input"))
            if not scene.running:
                scene.running.add(command["op"])
        elif kind in ("steer", "followUp"):
            scene.give(command["message"])
        elif kind == "abort":
            scene.aborted = scene.aborted or bool(scene.running)
        elif kind == "answer":
            self._answered(command)
        elif kind in ("end", "fail") or (
            kind == "push" and command["event"].get("type") in ("done", "error")
        ):
            if kind == "fail" and name_of(command["ask"]) in scene.open:
                self._fail()
            scene.close(name_of(command["ask"]))

    def _change_state(self, command: Object) -> None:
        if command.get("cmd") == "setMessages":
            self._ears.forget_state()
        elif command.get("cmd") == "reset":
            self._ears.empty_state()

    def _answered(self, command: Object) -> None:
        scene, ask = self._scene, command["ask"]
        name = name_of(ask)
        if "throw" in command:
            if name in scene.heard:
                self._ears.failed(*scene.heard[name])
                scene.fail()
            elif ask.get("fn") not in OF_CALLS:
                self._fail()
        elif prepares(ask.get("fn")):
            scene.give(command.get("value"))
        if command.get("value") != "stream":
            scene.close(name)

    def _fail(self) -> None:
        self._scene.fail()
        self._ears.failing()

    # --- what is heard ----------------------------------------------------------------------------------------

    def _asked(self, line: Object) -> None:
        ask = line["ask"]
        event = event_of(line)
        if event is None:
            for watcher in self._watchers:
                watcher.asked(ask["fn"], line)
            if ask["fn"] == "streamFn":
                self._scene.request()
        else:
            self._heard(ask["key"], event, line["args"].get("state"), line)
            self._scene.heard[name_of(ask)] = (ask["key"], event)
        self._scene.open[name_of(ask)] = line

    def _told(self, line: Object) -> None:
        what = line["tell"]
        if what == "event":
            self._heard(line["key"], line["event"], line.get("state"), None)
        elif what == "settled":
            self._settled(line)
        elif what == "signal":
            self._signals.signalled(line["ask"])
        elif what == "withdrawn":
            self._scene.close(name_of(line["ask"]))

    def _heard(self, key: str, event: Object, state: Object | None, ask: Object | None) -> None:
        first = self._ears.hear(key, event, state)
        if first:
            self._scene.say(event)
        if self._scene.blurred:
            # It may have been heard before the state was changed.
            for command in self._commands:
                self._change_state(command)
        for watcher in self._watchers:
            if first:
                watcher.said(event)
            watcher.heard(key, event, ask)

    def _settled(self, line: Object) -> None:
        scene, op = self._scene, line["op"]
        refused = not line["ok"] and op in [command.get("op") for command in self._commands]
        if op in self._unsettled:
            self._unsettled.remove(op)
        for watcher in self._watchers:
            watcher.settled(line, refused)
        if op in scene.running:
            scene.running.discard(op)
            if refused and self._unsettled:
                # It has not run after all, and the next one does.
                scene.running.add(self._unsettled[0])
                return
            if not refused:
                self._ears.settled(ok=line["ok"])
            scene.settle()
