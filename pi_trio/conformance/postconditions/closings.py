"""What a run that is closed owes to whom it is about: its failure is told, each call has its result, nothing is told
that did not happen, and what is said has the fields and values that it has in this release.

These are read off the two sides, the runtime's and the release's, run by run, because they depend on the release.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from ..compare import canonical
from ..failed import is_failed, is_failed_answer, is_failed_result
from ..lines import commands_of, event_of
from ..normalise import HOST_TEXT, with_times_hidden
from ..protocol import Object
from .said import Conversation, Run, conversations, runs

_IN_WORDS: Final = canonical([{"type": "text", "text": HOST_TEXT}])
"""The content of a failed result that is the host language's."""


@attrs.define
class Told:
    """What one side tells of failures in one run.

    Attributes:
        errors, raised: the texts of failures, in failed answers, and of the operation that settles.
        answers: the failed answers, each with what it may have kept of an answer that was cut.
        failed: the results of failed calls; kept: the calls that have a result, and did not fail.
    """

    errors: set[str] = attrs.field(factory=set[str])
    raised: set[str] = attrs.field(factory=set[str])
    answers: list[tuple[Object, list[Object]]] = attrs.field(factory=list[tuple[Object, list[Object]]])
    failed: list[Object] = attrs.field(factory=list[Object])
    kept: set[str] = attrs.field(factory=set[str])

    @property
    def is_good(self) -> bool:
        """Nothing has failed."""
        return not (self.errors or self.raised or self.failed)

    @property
    def fails(self) -> bool:
        """The run as a whole has failed, and not only calls of it."""
        return bool(self.answers or self.raised)

    @property
    def answered(self) -> set[str]:
        """The calls that have a result."""
        return self.kept | {result["toolCallId"] for result in self.failed}


def debts(
    lines: Sequence[Object], runtime: Sequence[Object], release: Sequence[Object], *, enters: int
) -> Iterator[str]:
    """What a trace owes, given the two others; all three are the same up to the line that `enters`."""
    mine, one, other = (told_by(each) for each in (lines, runtime, release))
    returned = _returned(runtime[: enters + 1])
    for run in dict.fromkeys([*mine, *one, *other]):
        yield from _of_a_run(mine[run], one[run], other[run], returned[run])
    if odd := _fields(lines) - _fields(runtime) - _fields(release):
        kind, *fields = sorted(odd)[0]
        yield f"{kind} of a failure with other fields than in both: {', '.join(fields)}"
    if (crashes := _unhandled(lines)) > max(_unhandled(runtime), _unhandled(release)):
        yield f"errors that nobody handled: {crashes}"


def _of_a_run(mine: Told, one: Told, other: Told, returned: set[str]) -> Iterator[str]:
    for told, runtimes, releases in (
        (mine.errors, one.errors, other.errors),
        (mine.raised, one.raised, other.raised),
    ):
        if untold := (runtimes & releases) - told:
            yield f"an error is not told: {min(untold):.80}"
        known = runtimes | releases
        if invented := told - known - ({HOST_TEXT} if known else set()):
            yield f"an error that neither tells: {min(invented):.80}"
    if one.errors and other.errors and not mine.errors:
        yield f"no failure is told, of {min(one.errors):.80}"
    if mine.answers and not one.answers and not other.answers:
        yield "a failed answer in a run that does not fail"
    if unanswered := one.answered - mine.answered:
        yield f"{min(unanswered)} has no result"
    if invented := mine.answered - one.answered - other.answered:
        yield f"{min(invented)} has a result, and has none in both"
    if lost := (one.kept & returned) - mine.kept:
        yield f"the result of {min(lost)} is lost"
    yield from _values(mine, one, other)


