"""How far a call has come, and how messages are told apart.

Of times a trace has only that there are some, so two messages are the same one if they differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from ..compare import canonical
from ..protocol import Object

NOTHING: Final[Object] = {}


@attrs.define
class CallSoFar:
    """A call of the turn: how far it has come, and what was answered for it."""

    block: Object
    started: bool = False
    asked: bool = False
    """beforeToolCall was asked."""
    executed: bool = False
    returned: bool = False
    returned_nothing: bool = False
    asked_again: bool = False
    """afterToolCall was asked."""
    ended: bool = False
    answered: bool = False
    updates: int = 0
    refused: str = ""
    """The text with which beforeToolCall has refused it."""
    threw: str = ""
    """The text that its tool threw."""
    checked: Object | None = None
    """What afterToolCall has answered: its override, or what it threw as {"throw": text}."""
    let_pass: bool = False
    """beforeToolCall has answered nothing."""
    left_whole: bool = False
    """afterToolCall has answered nothing."""
    terminates: bool = False
    """Its result had `terminate` exactly true."""
    before_abort: bool = False
    """It had been started when the abort came."""


def is_among(message: Object, messages: Iterable[Object]) -> bool:
    """Whether a message is one of these, whenever it was made."""
    same = _timeless(message)
    return any(_timeless(each) == same for each in messages)


def without(message: Object, messages: Iterable[Object]) -> list[Object]:
    """The other ones."""
    return [each for each in messages if not is_among(message, [each])]


def _timeless(message: Object) -> str:
    return canonical({name: value for name, value in message.items() if name != "timestamp"})


_TRANSCRIPT: Final = frozenset({"messages", "systemPrompt"})
"""Fields of which the one may be read off the other."""

_SET_BY: Final[Mapping[str, frozenset[str]]] = {
    "setTools": _TRANSCRIPT | {"tools"},
    **dict.fromkeys(("setMessages", "reset", "prompt", "continue"), _TRANSCRIPT),
}
"""The fields of the state that a command may change."""


def settings_of(command: Object) -> frozenset[str]:
    """The fields of the state that a command sets, or that may follow from what it sets."""
    given: Object = {}
    if command["cmd"] == "create":
        given = {**command.get("initialState", NOTHING), "tools": command.get("tools")}
    elif command["cmd"] == "setOption":
        given = {str(command.get("name")): command}
    names = {name for name, value in given.items() if value not in (None, [])}
    follows = _TRANSCRIPT if names & {*_TRANSCRIPT, "tools"} else frozenset[str]()
    return _SET_BY.get(str(command["cmd"]), frozenset()) | names | follows


def objects_in(value: object) -> Iterator[Object]:
    """The objects in a list, if it is one."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))
