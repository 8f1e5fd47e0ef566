"""Callables for an agent or a loop, made of what the tester describes: each asks the tester, and gets its answer.

Beside what a callback shows of its arguments (`args` of the ask) stands how the tester's JSON becomes the
callback's answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any

import trio

from ...abort import AbortSignal
from ...agent.hooks import (
    AfterToolCallContext,
    AfterToolCallResult,
    AgentContext,
    BeforeToolCallContext,
    BeforeToolCallResult,
    NextTurn,
    RequestContext,
    RequestUpdate,
    TurnContext,
    TurnDecision,
)
from ...codec import unstructure
from ...events import AgentEvent
from ...jsonvalue import ABSENT, JSON, thaw
from ...messages import Content, Message, Model, ToolResult, Usage
from ...models.stream import ModelContext, ResponseStream, StreamOptions
from ...tools.tool import Tool, UpdateFn
from ..protocol import Object
from .asks import Ask, Asks, DriverError, Thrown
from .fields import described_tool, object_of, read, read_messages
from .showing import show_context, show_event, show_messages, show_turn


class Callbacks:
    """Makes callables that ask; all asks go into one book."""

    def __init__(self, asks: Asks) -> None:
        self._asks = asks

    # --- the model and the tools -------------------------------------------------------------------------

    def stream_fn(self, model: Model, context: ModelContext, options: StreamOptions) -> Ask:
        shown: Object = {"messages": show_messages(context.messages)}
        if context.system_prompt is not None:
            shown["systemPrompt"] = context.system_prompt
        if context.tools is not None:
            shown["tools"] = unstructure(context.tools)
        given = {
            "reasoning": options.reasoning,
            "apiKey": options.api_key,
            "sessionId": options.session_id,
            "identity": None if options.identity is None else thaw(options.identity),
        }
        args: Object = {
            "model": unstructure(model),
            "context": shown,
            "options": {name: value for name, value in given.items() if value is not None},
        }

        def accept(value: Any) -> ResponseStream:
            if value != "stream":
                raise DriverError('streamFn is answered with "stream", or with throw')
            ask.stream = _WatchedStream(ask)
            return ask.stream

        ask = self._asks.open("streamFn", args, signal=options.signal, accept=accept)
        return ask

    def tool(self, given: JSON) -> Tool:
        """A live tool, from its description."""
        fields = described_tool(given)
        behaviour: Object = fields.get("prepareArguments", {})
        name: str = fields["name"]

        def execute(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Ask:
            ask = self._asks.open(
                "execute",
                {"tool": name, "toolCallId": call_id, "args": thaw(args)},
                key=call_id,
                signal=signal,
                accept=lambda value: None if value is None else read(value, ToolResult, "value"),
            )
            ask.update = lambda value: on_update(read(value, ToolResult, "value"))
            return ask

        def prepare_arguments(args: Any) -> Any:
            self._asks.say({"tell": "prepareArguments", "tool": name, "args": args})
            if "throw" in behaviour:
                raise Thrown(behaviour["throw"])
            return {**args, **behaviour["set"]}

        options: dict[str, Any] = {}
        if "constrainedSampling" in fields:
            options["constrained_sampling"] = fields["constrainedSampling"]
        return Tool(
            name=name,
            label=fields.get("label", ""),
            description=fields.get("description", ""),
            parameters=fields.get("parameters", {}),
            execution_mode=fields.get("executionMode"),
            output_schema=fields.get("outputSchema"),
            prepare_arguments=prepare_arguments if behaviour else None,
            execute=execute,
            **options,
        )

    def tools(self, given: JSON) -> tuple[Tool, ...]:
        """Live tools, from a list of descriptions."""
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise DriverError("tools is a list")
        return tuple(self.tool(item) for item in given)

    # --- listeners ---------------------------------------------------------------------------------------

    def listener(
        self, key: str, *, notify: bool, state: Callable[[], Object] | None
    ) -> Callable[[AgentEvent, AbortSignal], Awaitable[object]]:
        """A listener of that name: in notify mode it tells and goes on, else it asks and waits.

        Going on takes one turn of the scheduler, as awaiting nothing does in Pi: what else the same stimulus
        has made runnable comes first.
        """

        def listen(event: AgentEvent, signal: AbortSignal) -> Awaitable[object]:
            shown: Object = {"event": show_event(event)}
            if state is not None:
                shown["state"] = state()
            if notify:
                self._asks.say({"tell": "event", "key": key, **shown})
                return _Turn()
            return self._asks.open("listener", shown, key=key, event=event.type, signal=signal)

        return listen

    # --- hooks -------------------------------------------------------------------------------------------

    def convert_to_llm(self, messages: tuple[Message, ...]) -> Ask:
        return self._asks.open(
            "convertToLlm", {"messages": show_messages(messages)}, accept=lambda value: _or(value, messages)
        )

    def transform_context(self, messages: tuple[Message, ...], signal: AbortSignal) -> Ask:
        return self._asks.open(
            "transformContext",
            {"messages": show_messages(messages)},
            signal=signal,
            accept=lambda value: _or(value, messages),
        )

    def get_api_key(self, provider: str) -> Ask:
        return self._asks.open("getApiKey", {"provider": provider})

    def before_tool_call(self, context: BeforeToolCallContext, signal: AbortSignal) -> Ask:
        def accept(value: Any) -> BeforeToolCallResult | None:
            if value is None:
                return None
            decision = object_of(value)
            if "args" in decision:
                _replace_in_place(context.args, decision["args"])
            return BeforeToolCallResult(
                block=decision.get("block"),
                reason=decision.get("reason"),
                terminate=decision.get("terminate"),
            )

        args = {
            "assistantMessage": unstructure(context.assistant_message),
            "toolCall": unstructure(context.tool_call),
            "args": thaw(context.args),
            "context": show_context(context.context),
        }
        return self._asks.open("beforeToolCall", args, key=context.tool_call.id, signal=signal, accept=accept)

    def after_tool_call(self, context: AfterToolCallContext, signal: AbortSignal) -> Ask:
        args = {
            "assistantMessage": unstructure(context.assistant_message),
            "toolCall": unstructure(context.tool_call),
            "args": thaw(context.args),
            "result": unstructure(context.result),
            "isError": context.is_error,
            "context": show_context(context.context),
        }
        return self._asks.open(
            "afterToolCall", args, key=context.tool_call.id, signal=signal, accept=_after_tool_call_result
        )

    def prepare_next_turn(self, signal: AbortSignal) -> Ask:
        return self._asks.open("prepareNextTurn", {}, signal=signal, accept=self._next_turn)

    def prepare_next_turn_with_context(self, turn: TurnContext, signal: AbortSignal) -> Ask:
        return self._asks.open(
            "prepareNextTurnWithContext", show_turn(turn), signal=signal, accept=self._next_turn
        )

    def prepare_next_turn_of_loop(self, turn: TurnContext, signal: AbortSignal) -> Ask:
        """The low level's: there, `prepareNextTurn` gets the turn itself."""
        return self._asks.open("prepareNextTurn", show_turn(turn), signal=signal, accept=self._next_turn)

    def get_steering_messages(self) -> Ask:
        return self._asks.open("getSteeringMessages", {}, accept=lambda value: _or(value, ()))

    def get_follow_up_messages(self) -> Ask:
        return self._asks.open("getFollowUpMessages", {}, accept=lambda value: _or(value, ()))

    def prepare_request(self, request: RequestContext, signal: AbortSignal) -> Ask:
        args = {
            "context": show_context(request.context),
            "model": unstructure(request.model),
            "thinkingLevel": request.thinking_level,
        }

        def accept(value: Any) -> RequestUpdate | None:
            return None if value is None else RequestUpdate(**self._replacements(object_of(value)))

        return self._asks.open("prepareRequest", args, signal=signal, accept=accept)

    def finish_turn(self, turn: TurnContext, signal: AbortSignal) -> Ask:
        return self._asks.open(
            "finishTurn",
            show_turn(turn),
            signal=signal,
            accept=lambda value: (
                None if value is None else TurnDecision(action=object_of(value).get("action"))
            ),
        )

    def should_stop_after_turn(self, turn: TurnContext, signal: AbortSignal) -> Ask:
        return self._asks.open("shouldStopAfterTurn", show_turn(turn), signal=signal)

    def _next_turn(self, value: Any) -> NextTurn | None:
        if value is None:
            return None
        given = object_of(value)
        messages = given.get("messages")
        return NextTurn(
            **self._replacements(given),
            messages=None if messages is None else read_messages(messages, "value.messages"),
        )

    def _replacements(self, given: Object) -> dict[str, Any]:
        found: dict[str, Any] = {"thinking_level": given.get("thinkingLevel")}
        if (model := given.get("model")) is not None:
            found["model"] = read(model, Model, "value.model")
        if (context := given.get("context")) is not None:
            fields = object_of(context)
            found["context"] = AgentContext(
                messages=read_messages(fields.get("messages", []), "value.context.messages"),
                tools=self.tools(fields.get("tools", [])),
                system_prompt=fields.get("systemPrompt"),
            )
        return found


