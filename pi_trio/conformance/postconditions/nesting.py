"""The grammar of what is said: how runs, turns, messages and calls stand inside each other, also when a run fails.

    run     = agent_start turn+ agent_end(all messages)
    turn    = turn_start message* answer (call-start | call-update | call-end | result)* turn_end(answer, results)
    message = message_start message_update* message_end

A message ends as it has started; an answer alone grows. `calling.py` has the grammar of the calls. All that holds for
what was said, and for what each listener heard. Callbacks have their places in it too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import attrs

from ..compare import canonical
from ..failed import is_failed
from ..normalise import HOST_TEXT
from ..protocol import Object
from .calling import Calls
from .said import Conversation

_IN_A_TURN: Final = frozenset({
    "streamFn", "transformContext", "convertToLlm", "getApiKey", "prepareRequest", "execute", "beforeToolCall",
    "afterToolCall", "finishTurn",
})  # fmt: skip
_UNTOLD: Final = {canonical(None), canonical(HOST_TEXT)}
"""Errors that cannot be told from others."""
_BETWEEN_TURNS: Final = frozenset({
    "prepareNextTurn", "prepareNextTurnWithContext", "shouldStopAfterTurn", "getFollowUpMessages",
})  # fmt: skip
_FIRST_OR_BETWEEN: Final = "getSteeringMessages"
"""It is asked between turns, and once before the first request of a run."""


@attrs.define
class _Run:
    """What is open in a run, and what was said in it."""

    said: list[str] = attrs.field(factory=list[str])
    in_turn: bool = False
    turns: int = 0
    """How many have started."""
    message: Object | None = None
    """The message that is open, as it was started."""
    calls: Calls = attrs.field(factory=Calls)
    """Those of the turn."""
    asked: bool = False
    """A request was made in the turn."""
    told: bool = False
    """The failure of the run has been told, in a turn without a request."""
    given: Collection[str] = ()
    """The answers that need no request."""
    errors: set[str] = attrs.field(factory=set[str])
    """The errors that failed answers have named, in words that are not the host language's."""

    def take(self, event: Object) -> str:
        """Go on by one event; what is wrong with it, or nothing."""
        kind = event["type"]
        if kind == "agent_end":
            return self._end(event)
        if kind == "turn_start":
            wrong = "a turn starts inside a turn" if self.in_turn else ""
            self.in_turn, self.calls, self.asked = True, Calls(), False
            self.turns += 1
            return wrong
        if not self.in_turn:
            return f"{kind} outside a turn"
        if kind == "turn_end":
            return self._end_turn(event)
        if kind.startswith("message_"):
            return self._message(kind.removeprefix("message_"), event["message"])
        step = kind.removeprefix("tool_execution_")
        if self.message is not None:
            return f"{step} of {event.get('toolCallId')} inside a message ({self.message['role']})"
        return self.calls.take(step, event)

    def callback(self, fn: str) -> str:
        """What is wrong with a callback at this place, or nothing."""
        self.asked = self.asked or fn == "streamFn"
        if self.message is not None and fn in _IN_A_TURN | _BETWEEN_TURNS | {_FIRST_OR_BETWEEN}:
            return f"{fn} is asked inside a message ({self.message['role']})"
        late = fn == _FIRST_OR_BETWEEN and (self.asked or self.turns > 1)
        if self.in_turn and (fn in _BETWEEN_TURNS or late):
            return f"{fn} is asked inside a turn"
        return "" if self.in_turn or fn not in _IN_A_TURN else f"{fn} is asked outside a turn"

    def _message(self, step: str, message: Object) -> str:
        role = message["role"]
        started = self.message
        if step == "start":
            self.message = message
            return "" if started is None else f"a message starts inside a message ({role})"
        wrong = (
            ""
            if started is not None and started["role"] == role
            else f"message_{step} without its start ({role})"
        )
        if step != "end":
            return wrong
        self.message = None
        self.said.append(canonical(message))
        # Only an answer grows, and one that failed before it was started does not either.
        grows = role == "assistant" and started is not None and not is_failed(started)
        if not grows and started is not None and canonical(started) != canonical(message):
            wrong = wrong or f"message_end of another message than was started ({role})"
        if role == "assistant":
            wrong = wrong or (self._failed(message) if is_failed(message) else self._answered(message))
            self.calls.answer = message
        elif role == "toolResult":
            wrong = wrong or self.calls.answered(message)
        return wrong

    def _answered(self, answer: Object) -> str:
        asked_for = self.asked or canonical(answer) in self.given
        return "" if asked_for else "an answer that no request was made for"

    def _failed(self, answer: Object) -> str:
        """An answer has failed. A run fails once, and may say before that how an answer was cut."""
        error = canonical(answer.get("errorMessage"))
        again = not self.asked and (self.told or error in self.errors)
        self.told = self.told or not self.asked
        self.errors |= {error} - _UNTOLD
        if self.calls.answer is not None:
            return "a failed answer in a turn that has one"
        return "the failure is told twice" if again else ""

    def _end_turn(self, event: Object) -> str:
        self.in_turn = False
        calls = self.calls
        if self.message is not None:
            return f"a turn ends inside a message ({self.message['role']})"
        if wrong := calls.unfinished():
            return wrong
        if canonical(event["message"]) != canonical(calls.answer):
            return "turn_end with another answer than its turn has"
        if canonical(event["toolResults"]) != canonical(calls.results):
            return "turn_end with other results than its turn has"
        return ""

    def _end(self, event: Object) -> str:
        if self.in_turn:
            return "agent_end inside a turn"
        if [canonical(message) for message in event["messages"]] != self.said:
            return "agent_end with other messages than were said"
        return ""


