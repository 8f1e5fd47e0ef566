"""What a run that is closed still owes to whom it is about: each failure is told, each call has its result, and what is
said has the fields that it has in this release.

These are read off the two sides, the runtime's and the release's, because they depend on the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compare import canonical
from ..lines import commands_of, event_of
from ..protocol import Object


def debts(
    lines: Sequence[Object],
    runtime: Sequence[Object],
    release: Sequence[Object],
    *,
    before: Sequence[Object] = (),
) -> Iterator[str]:
    """What a trace owes, given the two others, and what all three have `before`."""
    if untold := (_errors(runtime) & _errors(release)) - _errors(lines):
        yield f"an error is not told: {sorted(untold)[0]:.80}"
    if unanswered := _answered(runtime) - _answered(lines):
        yield f"{sorted(unanswered)[0]} has no result"
    if other := _reasons(lines) - _reasons(runtime) - _reasons(release):
        yield f"a failed answer that neither has: {', '.join(sorted(other)[0])}"
    for name in ("content", "usage"):
        mine = {canonical(message.get(name)) for message in _failed(lines)}
        known = (
            canonical(each[name])
            for each in (*_given(before), *_given(runtime), *_given(release))
            if name in each
        )
        if invented := mine.difference(known):
            yield f"a failed answer has {name} of nobody's: {sorted(invented)[0]:.80}"
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


def _failed(lines: Sequence[Object]) -> Iterator[Object]:
    """The failed answers, as often as they are told."""
    for event in _events(lines):
        message = event.get("message")
        if message is not None and message.get("stopReason") in ("error", "aborted"):
            yield message


def _reasons(lines: Sequence[Object]) -> set[tuple[str, ...]]:
    """How answers failed, and whose they are."""
    names = ("stopReason", "api", "provider", "model")
    return {tuple(canonical(message.get(name)) for name in names) for message in _failed(lines)}


def _given(lines: Sequence[Object]) -> Iterator[Object]:
    """The failed answers, and what the provider gave, as it stood: an answer that is cut may keep that."""
    yield from _failed(lines)
    for command in (command for line in lines for command in commands_of(line)):
        event = command.get("event", {})
        carried = (event.get("partial"), event.get("message"), event.get("error"), command.get("result"))
        yield from (message for message in carried if isinstance(message, dict))


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
