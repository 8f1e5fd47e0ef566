"""A batch in which nothing waits for the tester: tools report and return as fast as the scheduler lets them.

An abort and a steering message come from tasks of their own, which may act from the first call's start on. From there
until the turn is over the schedule is somebody's choice; before and after, it is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.codec import unstructure
from pi_trio.conformance.normalise import Normaliser
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scheduling import Pick, picked
from pi_trio.conformance.subjects.inside import logging_kept
from pi_trio.events import AgentEvent, StreamDone
from pi_trio.messages import AssistantMessage, TextContent, ToolCall, ToolResult, Usage
from pi_trio.models.stream import ResponseStream
from pi_trio.tools.tool import Tool, UpdateFn

from .laws import call_ids, report, returned
from .scope import STEERED, Aside, Fault, Mode

_PATIENCE: Final = 60.0
"""Seconds of a clock that stands still unless nothing can run: so this is how a hang is seen, and costs no time."""

_NORMALISER: Final = Normaliser(frozenset())


class FreeBatch:
    """One play.

    Args:
        calls, updates: how many calls there are, and how often each reports.
        beside: what else happens.
        slow: a listener in front of the one that is heard takes a turn of the scheduler for each report.
        pick: says which of the runnable tasks go on.
        lateness: how many turns of the scheduler who is beside lets pass before acting.
    """

    def __init__(
        self,
        *,
        calls: int,
        updates: int,
        beside: Collection[Aside],
        mode: Mode,
        slow: bool,
        profile: str,
        pick: Pick,
        lateness: Callable[[], int],
    ) -> None:
        ids = call_ids(calls)
        self._updates, self._beside, self._pick, self._lateness = updates, beside, pick, lateness
        self._watched = False
        self._begun = trio.lowlevel.ParkingLot()
        self.error: Exception | None = None
        """What came out in the place of a settled run; a hang is one of time."""
        self._acted: dict[Aside, int] = {}
        """How many events had been heard when it did."""
        self.heard: list[Object] = []
        self.failed_at: int | None = None
        """How many events had been heard when a listener failed."""
        self.executed: list[str] = []
        """The calls whose tool was called, in that order."""
        asked = _answer(*(ToolCall(id=each, name=each, arguments={}) for each in ids), stop="toolUse")
        self._answers = iter([asked, _answer("done"), _answer("done")])
        self._agent = Agent(
            stream_fn=self._stream,
            tools=[Tool(name=each, description="", parameters={}, execute=self._tool) for each in ids],
            abort_mode=mode,
            profile=profile,
        )
        if slow:
            self._agent.subscribe(self._hold_up)
        self._agent.subscribe(self._listen)

    def run(self) -> None:
        """Play it. Not to be called inside trio."""
        with picked(self._go_on), logging_kept("pi_trio"):
            trio.run(self._main, clock=trio.testing.MockClock(autojump_threshold=0))

    async def _main(self) -> None:
        try:
            with trio.fail_after(_PATIENCE):
                async with trio.open_nursery() as nursery:
                    for what in self._beside:
                        nursery.start_soon(self._act, what)
                    await trio.testing.wait_all_tasks_blocked()
                    await self._agent.prompt("go")
        except* Exception as errors:
            self.error = errors.exceptions[0]

    def _go_on(self, ready: list[trio.lowlevel.Task]) -> list[trio.lowlevel.Task]:
        return self._pick(ready) if self._watched and len(ready) > 1 else ready

    # --- who acts -----------------------------------------------------------------------------------------

    def _stream(self, *_: object) -> ResponseStream:
        stream, message = ResponseStream(), next(self._answers)
        stream.push(StreamDone(reason=message.stop_reason, message=message))
        return stream

    async def _tool(self, call_id: str, _args: Any, _signal: AbortSignal, on_update: UpdateFn) -> ToolResult:
        self.executed.append(call_id)
        for number in range(self._updates):
            await trio.lowlevel.checkpoint()
            on_update(_result(report(call_id, number + 1)))
        await trio.lowlevel.checkpoint()
        return _result(returned(call_id))

    async def _act(self, what: Aside) -> None:
        await self._begun.park()
        for _ in range(self._lateness()):
            await trio.lowlevel.checkpoint()
        self._acted[what] = len(self.heard)
        match what:
            case "abort":
                self._agent.abort()
            case "steer":
                self._agent.steer(STEERED)
            case "fail":
                self._leave = self._agent.subscribe(self._fail)

    def _fail(self, _event: AgentEvent, _signal: AbortSignal) -> None:
        """A listener that fails at the first event that it hears, and is no more."""
        self._leave()
        self.failed_at = len(self.heard)
        raise RuntimeError("the listener failed")

    async def _hold_up(self, event: AgentEvent, _signal: AbortSignal) -> None:
        if event.type == "tool_execution_update":
            await trio.lowlevel.checkpoint()

    def _listen(self, event: AgentEvent, _signal: AbortSignal) -> None:
        self.heard.append(_NORMALISER.line({"tell": "event", "event": unstructure(event)})["event"])
        if event.type == "tool_execution_start" and not self._watched:
            self._watched = True
            self._begun.unpark_all()
        elif event.type == "turn_end":
            self._watched = False

    # --- what came of it ----------------------------------------------------------------------------------

    def aborted_in_time(self) -> bool:
        """Whether an abort came before the turn was over."""
        types = [event["type"] for event in self.heard]
        return "abort" in self._acted and "turn_end" not in types[: self._acted["abort"]]

    def turns_before_steering(self) -> int | None:
        """How many turns were over when the steering message was said; None if it was not said."""
        for index, event in enumerate(self.heard):
            if event["type"] == "message_start" and event["message"]["content"] == _STEERED:
                return [each["type"] for each in self.heard[:index]].count("turn_end")
        return None

    def faults(self) -> Iterator[Fault]:
        """What is wrong with tools and agent, now that all is over."""
        if self.executed != sorted(self.executed):
            yield Fault("tools are called in source order", ", ".join(self.executed))
        state = self._agent.state
        if (state.is_streaming, state.streaming_message, tuple(state.pending_tool_calls)) != (
            False,
            None,
            (),
        ):
            yield Fault("the state is at rest", f"{state}")
        queued, said = self._agent.has_queued_messages(), self.turns_before_steering() is not None
        if "steer" in self._beside and queued == said:
            yield Fault("what is queued is said once, or still queued", "both" if queued else "neither")


_STEERED: Final = [{"type": "text", "text": STEERED}]


def _answer(*content: ToolCall | str, stop: Any = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=[TextContent(text=part) if isinstance(part, str) else part for part in content],
        api="script", provider="script", model="script", usage=Usage.zero(), stop_reason=stop, timestamp=0,
    )  # fmt: skip


def _result(text: str) -> ToolResult:
    return ToolResult(content=(TextContent(text=text),))
