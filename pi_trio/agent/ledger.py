"""What a run has said so far, and what it owes: the one record that a failed run is closed from.

The ledger is a fold over the run's events, made before any listener hears of them, plus two things that no
event carries: the outcome of a call that is finalised but has not ended yet, and the queued messages that
were drained and not said. It knows nothing of listeners, hooks or errors. `failure.py` reads it to write the
events that are owed.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ..events import (
    AgentEnd,
    AgentEvent,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from ..messages import AssistantMessage, Message, ToolCall, ToolResult, ToolResultMessage
from .queues import MessageQueue

#: Stop reasons of an answer whose calls do not run.
FAILED = frozenset({"error", "aborted"})


@attrs.frozen(kw_only=True)
class Outcome:
    """A finalised call: the result that its end and its message carry. The duration is in milliseconds."""

    result: ToolResult
    is_error: bool
    duration_ms: int | None = None


@attrs.define(eq=False)
class CallRecord:
    """One call of the open turn's answer, and how far it has come."""

    call: ToolCall
    started: bool = False
    #: When its `execute` was called (trio's clock, in seconds); None if it never was.
    executing_since: float | None = None
    outcome: Outcome | None = None
    ended: bool = False
    message: ToolResultMessage | None = None
    answered: bool = False


#: What an event is a part of: a call, the model's response, or neither (messages that the user and the queues
#: bring).
Part: TypeAlias = CallRecord | Literal["response"] | None


@attrs.define(eq=False)
class Ledger:
    """The record of one run."""

    ended: bool = False
    turn_open: bool = False
    #: The message between its start and its end, as it was last seen.
    open_message: Message | None = None
    #: Whether that message is the model's response; then it is not complete yet.
    open_is_response: bool = False
    #: The open turn's answer, once it is complete, and the calls in it.
    answer: AssistantMessage | None = None
    calls: list[CallRecord] = attrs.field(factory=list[CallRecord])
    #: Messages that were said (had their `message_end`), in order: what `agent_end` reports.
    said: list[Message] = attrs.field(factory=list[Message])
    #: Drained from a queue and not yet said, in order.
    unsaid: list[tuple[MessageQueue, Message]] = attrs.field(factory=list[tuple[MessageQueue, Message]])

    def reduce(self, event: AgentEvent, part: Part = None) -> None:
        """Take an event into the record."""
        # Before all else, because most events are updates.
        if isinstance(event, MessageUpdate):
            self.open_message = event.message
            return
        if isinstance(event, ToolExecutionUpdate):
            return
        record = part if isinstance(part, CallRecord) else None
        match event:
            case MessageStart(message=message):
                self.open_message = message
                self.open_is_response = part == "response"
                if record is not None and isinstance(message, ToolResultMessage):
                    record.message = message
            case MessageEnd(message=message):
                self.open_message = None
                self.open_is_response = False
                self.said.append(message)
                if record is not None:
                    record.answered = True
                elif part == "response" and isinstance(message, AssistantMessage):
                    self.answer = message
                    self.calls = [] if message.stop_reason in FAILED else records_of(message)
            case ToolExecutionStart() if record is not None:
                record.started = True
            case ToolExecutionEnd() if record is not None:
                record.ended = True
            case AgentEnd():
                self.ended = True
            case TurnStart():
                self.turn_open = True
            case TurnEnd():
                self.turn_open = False
                self.answer = None
                self.calls = []
            case _:
                pass

    def replace_partial(self, partial: AssistantMessage) -> None:
        """The open response goes on from another partial, without an event (D-06)."""
        self.open_message = partial

    def drained(self, queue: MessageQueue, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Note that `messages` were taken from `queue`: they are owed until they are said (D-09)."""
        self.unsaid += [(queue, message) for message in messages]
        return messages

    def is_said(self, message: Message) -> None:
        """Note that a drained message has got its `message_start`."""
        for index, (_, owed) in enumerate(self.unsaid):
            if owed is message:
                del self.unsaid[index]
                return

    def return_unsaid(self) -> None:
        """Put what was drained and not said back at the head of its queue, in its old order (D-09)."""
        for queue, message in reversed(self.unsaid):
            queue.put_back((message,))
        self.unsaid.clear()

    def results(self) -> tuple[ToolResultMessage, ...]:
        """The result messages of the open turn that were said, in the order of their calls."""
        return tuple(
            record.message for record in self.calls if record.answered and record.message is not None
        )


def records_of(answer: AssistantMessage) -> list[CallRecord]:
    """A fresh record for each call of an answer, in source order."""
    return [CallRecord(block) for block in answer.content if isinstance(block, ToolCall)]
