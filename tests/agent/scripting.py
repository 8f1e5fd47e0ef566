"""What the tests of the agent play with: messages, a model that says what it is told, gates, and a recorder.

The model (`Script`) and everything else that a run waits for *pauses* by a function that the test chooses: a
checkpoint, so that the run goes by itself, or a gate, so that it stands still until the test opens it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, TypeAlias

import attrs
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallEnd,
    ToolCallStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    UnknownStreamEvent,
)
from pi_trio.messages import (
    AssistantMessage,
    Content,
    Message,
    Model,
    ModelCost,
    TextContent,
    ToolCall,
    ToolResult,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)
from pi_trio.models.stream import ModelContext, StreamOptions
from pi_trio.tools.tool import Tool

Pause: TypeAlias = Callable[[str], Awaitable[None]]

MODEL = Model(
    id="m-1",
    name="Model One",
    api="testing",
    provider="tests",
    base_url="",
    reasoning=True,
    input=("text",),
    cost=ModelCost(input=0, output=0, cache_read=0, cache_write=0),
    context_window=1000,
    max_tokens=100,
)

COST = UsageCost(input=0.5, output=1, cache_read=0, cache_write=0, total=1.5)
USAGE = Usage(input=10, output=5, cache_read=1, cache_write=2, total_tokens=18, cost=COST)


# --- words ------------------------------------------------------------------------------------------------


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text=text),), timestamp=1)


def call(call_id: str, name: str = "work", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def assistant(*content: str | Content, stop_reason: str | None = None, **fields: Any) -> AssistantMessage:
    """An answer; strings become text blocks. Without a `stop_reason` it is what the content calls for."""
    blocks = tuple(TextContent(text=block) if isinstance(block, str) else block for block in content)
    calls = any(isinstance(block, ToolCall) for block in blocks)
    return AssistantMessage(
        content=blocks,
        api=MODEL.api,
        provider=MODEL.provider,
        model=MODEL.id,
        usage=USAGE,
        stop_reason=stop_reason or ("toolUse" if calls else "stop"),
        timestamp=2,
        **fields,
    )


def result(text: str = "ok", **fields: Any) -> ToolResult:
    return ToolResult(content=(TextContent(text=text),), **fields)


def text_of(message: Message | ToolResult) -> str:
    """All text of a message or a result."""
    content = getattr(message, "content", ())
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextContent))


def brief(event: AgentEvent) -> str:
    """An event in a word or two: `turn_start`, `message_end user`, `tool_execution_end t1 !`."""
    match event:
        case MessageStart(message=message) | MessageEnd(message=message):
            return f"{event.type} {message.role}"
        case ToolExecutionStart(tool_call_id=call_id) | ToolExecutionUpdate(tool_call_id=call_id):
            return f"{event.type} {call_id}"
        case ToolExecutionEnd(tool_call_id=call_id, is_error=is_error):
            return f"{event.type} {call_id}{' !' if is_error else ''}"
        case _:
            return event.type


def briefs(events: Sequence[AgentEvent]) -> list[str]:
    return [brief(event) for event in events]


# --- pauses -----------------------------------------------------------------------------------------------


async def yielding(_place: str) -> None:
    """A pause that only lets others run."""
    await trio.lowlevel.checkpoint()


class Gates:
    """Places where a run stands until the test lets it go on. A gate is known by the name of its place."""

    def __init__(self) -> None:
        self._standing: dict[str, trio.Event] = {}
        self._arrived = 0

    async def pause(self, place: str) -> None:
        """Stand here until the gate is opened."""
        self._arrived += 1
        key = place if place not in self._standing else f"{place} #{self._arrived}"
        event = self._standing[key] = trio.Event()
        try:
            await event.wait()
        finally:
            self._standing.pop(key, None)

    @property
    def standing(self) -> list[str]:
        """Where somebody stands now, longest first."""
        return list(self._standing)

    def open(self, place: str) -> None:
        """Let the one who stands there go on."""
        self._standing.pop(place).set()

    async def let_go(self, place: str) -> None:
        """Wait until everything stands still, open this gate, and wait again."""
        await trio.testing.wait_all_tasks_blocked()
        self.open(place)
        await trio.testing.wait_all_tasks_blocked()


async def opening_all(gates: Gates) -> None:
    """Open gates, one at a time, the oldest first, for ever."""
    while True:
        await trio.testing.wait_all_tasks_blocked()
        if not gates.standing:
            await trio.sleep_forever()
        gates.open(gates.standing[0])


# --- the model --------------------------------------------------------------------------------------------


def stream_events(message: AssistantMessage) -> list[StreamEvent]:
    """The events of a response, with partials, two deltas a text block."""
    events: list[StreamEvent] = []
    done: tuple[Content, ...] = ()

    def partial(*last: Content) -> AssistantMessage:
        return attrs.evolve(message, content=(*done, *last), stop_reason="pending", error_message=None)

    events.append(StreamStart(partial=partial()))
    for index, block in enumerate(message.content):
        if isinstance(block, TextContent):
            half = len(block.text) // 2
            events.append(TextStart(content_index=index, partial=partial(TextContent(text=""))))
            for delta, so_far in ((block.text[:half], block.text[:half]), (block.text[half:], block.text)):
                events.append(
                    TextDelta(content_index=index, delta=delta, partial=partial(TextContent(text=so_far)))
                )
            events.append(TextEnd(content_index=index, content=block.text, partial=partial(block)))
        elif isinstance(block, ToolCall):
            begun = ToolCall(id=block.id, name=block.name, arguments={})
            events.append(ToolCallStart(content_index=index, partial=partial(begun)))
            events.append(ToolCallEnd(content_index=index, tool_call=block, partial=partial(block)))
        done = (*done, block)
    if message.stop_reason in {"error", "aborted"}:
        events.append(StreamError(reason=message.stop_reason, error=message))
    else:
        events.append(StreamDone(reason=message.stop_reason, message=message))
    return events


@attrs.define
class Playback:
    """One response told event by event, with a pause before each. A raised signal ends it as aborted, unless deaf."""

    events: list[StreamEvent]
    signal: AbortSignal
    pause: Pause
    place: str
    deaf: bool = False
    entered: bool = False
    left: bool = False
    _result: AssistantMessage | None = None
    _last: AssistantMessage | None = None

    async def __aenter__(self) -> Playback:
        await self.pause(f"{self.place} enter")
        self.entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.left = True

    def __aiter__(self) -> Playback:
        return self

    async def __anext__(self) -> StreamEvent:
        if self._result is not None or not self.events:
            raise StopAsyncIteration
        with trio.CancelScope() if self.deaf else self.signal.scope():
            await self.pause(f"{self.place} event")
        if self.signal.aborted and not self.deaf:
            message = self._last if self._last is not None else assistant()
            aborted = attrs.evolve(message, stop_reason="aborted", error_message="aborted by request")
            self._result = aborted
            return StreamError(reason="aborted", error=aborted)
        event = self.events.pop(0)
        match event:
            case StreamDone(message=message) | StreamError(error=message):
                self._result = message
            case UnknownStreamEvent():
                pass
            case _:
                self._last = event.partial
        return event

    async def result(self) -> AssistantMessage | None:
        await self.pause(f"{self.place} result")
        return self._result


@attrs.frozen
class Request:
    """What the loop asked."""

    model: Model
    context: ModelContext
    options: StreamOptions

    @property
    def said(self) -> list[str]:
        """The transcript, a line a message."""
        return [f"{message.role}: {text_of(message)}" for message in self.context.messages]


class Script:
    """A stream function that gives its answers in turn; afterwards it always says "nothing more".

    An answer is a message, a list of stream events, or a function of the request that gives what the loop is to open.
    """

    def __init__(self, *answers: Any, pause: Pause = yielding, deaf: bool = False) -> None:
        self.answers: list[Any] = list(answers)
        self.pause = pause
        self.deaf = deaf
        self.requests: list[Request] = []
        self.playbacks: list[Playback] = []

    def __call__(self, model: Model, context: ModelContext, options: StreamOptions) -> Any:
        request = Request(model, context, options)
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else assistant("nothing more")
        if callable(answer):
            return answer(request)
        events = stream_events(answer) if isinstance(answer, AssistantMessage) else list(answer)
        return self.play(events, request)

    def play(self, events: list[StreamEvent], request: Request) -> Playback:
        playback = Playback(
            events, request.options.signal, self.pause, f"stream {len(self.requests)}", self.deaf
        )
        self.playbacks.append(playback)
        return playback


# --- tools and listeners ----------------------------------------------------------------------------------

ANYTHING: dict[str, Any] = {"type": "object"}


def tool(name: str, execute: Callable[..., Any], parameters: Any = None, **fields: Any) -> Tool:
    return Tool(
        name=name,
        description=f"the {name} tool",
        parameters=parameters or ANYTHING,
        execute=execute,
        **fields,
    )


class Recorder:
    """A listener that keeps what it hears, and the state of an agent beside it."""

    def __init__(self, agent: Agent | None = None, pause: Pause | None = None) -> None:
        self.events: list[AgentEvent] = []
        self.states: list[Any] = []
        self.times: list[float] = []
        self._agent = agent
        self._pause = pause
        if agent is not None:
            agent.subscribe(self)

    def __call__(self, event: AgentEvent, signal: AbortSignal) -> Awaitable[None] | None:
        self.events.append(event)
        self.times.append(trio.current_time())
        if self._agent is not None:
            self.states.append(self._agent.state)
        return None if self._pause is None else self._pause(f"listener {brief(event)}")

    @property
    def briefs(self) -> list[str]:
        return briefs(self.events)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def state_at(self, words: str) -> Any:
        """The state that was seen with the first event of that description."""
        return self.states[self.briefs.index(words)]


def at(agent: Agent, words: str, action: Callable[[], object], *, nth: int = 1) -> Callable[[], bool]:
    """Subscribe a listener that does something at the nth event of a description, once."""
    heard = 0

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        nonlocal heard
        if brief(event) == words:
            heard += 1
            if heard == nth:
                action()

    return agent.subscribe(listener)


def answers_of(messages: Sequence[Message]) -> list[AssistantMessage]:
    return [message for message in messages if isinstance(message, AssistantMessage)]


def results_of(messages: Sequence[Message]) -> list[ToolResultMessage]:
    return [message for message in messages if isinstance(message, ToolResultMessage)]


def roles(agent: Agent) -> list[str]:
    """The roles of all that has been said."""
    return [message.role for message in agent.messages]


def result_texts(agent: Agent) -> list[str]:
    """What the tools have said to the model, so far."""
    return [text_of(message) for message in results_of(agent.messages)]


def take_queues(agent: Agent) -> tuple[list[Message], list[Message]]:
    """Empty both queues, and tell what was in them: steering, follow-ups."""
    agent.steering_mode = agent.follow_up_mode = "all"
    first = agent.peek_queued_messages()
    agent.clear_steering_queue()
    second = agent.peek_queued_messages()
    agent.clear_all_queues()
    agent.steering_mode = agent.follow_up_mode = "one-at-a-time"
    steering = () if first and second and first[0] is second[0] else first
    return list(steering), list(second)