def nesting(conversation: Conversation) -> Iterator[str]:
    """What of a conversation does not obey the grammar."""
    said = [(delivery.first, delivery.event) for delivery in conversation.events]
    asked = [(at, {"fn": line["ask"]["fn"]}) for at, line in conversation.callbacks()]
    requests = [each for each in asked if each[1]["fn"] == "streamFn"]
    yield from _parse(conversation, _in_order(said, asked))
    for key in conversation.constant:
        heard = [(hearing.at, hearing.event) for hearing in conversation.hearings if hearing.listener == key]
        yield from (f"{wrong} ({key})" for wrong in _parse(conversation, _in_order(heard, requests)))


def _in_order(*parts: Sequence[tuple[int, Object]]) -> list[tuple[int, Object]]:
    return sorted((each for part in parts for each in part), key=lambda each: each[0])


def _parse(conversation: Conversation, said: Sequence[tuple[int, Object]]) -> Iterator[str]:
    """What is wrong with a sequence of events and callbacks."""
    run: _Run | None = None
    for at, event in said:
        if "fn" in event:
            wrong = "" if run is None else run.callback(event["fn"])
        elif event["type"] == "agent_start":
            wrong = "" if run is None or _breaks_off(conversation, at, said) else "agent_start inside a run"
            run = _Run(given=conversation.given)
        elif run is None:
            wrong = f"{event['type']} outside a run"
        else:
            wrong = run.take(event)
            run = None if event["type"] == "agent_end" else run
        if wrong:
            yield wrong
    end = len(conversation.lines)
    if run is not None and conversation.is_settled and not _breaks_off(conversation, end, said):
        yield "a run that settles without agent_end"


def _breaks_off(conversation: Conversation, before: int, said: Sequence[tuple[int, Object]]) -> bool:
    """Whether the last run rightly has no end here: the loop alone failed, or who could hear it failed at what was
    heard last.
    """
    ends = [line for at, line in conversation.settlements if at < before]
    if conversation.of_loop and ends and not ends[-1]["ok"]:
        return True
    heard = {at for at, event in said if at < before and "type" in event}
    last = {hearing.listener: hearing for hearing in conversation.hearings if hearing.at in heard}
    return all(conversation.failed(hearing) for hearing in last.values())
