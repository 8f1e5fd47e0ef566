"""What is going on in a conversation, as far as it decides what can be done next.

The machine draws its next stimulus from what is open now: asks that wait, streams that are being fed, whether a run is
under way. All of that is read off the trace, line by line, so the same scene can be made of anybody's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import attrs

from ..lines import event_of
from ..protocol import Object

Key: TypeAlias = tuple[Any, ...]
"""An address, as something that can be looked up."""

_LATE: Final = 3
"""Of how many tools that have returned the calls are remembered, for reports that come late."""


def key_of(address: Object) -> Key:
    """The same for the same address."""
    return address["fn"], address.get("key"), address.get("event"), address["nth"]


@attrs.define(eq=False)
class Open:
    """An ask that waits.

    Attributes:
        planned: of a `streamFn`, the events that are meant for it.
        plan: those that are still to come, once it was answered with a stream.
    """

    address: Object
    args: Object
    planned: Sequence[Object] = ()
    plan: deque[Object] | None = None


class Scene:
    """What is open in one conversation.

    Attributes:
        hello: how the subject introduced itself, which says what it offers.
        create: the command that has made the agent.
    """

    def __init__(self, hello: Object, create: Object) -> None:
        self.hello = hello
        self.create = create
        self.loop: Final = create.get("target") == "loop"
        self.open: dict[Key, Open] = {}
        self.returned: deque[Object] = deque(maxlen=_LATE)
        """The addresses of tools that have returned, the latest last."""
        self.closed: Object | None = None
        """The stream that was closed last."""
        self.running: dict[str, None] = {}
        """The operations that have not settled."""
        self.listeners: list[str] = [*create.get("listeners", ())]
        self.aborted = False
        """An abort has come in this run."""
        self.operations = 0
        self.calls = 0
        """How many calls of tools were made up so far."""
        self.started: set[str] = set()
        """The calls of this turn that have started."""

    def of(self, fn: str) -> list[Open]:
        """The open asks of a function, oldest first; of `streamFn` only those that have no stream yet."""
        return [each for key, each in self.open.items() if key[0] == fn and each.plan is None]

    @property
    def streams(self) -> list[Open]:
        """The streams that are being fed."""
        return [each for each in self.open.values() if each.plan is not None]

    @property
    def idle(self) -> bool:
        """No run is under way."""
        return not self.runs

    @property
    def runs(self) -> list[str]:
        """The operations that run; to wait for idle is none."""
        return [op for op in self.running if not op.startswith("w")]

    def follow(self, lines: Iterable[Object]) -> None:
        """Go on by whole steps of the trace: each a command, what followed, and its reply."""
        step: list[Object] = []
        for line in lines:
            step.append(line)
            if "reply" in line or ("error" in line and "tell" not in line) or "unresolved" in line:
                for command in _accepted(step[0]["send"], line):
                    self._take(command)
                for each in step[1:-1]:
                    self._hear(each)
                step = []

    def _take(self, command: Object) -> None:
        match command["cmd"]:
            case "prompt" | "continue" | "waitForIdle":
                self.operations += 1
                if command["cmd"] != "waitForIdle" and self.idle:
                    self.aborted = False
                self.running[command["op"]] = None
            case "abort":
                self.aborted = not self.idle
            case "subscribe" if command["key"] not in self.listeners:
                self.listeners.append(command["key"])
            case "unsubscribe" if command["key"] in self.listeners:
                self.listeners.remove(command["key"])
            case "answer":
                self._answered(command)
            case "push":
                self._pushed(command)
            case "end" | "fail":
                self._close(key_of(command["ask"]))
            case _:
                pass

    def _answered(self, command: Object) -> None:
        key = key_of(command["ask"])
        if command.get("value") == "stream" and key[0] == "streamFn":
            if (ask := self.open.get(key)) is not None:
                ask.plan = deque(ask.planned)
            return
        if self.open.pop(key, None) is not None and key[0] == "execute":
            self.returned.append(command["ask"])

    def _pushed(self, command: Object) -> None:
        key = key_of(command["ask"])
        stream = self.open.get(key)
        if stream is None or not stream.plan:
            return
        if command["event"] is stream.plan[0]:
            stream.plan.popleft()
        if command["event"]["type"] in ("done", "error"):
            self._close(key)

    def _close(self, key: Key) -> None:
        if (stream := self.open.pop(key, None)) is not None:
            self.closed = stream.address

    def _hear(self, line: Object) -> None:
        if "tell" in line:
            self._told(line)
        elif "ask" in line:
            self.open[key_of(line["ask"])] = Open(line["ask"], line["args"])
        event = event_of(line)
        if event is None:
            return
        if event["type"] == "tool_execution_start":
            self.started.add(event["toolCallId"])
        elif event["type"] == "turn_start":
            self.started = set()

    def _told(self, line: Object) -> None:
        if line["tell"] == "settled":
            self.running.pop(line["op"], None)
        elif line["tell"] == "withdrawn":
            self.open.pop(key_of(line["ask"]), None)


def _accepted(command: Object, reply: Object) -> Sequence[Object]:
    """The commands of a step that were carried out."""
    if "reply" not in reply:
        return ()
    if command["cmd"] != "burst":
        return (command,)
    pairs = zip(command["cmds"], reply["reply"], strict=True)
    return [each for each, outcome in pairs if "error" not in outcome]
