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
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final

import attrs

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
    TextContent,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from ..models.stream import AssistantMessageEventStream, ModelContext, Opened, StreamOptions, close_events
from ..profile import Profile
from ..texts import NO_RESULT, REQUEST_ABORTED
from ..timestamps import now
from ..wire import changer, maker
from .config import LoopState
from .delivery import Delivery
from .interrupts import call_user
from .nursery import bare, is_cancelled, open_bare_nursery
from .result import is_countable
from .run import Run, logger
from .wait import Aborted, Wait

#: How Pi names itself to providers, unless the user says otherwise.
ATTRIBUTION: Final[dict[str, JSON]] = {
    "attribution": {"name": "pi", "url": "https://pi.dev", "categories": ["cli-agent"]}
}

_message_update: Final[Callable[[AssistantMessage, StreamEvent], MessageUpdate]] = maker(MessageUpdate)
_with_thinking_level: Final[Callable[[AssistantMessage, ThinkingLevel], AssistantMessage]] = changer(
    AssistantMessage, "thinking_level"
)
_with_request: Final[Callable[..., StreamOptions]] = changer(
    StreamOptions, "signal", "reasoning", "api_key", "identity"
)

#: What ends a stream. By name, because a union that is written out is made anew each time.
_LAST: Final = (StreamDone, StreamError)


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
    options = _with_request(
        config.options,
        signal=run.signal,
        reasoning=None if state.thinking_level == "off" else state.thinking_level,
        api_key=api_key,
        identity={**ATTRIBUTION, **(config.options.identity or {})} if run.profile.identity else None,
    )
    run.check_abort()
    slot = _Slot(state)
    try:
        result = await _read(slot, run, call_user(config.stream_fn, state.model, context, options))
    except Aborted:
        return await slot.finish(slot.cut_off("aborted", REQUEST_ABORTED))  # D-10
    if result is None:
        result = slot.cut_off("aborted" if run.signal.aborted else "error", NO_RESULT)  # D-05
    return await slot.finish(result)


async def _read(slot: _Slot, run: Run, opened: Opened | Awaitable[Opened]) -> AssistantMessage | None:
    """Read a response's stream to its end, and give its result.

    The provider's context manager may hold a nursery. So an error inside is carried past it by hand, or it would come
    out in a group; and deliveries are shielded from it, or a provider that crashes would take the listeners along.

    What came first counts: an abort while the provider is left changes nothing of an error, or of a result, that is
    there already; and an error that comes of an abort leaves the response aborted.
    """
    failed: BaseException | None = None
    said: AssistantMessage | None = None
    result: AssistantMessage | None = None
    try:
        with Wait(run) as wait:
            if inspect.isawaitable(opened):
                opened = await wait.outside(opened)
            if not isinstance(opened, AbstractAsyncContextManager):
                raise TypeError(
                    "a stream function returns an async context manager that gives a stream of events (see "
                    f"pi_trio.models.stream), not {opened!r}"
                )
            async with _Outside(opened, wait) as stream:
                try:
                    if not hasattr(stream, "result"):  # or it would be told when all has been said
                        raise TypeError(
                            "the stream of a response has `result()` (pi_trio.models.stream.ResponseStream is one, for "
                            f"events that are pushed), and {stream!r} has none"
                        )
                    events = call_user(aiter, stream)
                    if isinstance(events, AsyncGenerator):
                        # It may yield inside of its own scopes, which this task is in then: so each delivery has a
                        # shield within them.
                        try:
                            said = await _deliver(slot, run, events, wait, shielded=False)
                        finally:  # or it would be left to the garbage collector
                            await wait.outside(close_events(events))
                    else:
                        async with open_bare_nursery() as nursery:
                            with wait.shielded(nursery):
                                said = await _deliver(slot, run, events, wait, shielded=True)
                    result = await wait.outside(call_user(stream.result))
                except BaseException as error:
                    if is_cancelled(error):
                        raise
                    failed = Aborted() if _because_of_abort(error, run) else error
    except Aborted:
        if result is None and failed is None:
            raise
    except BaseException as error:
        if not _because_of_abort(error, run):
            raise
        if result is None and failed is None:
            raise Aborted from error
    if failed is not None:
        raise failed
    # A provider that has told its last event may end its own nursery, and so the wait for the result.
    return said if result is None else result


def _because_of_abort(error: BaseException, run: Run) -> bool:
    """Whether it is an error that a provider has raised when its wait had been ended by an abort (D-10)."""
    if not run.cancelled or not isinstance(bare(error), Exception):
        return False
    logger.debug("a provider raised an error when it was aborted", exc_info=error)
    return True


