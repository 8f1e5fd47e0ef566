"""What must hold of a batch in whatever order its calls report and end: written here once more, from nothing else.

The calls of a scope say what tells them apart: call t2 reports `t2.1`, `t2.2` and so on, and returns `t2 done`. So it
can be read off the events of one listener what has become of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from pi_trio.conformance.compare import canonical
from pi_trio.conformance.fixed_texts import ABORTED
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.shown import shown

from .scope import Fault

UPDATE: Final = "tool_execution_update"
END: Final = "tool_execution_end"

_SAYS: Final = {UPDATE: "partialResult", END: "result"}
"""Where such an event has what it says."""

_AT_WORK: Final = ("isStreaming", "streamingMessage", "pendingToolCalls", "signal")
"""What an agent's state has in it while a run is under way, and then only."""


def call_ids(calls: int) -> tuple[str, ...]:
    """What the calls of a batch are called, in source order."""
    return tuple(f"t{number}" for number in range(1, calls + 1))


def report(call: str, number: int) -> str:
    """What a call reports, counted from 1."""
    return f"{call}.{number}"


def returned(call: str) -> str:
    """What it returns."""
    return f"{call} done"


def at(value: Any, *path: str) -> Any:
    """What lies there; None where nothing does. (A subject may say anything.)"""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_of(holder: Any) -> str:
    """The text of a result, or of a message."""
    content = at(holder, "content")
    return "".join(str(at(block, "text")) for block in (content if isinstance(content, list) else ()))


def told(events: Sequence[Object]) -> tuple[tuple[str, str], ...]:
    """The reports and ends, in their order: whose, and what it says."""
    return tuple(
        (str(at(event, "toolCallId")), text_of(at(event, _SAYS[event["type"]])))
        for event in events
        if event["type"] in _SAYS
    )


def cut_calls(events: Sequence[Object]) -> frozenset[str]:
    """The calls that ended because of an abort."""
    return frozenset(call for call, said in told(events) if said == ABORTED)


def faults_of(
    events: Sequence[Object], *, calls: int, updates: int, may_be_cut: bool, overlapping: bool = False
) -> Iterator[Fault]:
    """What is wrong with the batch, and with the run around it.

    Args:
        may_be_cut: an abort may have ended calls.
        overlapping: a listener is held up by another one, so it may hear the reports of a call in another order.
    """
    heard = told(events)
    ids = call_ids(calls)
    for call in ids:
        *reports, end = [said for who, said in heard if who == call] or [""]
        if overlapping:
            reports.sort()
        yield from _faults_of_call(call, [*reports, end], updates, may_be_cut)
    ends = {str(at(event, "toolCallId")): event for event in events if event["type"] == END}
    results = [event["message"] for event in events if _is_result(event)]
    answered = [str(at(message, "toolCallId")) for message in results]
    if answered != list(ids):
        yield Fault("results in source order", f"{answered}")
    for call, message in zip(answered, results, strict=True):
        ended = ends.get(call)
        if ended is not None and _said(message, message) != _said(at(ended, "result"), ended):
            yield Fault("a result is what the end said", f"{shown(text_of(message))} of {call}")
    types = [event["type"] for event in events]
    if types.count("agent_end") != 1 or types[-1] != "agent_end":
        yield Fault("one end, and nothing behind it", f"agent_end {types.count('agent_end')} times")


def faults_of_state(states: Sequence[Object]) -> Iterator[Fault]:
    """What is wrong with the agent's state behind the last gate, as the `state` command tells it."""
    for state in states:
        left = [name for name in _AT_WORK if at(state, name)]
        if left:
            yield Fault("the state is at rest", ", ".join(left))


def _faults_of_call(call: str, said: Sequence[str], updates: int, may_be_cut: bool) -> Iterator[Fault]:
    whole = [*(report(call, number) for number in range(1, updates + 1)), returned(call)]
    cut = may_be_cut and said[-1] == ABORTED and list(said[:-1]) == whole[: len(said) - 1]
    if list(said) != whole and not cut:
        yield Fault("each call's reports in order, then its end", f"{call}: {', '.join(said) or 'nothing'}")


def _said(result: Any, holder: Any) -> tuple[str, object]:
    return text_of(result), at(holder, "isError")


def _is_result(event: Object) -> bool:
    return event["type"] == "message_end" and bool(at(event, "message", "role") == "toolResult")


def rest_of(events: Sequence[Object], further: Collection[object] = ()) -> str:
    """All that is left when the order of reports and ends is taken away."""
    left = [event for event in events if event["type"] not in (UPDATE, END)]
    return canonical([*left, *further])
