"""One response: the request is made, its stream is read, and one assistant message comes out of it.

The order of a request: `transform_context`, `convert_to_llm`, `get_api_key`, the stream function. Of the
stream the loop needs little: `start` opens the message, every later event brings a new partial, and `done`,
`error` or the end of the iteration closes it with the stream's *result*. Partials are taken as they are
given; deltas are never interpreted. There is one slot for the message: a second `start` only replaces what is
in it (D-06), and without a `start` the deltas are dropped. Each event is handled completely, listeners
included, before the next is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from types import TracebackType
from typing import Final

import attrs
import trio

from ..events import (
    MessageEnd,
    MessageStart,
    MessageUpdate,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    UnknownStreamEvent,
)
from ..jsonvalue import JSON
from ..messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from ..models.stream import AssistantMessageEventStream, ModelContext, Opened
from ..profile import Profile
from ..texts import NO_RESULT, REQUEST_ABORTED
from ..timestamps import now
from .config import LoopState
from .nursery import is_cancelled
from .run import Run
from .wait import Aborted, Wait

#: How Pi names itself to providers, unless the user says otherwise.
ATTRIBUTION: Final[dict[str, JSON]] = {
    "attribution": {"name": "pi", "url": "https://pi.dev", "categories": ["cli-agent"]}
}


async def respond(state: LoopState) -> AssistantMessage:
    """Make the next request and say its response.

    Returns:
        The final message, which is also the last one of `state.messages`.

    Raises:
        Cut: the run has failed.
        Aborted: the run was aborted, in the cancelling mode, before the request was made.
        Exception: a hook, the stream function or the iteration raised; that fails the run.
    """
    run, config = state.run, state.config
    context = await _model_context(state)
    api_key = config.options.api_key
    if config.hooks.get_api_key is not None:
        api_key = await run.ask(config.hooks.get_api_key, state.model.provider) or api_key
    options = attrs.evolve(
        config.options,
        signal=run.signal,
        reasoning=None if state.thinking_level == "off" else state.thinking_level,
        api_key=api_key,
        identity={**ATTRIBUTION, **(config.options.identity or {})} if run.profile.identity else None,
    )
    run.check_abort()
    slot = _Slot(state)
    try:
        result = await _read(slot, run, config.stream_fn(state.model, context, options))
    except Aborted:
        return await slot.finish(slot.cut_off("aborted", REQUEST_ABORTED))  # D-10
    if result is None:
        result = slot.cut_off("aborted" if run.signal.aborted else "error", NO_RESULT)  # D-05
    return await slot.finish(result)


async def _read(slot: _Slot, run: Run, opened: Opened | Awaitable[Opened]) -> AssistantMessage | None:
    """Read a response's stream to its end, and give its result.

    The provider's context manager may hold a nursery. So an error inside is carried past it by hand, or it would come
    out in a group; and deliveries are shielded from it, or a provider that crashes would take the listeners along.
    """
    failed: BaseException | None = None
    result: AssistantMessage | None = None
    try:
        with Wait(run) as wait:
            if inspect.isawaitable(opened):
                opened = await wait.outside(opened)
            async with _Outside(opened, wait) as stream:
                try:
                    with run.shielded() as shield:
                        await _deliver(slot, run, stream, wait, shield)
                    result = await wait.outside(stream.result())
                except BaseException as error:
                    if is_cancelled(error):
                        raise
                    failed = error
    except Aborted:
        if result is None:
            raise
    if failed is not None:
        raise failed
    return result


async def _deliver(
    slot: _Slot, run: Run, stream: AssistantMessageEventStream, wait: Wait, shield: trio.CancelScope
) -> None:
    """Hand the stream's events to the slot, until one ends it. The shield is down while the provider is waited for."""
    events = aiter(stream)
    while True:
        run.check_abort()
        shield.shield = False
        try:
            event = await wait.outside(anext(events))
        except StopAsyncIteration:
            return
        finally:
            shield.shield = True
        if isinstance(event, StreamDone | StreamError):
            return
        await slot.take(event)


class _Outside:
    """The provider's context manager, entered and left as waits for the outside: both may talk to a network."""

    def __init__(self, opened: Opened, wait: Wait) -> None:
        self._opened = opened
        self._wait = wait

    async def __aenter__(self) -> AssistantMessageEventStream:
        return await self._wait.outside(self._opened.__aenter__())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._wait.outside(self._opened.__aexit__(kind, error, traceback))


class _Slot:
    """The place of the one message that a response says."""

    def __init__(self, state: LoopState) -> None:
        self._state = state
        self._partial: AssistantMessage | None = None

    async def take(self, event: StreamEvent) -> None:
        """An event that does not end the stream."""
        run = self._state.run
        if isinstance(event, UnknownStreamEvent):
            return
        assert not isinstance(event, StreamDone | StreamError)
        if isinstance(event, StreamStart):
            opens = self._partial is None
            self._put(event.partial)
            if opens:
                await run.emit(MessageStart(message=event.partial), "response")
            else:
                run.ledger.replace_partial(event.partial)  # D-06
        elif self._partial is not None:
            self._put(event.partial)
            await run.emit(MessageUpdate(message=event.partial, assistant_message_event=event), "response")

    async def finish(self, final: AssistantMessage) -> AssistantMessage:
        """The response is complete."""
        state = self._state
        opens = self._partial is None
        final = stamped(state, final)
        self._put(final)
        if opens:
            await state.run.emit(MessageStart(message=final), "response")
        await state.run.emit(MessageEnd(message=final), "response")
        return final

    def _put(self, message: AssistantMessage) -> None:
        if self._partial is None:
            self._state.messages.append(message)
        else:
            self._state.messages[-1] = message
        self._partial = message

    def cut_off(self, stop_reason: str, error_message: str) -> AssistantMessage:
        """What a response is that nobody finished: its last partial, or an empty message."""
        base = self._partial
        if base is None:
            model = self._state.model
            base = AssistantMessage(
                content=(),
                api=model.api,
                provider=model.provider,
                model=model.id,
                usage=Usage.zero(),
                stop_reason=stop_reason,
                timestamp=now(),
            )
        return attrs.evolve(base, stop_reason=stop_reason, error_message=error_message)


def stamped(state: LoopState, message: AssistantMessage) -> AssistantMessage:
    """The message with the thinking level that was asked for (1.0.3)."""
    if not state.run.profile.message_thinking_level:
        return message
    return attrs.evolve(message, thinking_level=state.thinking_level)


async def _model_context(state: LoopState) -> ModelContext:
    run, hooks = state.run, state.config.hooks
    messages = tuple(state.messages)
    if hooks.transform_context is not None:
        messages = tuple(await run.ask(hooks.transform_context, messages, run.signal))
    if hooks.convert_to_llm is not None:
        messages = tuple(await run.ask(hooks.convert_to_llm, messages))
    else:
        messages = conversation(messages, run.profile)
    if run.profile.system_messages:
        return ModelContext(messages=messages)
    return ModelContext(
        messages=messages,
        system_prompt=state.system_prompt,
        tools=tuple(tool.declaration() for tool in state.tools),
    )


def conversation(messages: tuple[Message, ...], profile: Profile) -> tuple[Message, ...]:
    """The default `convert_to_llm`: only the roles that a model knows."""
    known: tuple[type[Message], ...] = (UserMessage, AssistantMessage, ToolResultMessage)
    if profile.system_messages:
        known = (*known, SystemMessage)
    return tuple(message for message in messages if isinstance(message, known))
