"""What a line of a trace is: commands of the tester, an ask, an event that a listener hears of.

Everybody who looks into a trace asks this, and all have to mean the same by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .protocol import Object

KEYED: Final = frozenset({"execute", "beforeToolCall", "afterToolCall"})
"""The functions whose callbacks belong to a call."""

TOOL_PHASE: Final = frozenset({"tool_execution_update", "tool_execution_end"})
"""Events that a listener may hold while other calls go on."""


def is_ask(line: Object) -> bool:
    """Whether a line, or a message, asks for something. (What a subject tells may be about an ask, and names it.)"""
    return "ask" in line and "tell" not in line


def asks(line: Object) -> str | None:
    """The function that an ask is for; None for any other line."""
    return str(line["ask"]["fn"]) if is_ask(line) else None


def is_callback(line: Object) -> bool:
    """Whether it is an ask that no listener was made."""
    return asks(line) not in (None, "listener")


def event_of(line: Object) -> Object | None:
    """The event that a listener hears of in a line."""
    if line.get("tell") == "event":
        event: Object = line["event"]
        return event
    return line["args"]["event"] if asks(line) == "listener" else None


def commands_of(line: Object) -> Iterator[Object]:
    """The commands that a line sends, those in a burst behind it; none if it sends nothing."""
    if "send" in line:
        yield from commands_in(line["send"])


def commands_in(command: Object) -> Iterator[Object]:
    """A command, and if it is a burst those in it."""
    yield command
    yield from command.get("cmds", ())
