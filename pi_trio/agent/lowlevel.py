"""The loop without an `Agent`: no queues, no state, no failure path of its own.

`run_agent_loop` says its events to one function; `open_agent_loop` gives them as a stream inside an `async
with`. Both end with the messages that the run has added. An error in a run is raised to the caller, after
everything has come to rest (D-01), and without closing events: those are the Agent's promise.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final

import trio

from ..abort import AbortSignal
from ..errors import CannotContinueError
from ..events import AgentEvent, AgentStart
from ..messages import AssistantMessage, Message
from ..profile import PI_1_6_0, Profile
from ..texts import ASSISTANT_TAIL, EMPTY_CONTEXT
from .config import LoopConfig, LoopState
from .delivery import Listener, Listeners
from .hooks import AgentContext
from .loop import Pairs, declared, run_loop
from .nursery import is_cancelled, open_bare_nursery, remark
from .run import AbortMode, Run
from .settlement import settle

GRACE: Final = 5.0


@trio.lowlevel.enable_ki_protection
async def run_agent_loop(
    prompts: Iterable[Message],
    context: AgentContext,
    config: LoopConfig,
    emit: Listener,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> tuple[Message, ...]:
    """Run the loop on `prompts` added to `context`.

    Parameters:
        emit: called with each event and the run's signal; awaited before the run goes on.
        signal: aborts the run when it is raised.
        abort_mode: what an abort does, as for `Agent`.
        grace: how long a cancelled run may take to settle, in seconds.

    Returns:
        The messages that the run has added, prompts first.

    Raises:
        Exception: what failed the run; of several errors the first, with the others as notes.
        Cancelled: the run was cancelled from outside; it has been aborted, and has come to rest. If nothing
            had begun, nothing has happened.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    begun = start_agent_loop(
        prompts, context, config, emit, signal=signal, abort_mode=abort_mode, profile=profile, grace=grace
    )
    return await begun.finish()


