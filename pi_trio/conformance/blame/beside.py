"""What goes on beside the run: who holds an event, what is set or queued while nobody looks at it.

A scene tells how far the run has come. This remembers what else a clause may speak of: listeners that are still being
waited for, settings that were changed under an open run, messages that were queued when it was too late for it, and
how a provider or a failing listener contradicted itself.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import attrs

from ..failed import is_failed
from ..lines import event_of, is_ask
from ..protocol import Object
from .memory import is_among, without

Address: TypeAlias = tuple[Any, ...]


def _identity(ask: Object) -> Address:
    return tuple(ask.get(name) for name in ("fn", "key", "event", "nth"))


class RunSoFar(Protocol):
    """What has to be known of the run."""

    running: bool
    over: bool
    failed: str
    told: bool
    steering: list[Object]
    follow_ups: list[Object]
    returned: list[Object]


@attrs.define
class Beside:
    """What went on beside the latest run."""

    held: dict[Address, Object] = attrs.field(factory=dict["Address", Object])
    """The events that listeners hold, by the address of the ask."""
    set_meanwhile: dict[str, Any] = attrs.field(factory=dict[str, Any])
    """What was set since the run began, by the command: tools, messages."""
    tools: list[Object] | None = None
    """The tools that were set when no run was open; None: those of `create`."""
    messages_meanwhile: bool = False
    """The messages that the agent has were set under an open run."""
    at_the_end: list[Object] = attrs.field(factory=list[Object])
    """What was queued while `agent_end` was heard."""
    left: list[Object] = attrs.field(factory=list[Object])
    """What was queued, and taken by no poll, when a run had failed."""
    subscribed: list[str] = attrs.field(factory=list[str])
    """The listeners, one as often as it was subscribed."""
    joined: dict[str, frozenset[str]] = attrs.field(factory=dict[str, frozenset[str]])
    """The types of the events that listeners held when another one was subscribed, by its name."""
    gone: set[str] = attrs.field(factory=set[str])
    """The listeners that have left."""
    contradicted: bool = False
    """The response was closed by `done` with a message that is an error, or the other way round."""
    disturbed: list[Object] = attrs.field(factory=list[Object])
    """The messages at whose start a listener has failed, in any run."""
    thrown: list[str] = attrs.field(factory=list[str])
    """The events at which listeners failed, before the failure was told."""

    def hear(self, line: Object) -> None:
        """A line is said."""
        event = event_of(line)
        if event is not None and is_ask(line):
            self.held[_identity(line["ask"])] = event
        if event is not None and event.get("type") == "message_start":
            self.at_the_end = without(event["message"], self.at_the_end)
            self.left = without(event["message"], self.left)

    def command(self, command: Object, run: RunSoFar) -> None:
        """A command is given, of which the run knows nothing yet."""
        name = command["cmd"]
        if name in ("prompt", "continue") and not run.running:
            self.set_meanwhile, self.thrown, self.contradicted = {}, [], False
        elif name in ("setTools", "setMessages"):
            self._set(name, command, run)
        elif name in ("steer", "followUp") and run.running and run.over:
            self.at_the_end.append(command["message"])
        elif name in ("clearQueue", "reset"):
            self.at_the_end, self.left = [], []
        elif name == "subscribe":
            self.subscribed.append(command["key"])
            self.joined[command["key"]] = frozenset(str(event.get("type")) for event in self.held.values())
            self.gone.discard(command["key"])
        elif name == "unsubscribe":
            self.subscribed = [key for key in self.subscribed if key != command["key"]]
            self.gone.add(command["key"])
        elif name == "push":
            self._pushed(command["event"])
        elif name == "answer" and isinstance(command.get("ask"), dict):
            self._answered(command, run)

    def _set(self, name: str, command: Object, run: RunSoFar) -> None:
        if name == "setMessages":
            self.messages_meanwhile = run.running
        elif not run.running:
            self.tools = command["tools"]
        if run.running:
            self.set_meanwhile[name] = command.get("tools", command.get("messages"))

    def _pushed(self, event: Object) -> None:
        message = event.get("message", event.get("error"))
        if event.get("type") in ("done", "error") and isinstance(message, dict):
            is_bad = is_failed(message)
            self.contradicted = is_bad is not (event["type"] == "error")

    def _answered(self, command: Object, run: RunSoFar) -> None:
        ask = command["ask"]
        event = self.held.pop(_identity(ask), {})
        if "throw" in command and event.get("type") == "message_start":
            self.disturbed.append(event["message"])
        if ask["fn"] == "listener" and "throw" in command and not run.told:
            self.thrown.append(str(ask.get("event")))
        elif ask["fn"] == "streamFn":
            self.contradicted = False

    def settled(self, run: RunSoFar) -> None:
        """The run has settled."""
        if "setTools" in self.set_meanwhile:
            self.tools = self.set_meanwhile.pop("setTools")
        queued = [*run.steering, *run.follow_ups]
        self.left = [each for each in queued if not is_among(each, run.returned)] if run.failed else []

    def held_of(self, *kinds: str) -> list[Object]:
        """The events of these types that listeners hold."""
        return [event for event in self.held.values() if event.get("type") in kinds]
