"""Slips of an adapter, rather than of the agent behind it: what the first difference of two traces tells of them.

Somebody whose adapter is new looks for the fault in the agent, and finds none. Two slips look like faults of the agent:
that an event is told where it is to be asked (of which nothing shows but that the run waits for nobody), and that a
reply comes too early (after which everything seems to be missing).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .compare import canonical
from .lines import commands_of, event_of, is_ask
from .protocol import Object

TOLD: Final = 'told, where the listener is to be asked: declare features.listeners "sync", or ask'
ASKED: Final = (
    "asked, where the listener is only to be told: it is in tellListeners, or features.listeners says so"
)
TOO_EARLY: Final = "the reply came before the subject was quiescent? (section 6 of the driver protocol)"

_BEGIN: Final = frozenset({"prompt", "continue"})


def told_or_asked(expected: Object | None, got: Object | None) -> str:
    """What is to be said if the right listener hears of the right event, but in the wrong way; else nothing."""
    if expected is None or got is None or is_ask(expected) is is_ask(got):
        return ""
    (listener, event), (other_listener, other_event) = _heard(expected), _heard(got)
    if event is None or (listener, event) != (other_listener, other_event):
        return ""
    return TOLD if is_ask(expected) else ASKED


def replied_too_early(expected: Sequence[Object], got: Sequence[Object]) -> str:
    """What is to be said if a step ends without a reaction that comes in a later one, or if nothing at all comes of a
    command that begins a run; else nothing.

    Of a trace that goes on it would say little: an agent may do things too late itself. It is for one that hangs.
    """
    at = next((n for n, pair in enumerate(zip(expected, got, strict=False)) if not _same(*pair)), None)
    if at is None or not _closes(got[at]) or _closes(expected[at]):
        return ""
    came_later = any(_same(expected[at], line) for line in got[at:])
    begins = any(command["cmd"] in _BEGIN for command in commands_of(got[at - 1])) if at else False
    return TOO_EARLY if came_later or begins else ""


def _heard(line: Object) -> tuple[str, str | None]:
    """Who hears of an event, and of which type it is."""
    event = event_of(line)
    key = line["ask"].get("key") if is_ask(line) else line.get("key")
    return str(key), str(event.get("type")) if isinstance(event, dict) else None


def _closes(line: Object) -> bool:
    return "tell" not in line and ("reply" in line or "error" in line)


def _same(one: Object, other: Object) -> bool:
    return canonical(one) == canonical(other)