@trio.lowlevel.enable_ki_protection
async def run_agent_loop_continue(
    context: AgentContext,
    config: LoopConfig,
    emit: Listener,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> tuple[Message, ...]:
    """As `run_agent_loop`, but on the context as it is.

    Raises:
        CannotContinueError: the context is empty, or ends with an assistant message.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    begun = start_agent_loop_continue(
        context, config, emit, signal=signal, abort_mode=abort_mode, profile=profile, grace=grace
    )
    return await begun.finish()


class LoopRun:
    """A low-level run that has begun: its first event has been said. `await finish()` must follow, once."""

    def __init__(self, state: LoopState, pairs: Pairs, signal: AbortSignal | None, grace: float) -> None:
        self._grace = grace
        self._state = state
        self._pairs = pairs
        run = state.run
        self._unregister: Callable[[], None] | None = None
        if signal is not None and signal.aborted:
            run.controller.abort()
        elif signal is not None:
            self._unregister = signal.on_abort(run.controller.abort)
        self._opening = run.begin(AgentStart())

    async def finish(self) -> tuple[Message, ...]:
        """Play the run to its end; see `run_agent_loop` for what this returns and raises."""
        run = self._state.run
        try:
            await settle(
                run,
                lambda: run_loop(self._state, self._opening, self._pairs),
                None,
                grace=self._grace,
            )
        finally:
            if self._unregister is not None:
                self._unregister()
        if run.errors:
            raise run.errors[0]
        return tuple(run.ledger.said)


def start_agent_loop(
    prompts: Iterable[Message],
    context: AgentContext,
    config: LoopConfig,
    emit: Listener,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> LoopRun:
    """The synchronous half of `run_agent_loop`: when this returns, `emit` has been called for the first time.

    For adapters that must begin a run at an exact moment.
    """
    state = _begin_with(context, config, emit, profile, abort_mode)
    pairs = declared(state, list(prompts))
    state.messages += [message for message, _ in pairs]
    return LoopRun(state, pairs, signal, grace)


def start_agent_loop_continue(
    context: AgentContext,
    config: LoopConfig,
    emit: Listener,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> LoopRun:
    """The synchronous half of `run_agent_loop_continue`; see `start_agent_loop`.

    Raises:
        CannotContinueError: the context is empty, or ends with an assistant message; nothing was said.
    """
    _check_continuation(context)
    return LoopRun(_begin_with(context, config, emit, profile, abort_mode), (), signal, grace)


class AgentLoopStream:
    """The events of one low-level run, for one reader, inside `open_agent_loop`."""

    def __init__(self, receive: trio.MemoryReceiveChannel[AgentEvent]) -> None:
        self._receive = receive
        #: The messages that the run has added; None until it is over, and for good if it did not end well.
        self.messages: tuple[Message, ...] | None = None
        #: What failed the run, until it is raised.
        self.error: BaseException | None = None

    def __aiter__(self) -> AgentLoopStream:
        return self

    async def __anext__(self) -> AgentEvent:
        """The next event. The run waits until it is taken: a slow reader slows the run.

        Raises:
            Exception: what failed the run, after its last event.
        """
        try:
            return await self._receive.receive()
        except trio.EndOfChannel:
            if self.error is not None:
                error, self.error = self.error, None
                raise error from None
            raise StopAsyncIteration from None


@asynccontextmanager
async def open_agent_loop(
    prompts: Iterable[Message],
    context: AgentContext,
    config: LoopConfig,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> AsyncGenerator[AgentLoopStream]:
    """A low-level run as a stream of events; the context manager owns the run.

    Leaving early cancels the run: it is aborted and comes to rest before this returns, and what it still says
    reaches nobody. An error of the run is raised by the iteration, or on leaving if nobody has read that far.
    """
    waiting = list(prompts)
    async with _opened(
        lambda emit: run_agent_loop(
            waiting,
            context,
            config,
            emit,
            signal=signal,
            abort_mode=abort_mode,
            profile=profile,
            grace=grace,
        )
    ) as stream:
        yield stream


@asynccontextmanager
async def open_agent_loop_continue(
    context: AgentContext,
    config: LoopConfig,
    *,
    signal: AbortSignal | None = None,
    abort_mode: AbortMode = "cancel",
    profile: Profile = PI_1_6_0,
    grace: float = GRACE,
) -> AsyncGenerator[AgentLoopStream]:
    """As `open_agent_loop`, but on the context as it is.

    Raises:
        CannotContinueError: at once, if the context is empty or ends with an assistant message.
    """
    _check_continuation(context)
    async with _opened(
        lambda emit: run_agent_loop_continue(
            context, config, emit, signal=signal, abort_mode=abort_mode, profile=profile, grace=grace
        )
    ) as stream:
        yield stream


@asynccontextmanager
async def _opened(
    start: Callable[[Listener], Awaitable[tuple[Message, ...]]],
) -> AsyncGenerator[AgentLoopStream]:
    send, receive = trio.open_memory_channel[AgentEvent](0)
    stream = AgentLoopStream(receive)

    async def emit(event: AgentEvent, _signal: AbortSignal) -> None:
        with suppress(trio.BrokenResourceError):  # the reader has left, so there is nobody to tell
            await send.send(event)

    async def play() -> None:
        with send:
            try:
                stream.messages = await start(emit)
            except BaseException as error:
                if is_cancelled(error):
                    raise
                stream.error = error

    left: BaseException | None = None
    async with open_bare_nursery() as nursery:
        nursery.start_soon(play)
        with receive:
            try:
                yield stream
            except BaseException as error:
                if is_cancelled(error):
                    raise
                left = error  # carried past the nursery, where it would meet what the run has to say
        nursery.cancel_scope.cancel()
    if left is None:
        left = stream.error
    elif stream.error is not None:
        remark(left, "the run had failed, too", stream.error)
    if left is not None:
        raise left


def _check_continuation(context: AgentContext) -> None:
    if not context.messages:
        raise CannotContinueError(EMPTY_CONTEXT)
    if isinstance(context.messages[-1], AssistantMessage):
        raise CannotContinueError(ASSISTANT_TAIL)


def _begin_with(
    context: AgentContext,
    config: LoopConfig,
    emit: Listener,
    profile: Profile,
    abort_mode: AbortMode,
) -> LoopState:
    """Where a run begins: a copy of the context, and one listener."""
    listeners = Listeners()
    listeners.add(emit)
    return LoopState(
        run=Run(profile=profile, reduce=lambda _event: None, listeners=listeners, abort_mode=abort_mode),
        config=config,
        messages=list(context.messages),
        tools=context.tools,
        system_prompt=context.system_prompt,
        model=config.model,
        thinking_level=config.thinking_level,
    )