class _Turn:
    """Awaiting this takes one turn of the scheduler. No coroutine, so it need not be awaited."""

    def __await__(self) -> Generator[Any, None, None]:
        async def turn() -> None:
            await trio.lowlevel.checkpoint()

        return turn().__await__()


class _WatchedStream(ResponseStream):
    """A stream that withdraws its ask when the agent leaves it before it was closed."""

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self._ask = ask

    async def __aexit__(self, *error: object) -> None:
        if not self.closed:
            self._ask.withdraw()
        await super().__aexit__()


def _after_tool_call_result(value: Any) -> AfterToolCallResult | None:
    if value is None:
        return None
    given = object_of(value)
    content, usage = given.get("content"), given.get("usage")
    return AfterToolCallResult(
        content=ABSENT if content is None else read(content, tuple[Content, ...], "value.content"),
        usage=ABSENT if usage is None else read(usage, Usage, "value.usage"),
        details=given.get("details", ABSENT),
        is_error=given.get("isError", ABSENT),
        terminate=given.get("terminate", ABSENT),
        structured_content=given.get("structuredContent", ABSENT),
    )


def _or(value: Any, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return messages if value is None else read_messages(value, "value")


def _replace_in_place(target: Any, source: Any) -> None:
    """Make the arguments that the tool will get equal to `source`, without making them another object."""
    arguments, replacement = object_of(target), object_of(source)
    arguments.clear()
    arguments.update(replacement)
