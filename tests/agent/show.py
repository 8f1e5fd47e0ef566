"""The one rich run that the tests of failures and cancellations take apart, and what makes it fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import trio

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import AfterToolCallContext, BeforeToolCallContext, BeforeToolCallResult
from pi_trio.events import AgentEvent
from pi_trio.messages import Message, ToolResult
from pi_trio.tools.tool import ExecutionMode, UpdateFn

from .grammar import check
from .scripting import (
    MODEL,
    Pause,
    Recorder,
    Script,
    assistant,
    brief,
    call,
    result,
    take_queues,
    tool,
    user,
    yielding,
)

#: A batch of calls runs in either.
MODES: tuple[ExecutionMode, ...] = ("parallel", "sequential")


class Show:
    """An agent whose run has everything in it, and the messages that were queued for it.

    The run: two steering messages (`steering_waits`) wait already; the first answer has text and two calls, both
    executed in parallel (or one after the other), with two updates each; a third call is blocked by its hook.
    Meanwhile a third steering message comes. The second answer calls a tool that does not exist; the third is text;
    a follow-up brings the fourth. All hooks are there. `before_hook(name)` is called before each hook and tool, and
    may raise.
    """

    def __init__(
        self,
        *,
        pause: Pause = yielding,
        tool_execution: ExecutionMode = "parallel",
        deaf: bool = False,
        before_hook: Callable[[str], None] = lambda _name: None,
        steering_waits: int = 2,
        abort_mode: Any = "signal",
        **options: Any,
    ) -> None:
        self.pause = pause
        self.deaf = deaf
        self.before_hook = before_hook
        self.script = Script(
            assistant("let me see", call("t1", n=1), call("t2", n=2), call("t3", n=3)),
            assistant(call("t4", "nowhere")),
            assistant("all done"),
            assistant("and more"),
            pause=pause,
            deaf=deaf,
        )
        self.agent = Agent(
            system_prompt="be brief",
            model=MODEL,
            tools=[tool("work", self._work)],
            stream_fn=self.script,
            tool_execution=tool_execution,
            abort_mode=abort_mode,
            transform_context=self._transform_context,
            convert_to_llm=self._convert_to_llm,
            get_api_key=self._get_api_key,
            before_tool_call=self._before_tool_call,
            after_tool_call=self._after_tool_call,
            prepare_next_turn_with_context=self._prepare_next_turn,
            prepare_request=self._prepare_request,
            finish_turn=self._finish_turn,
            **options,
        )
        self.first = Recorder(self.agent)
        self.steering = [user("steer 1"), user("steer 2"), user("steer 3")]
        self.follow_ups = [user("follow up")]
        self.queued: list[Message] = []
        for message in self.steering[:steering_waits]:
            self._queue(self.agent.steer, message)
        self._queue(self.agent.follow_up, self.follow_ups[0])

    def _queue(self, how: Callable[[Message], None], message: Message) -> None:
        how(message)
        self.queued.append(message)

    async def _hook(self, name: str) -> None:
        self.before_hook(name)
        await self.pause(name)

    async def _work(self, call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> ToolResult:
        self.before_hook(f"execute {call_id}")
        on_update(result(f"{call_id} begins"))
        if call_id == "t2" and self.steering[2] not in self.queued:
            self._queue(self.agent.steer, self.steering[2])
        if self.deaf:
            await self.pause(f"tool {call_id}")
        else:
            with signal.scope() as scope:
                await self.pause(f"tool {call_id}")
            if scope.cancelled_caught:
                return result(f"{call_id} was told to stop")
        on_update(result(f"{call_id} goes on"))
        await self.pause(f"tool {call_id} again")
        return result(f"{call_id} gives {args['n']}")

    async def _transform_context(
        self, messages: tuple[Message, ...], signal: AbortSignal
    ) -> tuple[Message, ...]:
        await self._hook("transform_context")
        return messages

    async def _convert_to_llm(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        await self._hook("convert_to_llm")
        return messages

    async def _get_api_key(self, provider: str) -> str | None:
        await self._hook("get_api_key")
        return "key"

    async def _before_tool_call(
        self, context: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCallResult | None:
        await self._hook(f"before {context.tool_call.id}")
        return (
            BeforeToolCallResult(block=True, reason="not this one") if context.tool_call.id == "t3" else None
        )

    async def _after_tool_call(self, context: AfterToolCallContext, signal: AbortSignal) -> None:
        await self._hook(f"after {context.tool_call.id}")

    async def _prepare_next_turn(self, turn: Any, signal: AbortSignal) -> None:
        await self._hook("prepare_next_turn")

    async def _prepare_request(self, request: Any, signal: AbortSignal) -> None:
        await self._hook("prepare_request")

    async def _finish_turn(self, turn: Any, signal: AbortSignal) -> None:
        await self._hook("finish_turn")

    def whole(self, *, sequential: bool = False) -> list[AgentEvent]:
        """Hold the run that `first` has heard against everything that holds for a settled run; gives its events."""
        events = list(self.first.events)
        said = check(events, sequential=sequential)
        state = self.agent.state
        known = [message for message in state.messages if all(message is not one for one in said)]
        assert [id(message) for message in state.messages] == [id(message) for message in (*known, *said)]
        self.idle()
        self.unlost()
        return events

    def idle(self) -> None:
        """Nothing is going on in the agent, and every stream was left."""
        state = self.agent.state
        assert not state.is_streaming
        assert state.streaming_message is None
        assert state.pending_tool_calls == ()
        assert self.agent.signal is None
        assert all(playback.left for playback in self.script.playbacks if playback.entered)

    async def works_again(self) -> None:
        """Another prompt runs to its good end."""
        self.first.events.clear()
        self.pause_is_over()
        outcome = await self.agent.prompt("once more")
        assert outcome.stop_reason == "stop"
        assert outcome.errors == ()
        check(self.first.events, sequential=self.agent.tool_execution == "sequential")

    def pause_is_over(self) -> None:
        """From now on nothing stands still or raises."""
        self.pause = self.script.pause = yielding
        self.before_hook = lambda _name: None

    def unlost(self) -> None:
        """D-09: every queued message was either said or is back in its queue, and in order."""
        said = [message for message in self.agent.messages if message in self.queued]
        steering, follow_ups = take_queues(self.agent)
        queued = [message for message in self.queued if message in self.steering]
        assert [message for message in said if message in self.steering] + steering == queued
        assert [message for message in said if message in self.follow_ups] + follow_ups == self.follow_ups


@attrs.define(eq=False)
class Saboteur:
    """A listener that raises at its event number `index`, and from there on if `always`; after its pause, if any."""

    index: int
    error: Callable[[str], BaseException] = RuntimeError
    always: bool = False
    pause: Pause | None = None
    raised: list[BaseException] = attrs.field(factory=list)
    _heard: int = 0

    def __call__(self, event: AgentEvent, signal: AbortSignal) -> Awaitable[None] | None:
        number, self._heard = self._heard, self._heard + 1
        fails = number == self.index or (self.always and number > self.index)
        if self.pause is not None:
            return self._slowly(self.pause, event, fails)
        if fails:
            self._raise(event)
        return None

    async def _slowly(self, pause: Pause, event: AgentEvent, fails: bool) -> None:
        await pause(f"saboteur {brief(event)}")
        if fails:
            self._raise(event)

    def _raise(self, event: AgentEvent) -> None:
        error = self.error(f"at {brief(event)}, {len(self.raised) + 1}")
        self.raised.append(error)
        raise error


class RaisingPause:
    """A pause that raises when it is asked for the time number `index`."""

    def __init__(self, index: int, error: Callable[[str], BaseException] = RuntimeError) -> None:
        self.index = index
        self.error = error
        self.raised: BaseException | None = None
        self.place = ""
        self._asked = 0

    async def __call__(self, place: str) -> None:
        number, self._asked = self._asked, self._asked + 1
        await trio.lowlevel.checkpoint()
        if number == self.index:
            self.place = place
            self.raised = self.error(f"at {place}")
            raise self.raised


@contextmanager
def told(**circumstances: object) -> Iterator[None]:
    """An assertion that fails in here says in which case."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in this case: {circumstances}")
        raise


class Failing:
    """A listener that raises at the first event of a description."""

    def __init__(self, words: str, error: BaseException) -> None:
        self.words = words
        self.error = error

    def __call__(self, event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == self.words:
            self.words = ""
            raise self.error
