"""What is going on between tester and subject: the agent, its runs, its open asks.

A run that has failed is no place for most monitors of the transcript: what of it goes on differs between the releases
and the rulings, and its events are judged by the monitor of events. What its tools do later may be mistaken for a later
run's. So `calm` is true only as long as nothing has failed, and while somebody listens from the start of the run on.
"""

from __future__ import annotations

from typing import Any, Final

from ...lines import KEYED
from ..content import Object
from ..docket import Docket

LISTENER: Final = "listener"
ENDS: Final = frozenset({"RUN-02", "TURN-07", "TURN-13", "TURN-21"})
"""What a run breaks that ends too early."""
MANY_TURNS: Final = 8
"""Of fewer hardly anybody keeps count."""
WITHOUT_SIGNAL: Final = frozenset({"convertToLlm", "getApiKey", "getSteeringMessages", "getFollowUpMessages"})
SAID_BY_TURNS: Final = ("assistant", "toolResult")
"""The roles of what a turn says itself; messages of other roles are always injected."""
REQUEST_HOOKS: Final = ("prepareRequest", "transformContext", "convertToLlm", "getApiKey")
_GIVEN: Final = 500
"""So many of the messages that were given, and may still be said, are remembered."""
_NOTHING: Final[Object] = {}


def name_of(ask: Object) -> str:
    """An address as a key."""
    return repr(sorted((key, repr(value)) for key, value in ask.items()))


class Stage:
    """What is going on with one agent."""

    def __init__(self, docket: Docket, create: Object, *, cancelling: bool) -> None:
        self.docket = docket
        self.create = create
        self.cancelling = cancelling
        self.loop = create.get("target") == "loop"
        self.hooks = frozenset(create.get("hooks", ()))
        self.tools: Any = create.get("tools")
        self.running: set[str] = set()
        """The operations that have begun a run and have not settled."""
        self.ever_failed = False
        self.failing = False
        """Whether something has failed in the open run."""
        self.aborted = False
        self.blurred = False
        """Whether an abort comes in one stretch with something else, so that what was before it is not known."""
        self.listening = False
        self.open: dict[str, Object] = {}
        """The asks that were not answered, withdrawn or closed, by their addresses."""
        self.heard: dict[str, tuple[str, Object]] = {}
        """Which listener heard what, by the address of the ask, as long as that is open."""
        self.requested = False
        """Whether the open turn has asked for its answer: no message is injected any more."""
        self.wrong_answer: Object | None = None
        """The answer of the open turn, if it was not what its stream has given."""
        self._given: list[Any] = []
        self._injected: list[Any] = []
        self._stream = ""
        """Which one the open turn has asked for."""
        self._provided: list[Any] = []
        """What it has given to start the answer with."""

    @property
    def starts(self) -> int:
        """How many starts the stream of the open turn has given to its answer."""
        return len(self._provided)

    @property
    def cuts(self) -> bool:
        """Whether an abort may have made an answer, which no stream has given."""
        return self.cancelling and self.aborted

    def answers(self, message: Object) -> bool:
        """Whether the stream of the open turn has given what begins an answer like this."""
        return timeless(message) in self._provided

    def doubts(self, answer: Object) -> bool:
        """Whether what was said as the answer was found to be wrong already."""
        return self.wrong_answer is not None and answer == self.wrong_answer

    def provide(self, command: Object) -> None:
        """A stream gives a start or its result; that begins the answer too, if nothing has yet."""
        if name_of(command["ask"]) != self._stream:
            return
        event = command.get("event", _NOTHING)
        if event.get("type") == "start":
            self._provided.append(timeless(event.get("partial")))
        elif not self._provided:
            result = command.get("result") or event.get("message") or event.get("error")
            self._provided += [timeless(result)] if result else []

    @property
    def calm(self) -> bool:
        """Whether nothing has failed, in this run or in one whose tools may still be there, and all was heard."""
        return self.listening and not self.ever_failed

    def tool(self, name: Any) -> Object | None:
        """The declaration of a tool, if there is one of that name, and one only."""
        tools = self.tools if isinstance(self.tools, list) else []
        named = [each for each in tools if isinstance(each, dict) and each.get("name") == name]
        return named[0] if len(named) == 1 else None

    def close(self, name: str) -> None:
        """An ask is open no more."""
        self.open.pop(name, None)
        self.heard.pop(name, None)

    def give(self, value: Any) -> None:
        """Messages are given to the subject, to be said in a turn. Those are remembered that could be taken for what
        a turn says itself.
        """
        self._given += [each for each in messages_in(value) if each.get("role") in SAID_BY_TURNS]
        del self._given[:-_GIVEN]

    def injects(self, event: Object) -> bool:
        """Whether an event says such a message, and not what the turn says itself."""
        return (
            bool(self._given)
            and not self.requested
            and event.get("type") in ("message_start", "message_end")
            and timeless(event.get("message")) in self._given
        )

    def say(self, event: Object) -> None:
        """An event is heard for the first time."""
        kind = event.get("type")
        if kind == "agent_start":
            self.listening, self.failing = True, False
        elif kind == "turn_start":
            self.requested, self._injected, self.wrong_answer = False, [], None
        elif kind == "message_end" and self.injects(event):
            self._injected.append(timeless(event["message"]))

    def request(self, stream: str) -> None:
        """The open turn asks for its answer: what was injected into it is given no longer."""
        self.requested, self._stream, self._provided = True, stream, []
        for message in self._injected:
            if message in self._given:
                self._given.remove(message)
        self._injected = []

    def fail(self) -> None:
        """The run fails."""
        self.ever_failed = self.failing = True

    def settle(self) -> None:
        """No run is going on."""
        self.aborted = self.failing = False


class Watcher:
    """A monitor of the transcript. What it does not look at, it leaves out."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.docket = stage.docket

    @property
    def ends_wrongly(self) -> bool:
        """Whether it was seen already that the run ends where it must not: that is one fault, however many clauses
        would have it go on.
        """
        told = (each.clause for each in self.docket.found if each.kind == "broken")
        return any(clause in ENDS for clause in told)

    def sent(self, command: Object, /) -> None:
        """A command is sent."""

    def asked(self, fn: str, line: Object, /) -> None:
        """A callback is made."""

    def said(self, event: Object, /) -> None:
        """An event is heard by the first that hears it."""

    def heard(self, key: str, event: Object, ask: Object | None, /) -> None:
        """An event is heard by a listener."""

    def settled(self, line: Object, refused: bool, /) -> None:
        """An operation settles."""

    def replied(self, line: Object, /) -> None:
        """A command is replied."""


def prepares(fn: Any) -> bool:
    """Whether what a callback returns may hold messages that a turn says."""
    return fn not in (LISTENER, "streamFn", *KEYED, *REQUEST_HOOKS)


def is_truthy(value: Any) -> bool:
    """Whether a value counts as true in JavaScript."""
    return value is not None and value is not False and value != "" and value != 0


def messages_in(value: Any) -> list[Any]:
    """The messages that are given as one, as a list, or as what a hook prepares, all without their timestamps."""
    if isinstance(value, dict):
        value = value.get("messages", [value])
    return [timeless(each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def timeless(message: Any) -> Any:
    """A message without its timestamp, of which only the presence counts in a trace."""
    if not isinstance(message, dict):
        return message
    return {key: value for key, value in message.items() if key != "timestamp"}
