"""Mutants of the wire: a proxy stands before a subject, and changes what it says.

That works on any implementation in any language, because it changes messages of the driver protocol, and not code. A
change may be of one thing that is said, wherever it is said: an event, the arguments of a callback, what the state
shows. Or it may be of the order: one message is left out, said twice, or said later.

What is left out still has to be answered, or the subject would wait for ever: the proxy does. And what is said twice
must be answered once, so the proxy keeps the second answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any, Final, Protocol, TypeAlias

from ..keeper import Opener
from ..lines import is_ask
from ..protocol import Object
from ..subject import Subject
from ..subjects.choice import runtime_inside
from .mutant import Mutant, sentence, several, words

WIRED: Final[list[Mutant]] = []
"""All that were entered, in that order."""

DROP: Final = object()
"""What a change gives for a message that is not said at all."""

_COPY: Final = "copy of "

#: Changes in place what it is given; gives DROP if that is not to be said.
Change: TypeAlias = Callable[[Any], object]


class Reactions(Protocol):
    """Changes what a command has caused. One is made for each `create`."""

    def __call__(self, said: list[Object], command: Object) -> list[Object]:
        """What is said instead; the reply is the last of it, as it was."""
        ...


class Proxy:
    """A subject, and what it says changed on the way.

    Args:
        make: makes the change, anew for each agent, so that it may remember what was said before.
    """

    def __init__(self, inner: Subject, make: Callable[[], Reactions]) -> None:
        self._inner = inner
        self._make = make
        self._change = make()
        self._answered: set[object] = set()
        """Asks that need no answer from the tester: the proxy has given it, or there was none to give."""

    @property
    def hello(self) -> Object:
        """The subject's own."""
        return self._inner.hello

    async def request(self, command: Object) -> list[Object]:
        """What the subject says to a command, changed."""
        if command["cmd"] == "create":
            self._change = self._make()
            self._answered.clear()
        if command["cmd"] == "answer" and self._needs_no_answer(command["ask"]):
            return [{"re": command["id"], "ok": None}]
        said = await self._inner.request(command)
        *heard, reply = self._change(list(said), command)
        while said := await self._answer_dropped(said, heard, command):
            heard += self._change(said, command)
        return [*heard, reply]

    def _needs_no_answer(self, ask: object) -> bool:
        return ask in self._answered or str(ask).startswith(_COPY)

    async def _answer_dropped(self, said: list[Object], kept: list[Object], command: Object) -> list[Object]:
        """Answer in the tester's place what it does not hear of; what the subject says to that."""
        known = {message["ask"] for message in kept if is_ask(message)}
        more: list[Object] = []
        for message in said:
            if is_ask(message) and message["ask"] not in known and message["ask"] not in self._answered:
                self._answered.add(message["ask"])
                answer = {"id": command["id"], "cmd": "answer", "ask": message["ask"]}
                *caused, _ = await self._inner.request(answer)
                more += caused
        return more


def event_in(message: Object) -> Object | None:
    """The event that a listener hears of in a message."""
    if message.get("tell") == "event":
        event: Object = message["event"]
        return event
    return message["args"]["event"] if is_ask(message) and message["fn"] == "listener" else None


def copy_of(message: Object) -> Object:
    """The message once more. An ask is one of its own then, whose answer goes nowhere."""
    copied = deepcopy(message)
    if is_ask(copied):
        copied["ask"] = f"{_COPY}{copied['ask']}"
    return copied


class Each:
    """A change of single messages: `of` gives what of a message, behind a command, is to be changed, if anything is."""

    def __init__(self, of: Callable[[Object, Object], Any | None], change: Change) -> None:
        self._of, self._change = of, change

    def __call__(self, said: list[Object], command: Object) -> list[Object]:
        return [message for message in said if not self._drops(message, command)]

    def _drops(self, message: Object, command: Object) -> bool:
        meant = self._of(message, command)
        return meant is not None and self._change(meant) is DROP


def wired(
    clauses: str | tuple[str, ...],
    *,
    shows: str | tuple[str, ...] = (),
    release: str | None = None,
    fault: str = "",
) -> Callable[[Callable[[], Reactions]], Callable[[], Reactions]]:
    """Enter what is decorated, which makes a change of reactions, as a mutant that breaks clauses."""

    def enter(make: Callable[[], Reactions]) -> Callable[[], Reactions]:
        def opened(profile: str, patience: float) -> Opener:
            return behind(make, runtime_inside(profile, patience))

        mutant = Mutant(
            name=words(make.__name__), clauses=several(clauses), title=sentence(make.__doc__), kind="wire", open=opened,
            shows=several(shows), release=release, fault=fault,
        )  # fmt: skip
        WIRED.append(mutant)
        return make

    return enter


def behind(make: Callable[[], Reactions], opener: Opener) -> Opener:
    """The subject that `opener` opens, behind a proxy."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        async with opener() as subject:
            yield Proxy(subject, make)

    return opened


def heard(clauses: str | tuple[str, ...], kind: str, **details: Any) -> Callable[[Change], Change]:
    """Enter a change of the events of one kind, as each listener hears them."""

    def event(message: Object, _: Object) -> Object | None:
        found = event_in(message)
        return found if found is not None and found["type"] == kind else None

    return _entering(clauses, event, details)


def asked(clauses: str | tuple[str, ...], function: str, **details: Any) -> Callable[[Change], Change]:
    """Enter a change of the arguments of a callback."""

    def arguments(message: Object, _: Object) -> Any:
        return message["args"] if is_ask(message) and message["fn"] == function else None

    return _entering(clauses, arguments, details)


def told(clauses: str | tuple[str, ...], what: str, **details: Any) -> Callable[[Change], Change]:
    """Enter a change of what is told, such as how an operation has settled."""
    return _entering(clauses, lambda message, _: message if message.get("tell") == what else None, details)


def whole(clauses: str | tuple[str, ...], **details: Any) -> Callable[[Change], Change]:
    """Enter a change of any message but a reply."""
    return _entering(clauses, lambda message, _: None if "re" in message else message, details)


def replied(clauses: str | tuple[str, ...], kind: str, **details: Any) -> Callable[[Change], Change]:
    """Enter a change of the replies to one kind of command."""
    return _entering(
        clauses,
        lambda message, command: message if "re" in message and command["cmd"] == kind else None,
        details,
    )


def shown(
    clauses: str | tuple[str, ...], **details: Any
) -> Callable[[Callable[[Object, Object], object]], object]:
    """Enter a change of the state, wherever it is shown: given it, and the event with which it is shown (or {})."""

    def enter(change: Callable[[Object, Object], object]) -> object:
        def of(message: Object, command: Object) -> Any | None:
            if command["cmd"] == "state" and isinstance(message.get("ok"), dict):
                return message["ok"], {}
            state = message.get("state") or message.get("args", {}).get("state")
            return (state, event_in(message) or {}) if state is not None else None

        def changed(both: Any) -> object:
            return change(*both)

        changed.__name__, changed.__doc__ = change.__name__, change.__doc__
        return _entering(clauses, of, details)(changed)

    return enter


def _entering(
    clauses: str | tuple[str, ...], of: Callable[[Object, Object], Any | None], details: dict[str, Any]
) -> Callable[[Change], Change]:
    def enter(change: Change) -> Change:
        def make() -> Reactions:
            return Each(of, change)

        make.__name__, make.__doc__ = change.__name__, change.__doc__
        wired(clauses, **details)(make)
        return change

    return enter
