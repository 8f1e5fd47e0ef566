"""The grammar of what is said: how runs, turns, messages and calls stand inside each other, also when a run fails.

    run     = agent_start turn+ agent_end(all messages)
    turn    = turn_start message* answer (call-start | call-update | call-end | result)* turn_end(answer, results)
    message = message_start message_update* message_end

Every started call is ended, every ended call has its result, and the results are in the order of the calls. The
grammar holds for what was said, and for what each listener heard. Callbacks have their places in it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from ..compare import canonical
from ..protocol import Object
from .said import Conversation

_IN_A_TURN: Final = frozenset({
    "streamFn", "transformContext", "convertToLlm", "getApiKey", "prepareRequest", "execute", "beforeToolCall",
    "afterToolCall", "finishTurn",
})  # fmt: skip
_BETWEEN_TURNS: Final = frozenset({"prepareNextTurn", "prepareNextTurnWithContext", "shouldStopAfterTurn"})


@attrs.define
class _Run:
    """What is open in a run, and what was said in it."""

    said: list[str] = attrs.field(factory=list[str])
    in_turn: bool = False
    message: str = ""
    """The role of the message that is open."""
    answer: Object | None = None
    calls: Counter[str] = attrs.field(factory=Counter[str])
    """How often each call was started and not ended."""
    ended: Counter[str] = attrs.field(factory=Counter[str])
    """How often each call was ended and has no result."""
    results: list[Object] = attrs.field(factory=list[Object])
    asked: bool = False
    """A request was made in the turn."""
    told: bool = False
    """The failure of the run has been told, in a turn without a request."""

    def take(self, event: Object) -> str:
        """Go on by one event; what is wrong with it, or nothing."""
        kind = event["type"]
        if kind == "agent_end":
            return self._end(event)
        if kind == "turn_start":
            wrong = "a turn starts inside a turn" if self.in_turn else ""
            self.in_turn, self.answer, self.results, self.asked = True, None, [], False
            return wrong
        if not self.in_turn:
            return f"{kind} outside a turn"
        if kind == "turn_end":
            return self._end_turn(event)
        if kind.startswith("message_"):
            return self._message(kind.removeprefix("message_"), event["message"])
        return self._call(kind.removeprefix("tool_execution_"), event.get("toolCallId"))

    def callback(self, fn: str) -> str:
        """What is wrong with a callback at this place, or nothing."""
        self.asked = self.asked or fn == "streamFn"
        if self.message and fn in _IN_A_TURN | _BETWEEN_TURNS:
            return f"{fn} is asked inside a message ({self.message})"
        if self.in_turn and fn in _BETWEEN_TURNS:
            return f"{fn} is asked inside a turn"
        return "" if self.in_turn or fn not in _IN_A_TURN else f"{fn} is asked outside a turn"

    def _message(self, step: str, message: Object) -> str:
        role: str = message["role"]
        if step == "start":
            wrong = f"a message starts inside a message ({role})" if self.message else ""
            self.message = role
            return wrong
        wrong = "" if self.message == role else f"message_{step} without its start ({role})"
        if step != "end":
            return wrong
        self.message = ""
        self.said.append(canonical(message))
        if role == "assistant":
            if self.answer is not None and message.get("stopReason") in ("error", "aborted"):
                wrong = wrong or "a failed answer in a turn that has one"
            if not self.asked and message.get("stopReason") in ("error", "aborted"):
                wrong = wrong or ("the failure is told twice" if self.told else "")
                self.told = True
            self.answer = message
        elif role == "toolResult":
            call = message["toolCallId"]
            wrong = wrong or ("" if self.ended[call] else f"a result of {call}, which has not ended")
            self.ended[call] -= 1
            self.results.append(message)
        return wrong

    def _call(self, step: str, call: Any) -> str:
        if self.message:
            return f"{step} of {call} inside a message ({self.message})"
        if step == "start":
            self.calls[call] += 1
            return ""
        if not self.calls[call]:
            return f"{step} of {call}, which does not run"
        if step == "end":
            self.calls[call] -= 1
            self.ended[call] += 1
        return ""

    def _end_turn(self, event: Object) -> str:
        self.in_turn = False
        if self.message:
            return f"a turn ends inside a message ({self.message})"
        if unended := sorted(+self.calls):
            return f"a turn ends while {', '.join(unended)} runs"
        if unanswered := sorted(+self.ended):
            return f"a turn ends without the result of {', '.join(unanswered)}"
        if canonical(event["message"]) != canonical(self.answer):
            return "turn_end with another answer than its turn has"
        if canonical(event["toolResults"]) != canonical(self.results):
            return "turn_end with other results than its turn has"
        calls = [block["id"] for block in event["message"]["content"] if block["type"] == "toolCall"]
        order = iter(calls)
        if not all(result["toolCallId"] in order for result in self.results):
            return "results that are not in the order of their calls"
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
            run = _Run()
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
