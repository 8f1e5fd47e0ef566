"""What one side of a comparison has told of its failures, line by line.

A ruling leaves open how a failure is told, but not that it is shown otherwise than it was told: in the transcript, in
what a callback is given, in the state. `moments` follows what was said; a `Moment` is what may be shown at a line. What
nobody could hear, because every listener had failed, is not known there, and neither is what a hook has changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from ..compare import canonical
from ..failed import tells_failure
from ..normalise import with_times_hidden
from ..protocol import Object
from .said import Conversation, conversations

LIVE: Final = ("errorMessage", "streamingMessage", "pendingToolCalls")
"""The parts of a state that follow from the events."""

_PARTS: Final = {"newMessages": 1, "toolResults": 2}
"""What begins later than the transcript: with the run, and with the turn."""


@attrs.frozen(kw_only=True)
class Moment:
    """What is known at one line.

    Attributes:
        said: the messages of the conversation, those that it began with first; it grows, and `until` is its end here.
        failures: which of them are failures; it grows too.
        starts: where the transcript begins in it, the latest run, and the latest turn.
        error, streaming, pending: what events have made of these parts of the state.
    """

    said: Sequence[str]
    failures: Sequence[int]
    starts: tuple[int, int, int]
    until: int
    error: Any
    streaming: Any
    pending: tuple[str, ...]

    def explains(self, name: str, messages: Sequence[Any]) -> bool:
        """Whether a list of that name shows failures as they were told: all of them, in their places, and no others."""
        start = self.starts[_PARTS.get(name, 0)]
        shown = [canonical(message) for message in messages if tells_failure(message)]
        if not shown or shown != [self.said[at] for at in self.failures if start <= at < self.until]:
            return False
        if messages[0].get("role") == "system":  # the head of the transcript, of which nothing tells
            messages = messages[1:]
        rest = iter(self.said[start : self.until])
        return all(canonical(message) in rest for message in messages)

    def live(self, state: Object) -> Iterator[str]:
        """Those of the live parts of a state that are as the events have made them."""
        pending = state.get("pendingToolCalls")
        if canonical(state.get("errorMessage")) == canonical(self.error):
            yield "errorMessage"
        if canonical(state.get("streamingMessage")) == canonical(self.streaming):
            yield "streamingMessage"
        if isinstance(pending, list) and sorted(map(canonical, pending)) == [*self.pending]:
            yield "pendingToolCalls"


def moments(lines: Sequence[Object]) -> list[Moment]:
    """What is known of a trace when each of its lines has been taken in."""
    return [moment for each in conversations(lines) for moment in _Telling(each).moments()]


class _Telling:
    """One conversation as it goes on."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._said: list[str] = []
        self._failures: list[int] = []
        self._since = self._run = self._turn = 0
        self._error: Any = None
        self._streaming: Any = None
        self._pending = Counter[str]()

    def moments(self) -> Iterator[Moment]:
        conversation = self._conversation
        sent: defaultdict[int, list[Object]] = defaultdict(list)
        for each in conversation.sent:
            if each.accepted:
                sent[each.at].append(each.command)
        said: defaultdict[int, list[Object]] = defaultdict(list)
        for delivery in conversation.events:
            said[delivery.first].append(delivery.event)
        settled = {at for at, _ in conversation.settlements}
        for at in range(len(conversation.lines)):
            for command in sent.get(at, ()):
                self._change(command)
            for event in said.get(at, ()):
                self._hear(event)
            if at in settled:
                self._streaming = None
                self._pending.clear()
            yield Moment(
                said=self._said,
                failures=self._failures,
                starts=(self._since, max(self._run, self._since), max(self._turn, self._since)),
                until=len(self._said),
                error=self._error,
                streaming=self._streaming,
                pending=tuple(sorted(+self._pending)),
            )

    def _change(self, command: Object) -> None:
        """The state is given, or emptied."""
        name = command["cmd"]
        if name in ("create", "setMessages", "reset"):
            self._since = len(self._said)
            given = command.get("initialState", {}) if name == "create" else command
            for message in given.get("messages", ()):
                self._say(with_times_hidden(message))
        if name == "reset":
            self._error = self._streaming = None
            self._pending.clear()

    def _hear(self, event: Object) -> None:
        kind = event["type"]
        if kind == "agent_start":
            self._run = len(self._said)
            self._error = None
        elif kind == "turn_start":
            self._turn = len(self._said)
        elif kind in ("message_start", "message_update"):
            self._streaming = event["message"]
        elif kind == "message_end":
            self._say(event["message"])
        elif kind == "tool_execution_start":
            self._pending[canonical(event["toolCallId"])] += 1
        elif kind == "tool_execution_end":
            self._pending[canonical(event["toolCallId"])] -= 1
        elif kind == "turn_end" and event["message"].get("role") == "assistant":
            self._error = event["message"].get("errorMessage") or self._error
        if kind in ("message_end", "agent_start", "agent_end"):
            self._streaming = None

    def _say(self, message: Object) -> None:
        if tells_failure(message):
            self._failures.append(len(self._said))
        self._said.append(canonical(message))
