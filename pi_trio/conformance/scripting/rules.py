"""Rules of a scenario: how asks are answered without a step of the script. The first rule that matches wins.

Their names are verbs in the third person (`answers`, `returns`); the steps of the script are imperatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_trio.conformance.protocol import Object

from .tools import result


def _rule(fn: str, key: str | None, event: str | None, nth: int | None, deed: Object) -> Object:
    which = {"fn": fn, "key": key, "event": event, "nth": nth}
    return {**{name: value for name, value in which.items() if value is not None}, **deed}


def answers(fn: str, value: Any, *, key: str | None = None, nth: int | None = None) -> Object:
    """Every such ask, or the nth, is answered with `value`."""
    return _rule(fn, key, None, nth, {"value": value})


def throws(fn: str, says: str, *, key: str | None = None, nth: int | None = None) -> Object:
    """Every such callback, or the nth, fails with that text."""
    return _rule(fn, key, None, nth, {"throw": says})


def holds(fn: str, *, key: str | None = None, nth: int | None = None) -> Object:
    """Every such ask, or the nth, stays open until a step answers it."""
    return _rule(fn, key, None, nth, {"hold": True})


def returns(call_id: str, value: Any) -> Object:
    """The tool of that call returns `value` at once; a string is short for a result that says it."""
    return answers("execute", result(value) if isinstance(value, str) else value, key=call_id)


def raises(call_id: str, says: str) -> Object:
    """The tool of that call fails at once."""
    return throws("execute", says, key=call_id)


def holds_event(listener: str, event: str, nth: int | None = 0) -> Object:
    """That listener keeps the nth event of that type (None: each) until a step releases it."""
    return _rule("listener", listener, event, nth, {"hold": True})


def fails_at(listener: str, event: str, nth: int | None = 0) -> Object:
    """That listener fails at the nth event of that type (None: at each)."""
    return _rule("listener", listener, event, nth, {"throw": f"{listener} failed"})


def streams(events: Sequence[Object], nth: int | None = None, **ending: Any) -> Object:
    """The nth request (None: each) is answered with a stream of these events.

    Args:
        ending: `end` (a message, or None for an end without a result) or `fail` (a text) closes the stream.
    """
    return _rule("streamFn", None, None, nth, {"stream": [*events], **ending})