async def _deliver(
    slot: _Slot, run: Run, events: AsyncIterator[StreamEvent], wait: Wait, *, shielded: bool
) -> AssistantMessage | None:
    """Hand the stream's events to the slot, until one ends it; gives the message that this one tells.

    `shielded`: it is called inside of the wait's shield.
    """
    while True:
        if run.cancelled:
            raise Aborted
        try:
            event = await wait.outside(call_user(anext, events))
        except StopAsyncIteration:
            return None
        if isinstance(event, _LAST):
            return event.message if isinstance(event, StreamDone) else event.error
        delivery = slot.take(event)
        if delivery is not None:  # begun and finished here, because this happens once a delta
            if shielded:
                while delivery.must_wait():
                    try:
                        await delivery.hear()
                    except BaseException as error:
                        delivery.has_failed(error)
            elif delivery.must_wait():
                with run.shielded():
                    await delivery.finish()
            run.check()


class _Outside:
    """The provider's context manager, entered and left as waits for the outside: both may talk to a network."""

    def __init__(self, opened: Opened, wait: Wait) -> None:
        self._opened = opened
        self._wait = wait

    async def __aenter__(self) -> AssistantMessageEventStream:
        return await self._wait.outside(call_user(self._opened.__aenter__))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._wait.outside(call_user(self._opened.__aexit__, kind, error, traceback))


class _Slot:
    """The place of the one message that a response says."""

    def __init__(self, state: LoopState) -> None:
        self._state = state
        self._partial: AssistantMessage | None = None

    def take(self, event: StreamEvent) -> Delivery | None:
        """An event that does not end the stream; gives the delivery that it leads to."""
        run = self._state.run
        if isinstance(event, UnknownStreamEvent):
            return None
        assert not isinstance(event, _LAST)
        partial = event.partial
        if not isinstance(partial, AssistantMessage):
            raise TypeError(f"a partial is an AssistantMessage, not {partial!r}")
        if isinstance(event, StreamStart):
            opens = self._partial is None
            self._put(partial)
            if opens:
                return run.begin(MessageStart(message=partial), "response")
            run.ledger.replace_partial(partial)  # D-06
            return None
        if self._partial is None:
            return None
        self._put(partial)
        return run.begin(_message_update(partial, event), "response")

    async def finish(self, final: AssistantMessage) -> AssistantMessage:
        """The response is complete."""
        state = self._state
        opens = self._partial is None
        final = stamped(state, _readable(final))
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


def _readable(message: AssistantMessage) -> AssistantMessage:
    """The message, when everything in it that a run has to read can be read. Once a response: a transcript is for ever.

    Raises:
        TypeError: something in it is of no type that it can have.
    """
    if not isinstance(message, AssistantMessage):
        raise TypeError(f"a response is an AssistantMessage, not {message!r}")
    if not isinstance(message.stop_reason, str):
        raise TypeError(f"the stop reason of a response is a text, not {message.stop_reason!r}")
    if not is_countable(message.usage):
        raise TypeError(f"the usage of a response is a Usage of numbers, not {message.usage!r}")
    for block in message.content:
        texts: tuple[object, ...] = ()
        match block:
            case TextContent():
                texts = (block.text,)
            case ToolCall():
                texts = (block.id, block.name)
            case _:
                pass
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"a response has texts, and not {text!r} in {type(block).__name__}")
    return message


def stamped(state: LoopState, message: AssistantMessage) -> AssistantMessage:
    """The message with the thinking level that was asked for (1.0.3)."""
    if not state.run.profile.message_thinking_level:
        return message
    return _with_thinking_level(message, state.thinking_level)


async def _model_context(state: LoopState) -> ModelContext:
    run, hooks = state.run, state.config.hooks
    messages = tuple(state.messages)
    classes = state.classes()
    if hooks.transform_context is not None:
        messages = tuple(await run.ask(hooks.transform_context, messages, run.signal))
        classes = set(map(type, messages))
    if hooks.convert_to_llm is not None:
        messages = tuple(await run.ask(hooks.convert_to_llm, messages))
    else:
        messages = conversation(messages, classes, run.profile)
    if run.profile.system_messages:
        return ModelContext(messages=messages)
    return ModelContext(
        messages=messages,
        system_prompt=state.system_prompt,
        tools=tuple(tool.declaration() for tool in state.tools),
    )


def conversation(
    messages: tuple[Message, ...], classes: Iterable[type[Message]], profile: Profile
) -> tuple[Message, ...]:
    """The default `convert_to_llm`: only the roles that a model knows. The messages are of these classes."""
    known: set[type[Message]] = {UserMessage, AssistantMessage, ToolResultMessage}
    if profile.system_messages:
        known.add(SystemMessage)
    if known.issuperset(classes):  # as a rule
        return messages
    return tuple(message for message in messages if isinstance(message, tuple(known)))
