"""The grammar of a run's events, written down a second time: what the tests hold the agent's stream against.

It knows nothing of the package but the classes of its events. Every event is taken in turn, and refused with
an AssertionError where it may not stand. In short: a run is turns; a turn is messages, then one answer, then its
calls, each started, perhaps updated, ended and answered, once; nothing is left open; `agent_end` lists exactly
what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import attrs

from pi_trio.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from pi_trio.messages import AssistantMessage, Message, ToolCall, ToolResultMessage

Progress = Literal["due", "running", "ended", "answered"]


@attrs.define
class Call:
    block: ToolCall
    progress: Progress = "due"
    end: ToolExecutionEnd | None = None


@attrs.define
class Turn:
    answer: AssistantMessage | None = None
    calls: list[Call] = attrs.field(factory=list)
    results: list[ToolResultMessage] = attrs.field(factory=list)


@attrs.define
class Grammar:
    """Takes the events of one run. `sequential` says how its batches run."""

    sequential: bool = False
    said: list[Message] = attrs.field(factory=list)
    stage: Literal["before", "running", "over"] = "before"
    turn: Turn | None = None
    open_message: Message | None = None
    #: A turn's answer was an error or aborted: what may follow is the end, or one more turn that tells a later failure.
    failed: bool = False

    def take(self, event: AgentEvent) -> None:
        """The next event; AssertionError if it may not stand here."""
        if isinstance(event, AgentStart):
            assert self.stage == "before", "a run starts once"
            self.stage = "running"
            return
        assert self.stage == "running", f"{event.type} outside the run"
        match event:
            case AgentEnd(messages=messages):
                assert self.turn is None, "agent_end inside a turn"
                assert len(messages) == len(self.said), "agent_end lists what was said"
                assert all(one is other for one, other in zip(messages, self.said, strict=True))
                self.stage = "over"
            case TurnStart():
                assert self.turn is None, "a turn inside a turn"
                self.turn = Turn()
            case TurnEnd():
                self._end_turn(self._in_turn(), event)
            case MessageStart(message=message):
                self._start_message(self._in_turn(), message)
            case MessageUpdate(message=message):
                assert isinstance(self.open_message, AssistantMessage), "an update of no answer"
                assert isinstance(message, AssistantMessage)
                self.open_message = message
            case MessageEnd(message=message):
                self._end_message(self._in_turn(), message)
            case ToolExecutionStart():
                self._start_call(self._in_turn(), event)
            case ToolExecutionUpdate():
                self._progress(self._in_turn(), event, "running")
            case ToolExecutionEnd():
                running = self._progress(self._in_turn(), event, "running")
                running.progress, running.end = "ended", event

    def finish(self) -> None:
        """There are no more events."""
        assert self.stage == "over", "the run has not ended"

    def _in_turn(self) -> Turn:
        assert self.turn is not None, "outside a turn"
        return self.turn

    def _start_message(self, turn: Turn, message: Message) -> None:
        assert self.open_message is None, "a message inside a message"
        if isinstance(message, ToolResultMessage):
            owed = next((one for one in turn.calls if one.progress != "answered"), None)
            assert owed is not None, "a result that no call owes"
            assert owed.progress == "ended", "a result before its call's end, or out of order"
            assert message.tool_call_id == owed.block.id
            assert message.tool_name == owed.block.name
            if not self._one_by_one(turn):
                assert all(one.progress in {"ended", "answered"} for one in turn.calls), "a result too early"
            assert owed.end is not None
            if sum(one.block.id == owed.block.id for one in turn.calls) == 1:
                # Of calls with one id nobody can tell which of them an end belongs to.
                assert message.is_error == owed.end.is_error
                assert message.content == (owed.end.result.content or ())
                assert message.duration_ms == owed.end.duration_ms
        else:
            assert turn.answer is None, f"a message of role {message.role} behind the answer"
            if self.failed:
                assert isinstance(message, AssistantMessage), "nothing is said after a failure"
        self.open_message = message

    def _end_message(self, turn: Turn, message: Message) -> None:
        opened, self.open_message = self.open_message, None
        assert opened is not None, "an end without a start"
        assert opened.role == message.role
        if isinstance(message, AssistantMessage):
            turn.answer = message
            if message.stop_reason not in {"error", "aborted"}:
                turn.calls = [Call(block) for block in message.content if isinstance(block, ToolCall)]
                assert not self.failed, "a good answer after a failure"
        else:
            assert opened is message
        if isinstance(message, ToolResultMessage):
            next(one for one in turn.calls if one.progress != "answered").progress = "answered"
            turn.results.append(message)
        self.said.append(message)

    def _start_call(self, turn: Turn, event: ToolExecutionStart) -> None:
        assert self.open_message is None, "a call inside a message"
        due = next((one for one in turn.calls if one.progress == "due"), None)
        assert due is not None, "a start of no call"
        self._same_call(due, event)
        if self._one_by_one(turn):
            before = turn.calls[: turn.calls.index(due)]
            assert all(one.progress == "answered" for one in before), "started before the last was answered"
        else:
            assert not turn.results, "a start behind a result"
        due.progress = "running"

    def _progress(self, turn: Turn, event: ToolExecutionUpdate | ToolExecutionEnd, wanted: Progress) -> Call:
        # Of calls with one id to one tool, the first that is so far.
        meant = (event.tool_call_id, event.tool_name)
        found = [
            one for one in turn.calls if (one.block.id, one.block.name) == meant and one.progress == wanted
        ]
        assert found, f"{event.type} of a call that is not running"
        if isinstance(event, ToolExecutionUpdate):
            self._same_call(found[0], event)
        return found[0]

    def _same_call(self, one: Call, event: ToolExecutionStart | ToolExecutionUpdate) -> None:
        block = one.block
        assert (event.tool_call_id, event.tool_name, event.args) == (block.id, block.name, block.arguments)

    def _one_by_one(self, turn: Turn) -> bool:
        return self.sequential or (turn.answer is not None and turn.answer.stop_reason == "length")

    def _end_turn(self, turn: Turn, event: TurnEnd) -> None:
        assert self.open_message is None, "turn_end inside a message"
        assert turn.answer is not None, "a turn without an answer"
        assert event.message is turn.answer
        assert all(one.progress == "answered" for one in turn.calls), "a call without end or answer"
        assert len(event.tool_results) == len(turn.results)
        assert all(one is other for one, other in zip(event.tool_results, turn.results, strict=True))
        self.failed = turn.answer.stop_reason in {"error", "aborted"}
        self.turn = None


def check(events: Iterable[AgentEvent], *, sequential: bool = False, complete: bool = True) -> list[Message]:
    """Hold the events of one run against the grammar; of a run that is not over with `complete=False`.

    Returns:
        What was said.
    """
    grammar = Grammar(sequential=sequential)
    for event in events:
        grammar.take(event)
    if complete:
        grammar.finish()
    return grammar.said
