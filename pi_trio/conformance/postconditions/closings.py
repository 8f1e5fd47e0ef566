"""What a run that is closed still owes to whom it is about: each failure is told, each call has its result, and what is
said has the fields that it has in this release.

These are read off the two sides, the runtime's and the release's, because they depend on the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lines import event_of
from ..protocol import Object


def debts(lines: Sequence[Object], runtime: Sequence[Object], release: Sequence[Object]) -> Iterator[str]:
    """What a trace owes, given the two others."""
    if untold := (_errors(runtime) & _errors(release)) - _errors(lines):
        yield f"an error is not told: {sorted(untold)[0]:.80}"
    if unanswered := _answered(runtime) - _answered(lines):
        yield f"{sorted(unanswered)[0]} has no result"
    if odd := _fields(lines) - _fields(runtime) - _fields(release):
        kind, *fields = sorted(odd)[0]
        yield f"{kind} of a failure with other fields than in both: {', '.join(fields)}"


def _events(lines: Sequence[Object]) -> Iterator[Object]:
    return (event for line in lines if (event := event_of(line)) is not None)


def _errors(lines: Sequence[Object]) -> set[str]:
    """The texts of the failures that are told."""
    texts = [event["message"].get("errorMessage") for event in _events(lines) if "message" in event]
    texts += [line.get("error") for line in lines if line.get("tell") == "settled"]
    return {text for text in texts if text is not None}


def _answered(lines: Sequence[Object]) -> set[str]:
    """The calls that have a result."""
    ended = (event["message"] for event in _events(lines) if event["type"] == "message_end")
    return {message["toolCallId"] for message in ended if message["role"] == "toolResult"}


def _fields(lines: Sequence[Object]) -> set[tuple[str, ...]]:
    """The fields of what tells failures, by what it is."""
    found: set[tuple[str, ...]] = set()
    for event in _events(lines):
        message = event.get("message", {})
        if event.get("isError") is True:
            found.add((event["type"], *sorted(event)))
        elif message.get("isError") is True or message.get("stopReason") in ("error", "aborted"):
            found.add((f"{event['type']} {message['role']}", *sorted(message)))
    return found
