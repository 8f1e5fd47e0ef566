"""The order of what is said: for each kind of event, one that is left out, said twice, or said too late.

These are the faults of a wire, and of whoever writes on it. They need no idea of what an event is about, so they are a
table: the kind, what happens to it, and the clauses that this breaks.
"""

from __future__ import annotations

from typing import Final

from ...lines import is_ask
from ..wire import copy_of, event_in, wired

DROPPED: Final = {
    "agent_start": ("RUN-01",),
    "agent_end": ("RUN-02",),
    "turn_start": ("TURN-01",),
    "turn_end": ("RUN-02", "TURN-01", "TURN-04"),
    "message_start": ("MSG-01",),
    "message_end": ("MSG-01",),
    "message_update": ("STREAM-03",),
    "tool_execution_start": ("TOOL-01",),
    "tool_execution_update": ("TOOL-22",),
    "tool_execution_end": ("TOOL-03",),
}

TWICE: Final = {
    "agent_start": ("RUN-02",),
    "agent_end": ("RUN-03",),
    "turn_start": ("TURN-01",),
    "turn_end": ("TURN-01", "RUN-02", "TURN-04"),
    "message_start": ("MSG-01",),
    "message_end": ("MSG-01",),
    "message_update": ("STREAM-03",),
    "tool_execution_start": ("TOOL-01",),
    "tool_execution_update": ("TOOL-22", "TOOL-04"),
    "tool_execution_end": ("TOOL-03",),
}

LATE: Final = {
    "agent_start": ("RUN-01",),
    "turn_start": ("TURN-01",),
    "turn_end": ("RUN-02", "TURN-01"),
    "message_start": ("MSG-01",),
    "message_end": ("MSG-01",),
    "tool_execution_start": ("TOOL-01", "TOOL-02", "TOOL-04"),
    "tool_execution_update": ("TOOL-04", "TOOL-22"),
    "tool_execution_end": ("TOOL-03", "TOOL-05", "TOOL-06"),
}


def _kind(message):
    event = event_in(message)
    return None if event is None else event["type"]


def _dropped(kind):
    def make():
        return lambda said, command: [message for message in said if _kind(message) != kind]

    return make


def _twice(kind):
    def make():
        def change(said, command):
            changed = []
            for message in said:
                changed += [message, copy_of(message)] if _kind(message) == kind else [message]
            return changed

        return change

    return make


def _late(kind):
    """One that is only told changes places with what is told next, be it in a later step."""

    def make():
        held = []

        def change(said, command):
            changed = []
            for message in said:
                if _kind(message) == kind and not is_ask(message) and not held:
                    held.append(message)
                    continue
                changed.append(message)
                if _kind(message) is not None:
                    changed += held
                    held.clear()
            return changed

        return change

    return make


def _enter():
    for table, words, make in (
        (DROPPED, "left out", _dropped),
        (TWICE, "said twice", _twice),
        (LATE, "said behind the next event", _late),
    ):
        for kind, clauses in table.items():
            mutant = make(kind)
            mutant.__name__ = f"{kind} {words}"
            mutant.__doc__ = f"Every `{kind}` is {words}."
            wired(clauses)(mutant)


_enter()