def _values(mine: Told, one: Told, other: Told) -> Iterator[str]:
    """What failed answers and failed results hold that they have from nobody."""
    both = [message for message, _ in (*one.answers, *other.answers)]
    for message, parts in mine.answers:
        if (odd := _odd(message, [*both, *parts], of_its_own=("errorMessage", "stopReason"))) is not None:
            yield f"a failed answer has {odd} of nobody's: {canonical(message[odd]):.80}"
        if canonical(message["stopReason"]) not in {canonical(each["stopReason"]) for each in both}:
            yield f"a failed answer that neither has: {message['stopReason']}"
    results = [*one.failed, *other.failed]
    for result in mine.failed:
        own = [each for each in results if each["toolCallId"] == result["toolCallId"]]
        worded = ("content",) if canonical(result["content"]) == _IN_WORDS else ()
        if (odd := _odd(result, own or results, of_its_own=("toolCallId", "toolName", *worded))) is not None:
            yield f"the failed result of {result['toolCallId']} has {odd} of nobody's: {canonical(result[odd]):.80}"


def _odd(message: Object, known: Iterable[Object], *, of_its_own: Collection[str]) -> str | None:
    """The first field of a message whose value none of the others has."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for each in known:
        for name, value in each.items():
            values[name].add(canonical(value))
    names = (name for name in message if name not in of_its_own)
    return next((name for name in names if canonical(message[name]) not in values[name]), None)


def told_by(lines: Sequence[Object]) -> defaultdict[Run, Told]:
    """What a trace tells of failures."""
    found: defaultdict[Run, Told] = defaultdict(Told)
    for number, conversation in enumerate(conversations(lines)):
        _Listening(conversation, number, found).listen()
    return found


@attrs.define
class _Listening:
    """Goes through one conversation, and remembers what an answer that is cut may keep."""

    conversation: Conversation
    number: int
    found: defaultdict[Run, Told]
    _given: Object | None = None
    """What the provider gave last."""
    _heard: Object | None = None
    """The answer that is being said, as it was heard last."""

    def listen(self) -> None:
        for line, operation in zip(self.conversation.lines, self.conversation.under_way, strict=True):
            told = self.found[self.number, operation]
            for command in commands_of(line):
                self._given = _carried(command) or self._given
            event = event_of(line)
            if event is not None:
                self._hear(event, told)
            elif line.get("tell") == "settled" and "error" in line:
                self.found[self.number, line["op"]].raised.add(line["error"])

    def _hear(self, event: Object, told: Told) -> None:
        if event["type"] == "turn_start":
            self._given = self._heard = None
        message = event.get("message")
        if not isinstance(message, dict):
            return
        if is_failed_answer(message):
            if "errorMessage" in message:
                told.errors.add(message["errorMessage"])
            told.answers.append((message, [each for each in (self._given, self._heard) if each is not None]))
        elif event["type"] in ("message_start", "message_update") and message["role"] == "assistant":
            self._heard = message
        if event["type"] != "message_end":
            return
        if is_failed_result(message):
            told.failed.append(message)
        elif message["role"] == "toolResult":
            told.kept.add(message["toolCallId"])


def _carried(command: Object) -> Object | None:
    """The answer that a provider gives with a command, as far as it has come."""
    event = command.get("event") or {}
    carried = (event.get("partial"), event.get("message"), event.get("error"), command.get("result"))
    return next((with_times_hidden(message) for message in carried if isinstance(message, dict)), None)


def _returned(lines: Sequence[Object]) -> defaultdict[Run, set[str]]:
    """The calls whose tools have answered. What comes in a burst may come to nothing."""
    found: defaultdict[Run, set[str]] = defaultdict(set)
    for run, line in zip(runs(lines), lines, strict=True):
        sent = line.get("send", {})
        if sent.get("cmd") == "answer" and sent["ask"]["fn"] == "execute" and "value" in sent:
            found[run].add(sent["ask"]["key"])
    return found


def _unhandled(lines: Sequence[Object]) -> int:
    return sum(line.get("tell") == "unhandled" for line in lines)


def _fields(lines: Sequence[Object]) -> set[tuple[str, ...]]:
    """The fields of what tells failures, by what it is."""
    found: set[tuple[str, ...]] = set()
    for event in filter(None, map(event_of, lines)):
        message: Any = event.get("message", {})
        if event.get("isError") is True:
            found.add((event["type"], *sorted(event)))
        elif message.get("isError") is True or is_failed(message):
            found.add((f"{event['type']} {message['role']}", *sorted(message)))
    return found
