"""The loop without an `Agent`: no queues, no state, no failure path of its own.

`run_agent_loop` says its events to one function; `open_agent_loop` gives them as a stream inside an `async
with`. Both end with the messages that the run has added. An error in a run is raised to the caller, after
everything has come to rest (D-01), and without closing events: those are the Agent's promise.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import trio

from ..abort import AbortSignal
from ..errors import CannotContinueError
from ..events import AgentStart
from ..messages import AssistantMessage, Message
from ..profile import PI_1_6_0, Profile
from ..texts import ASSISTANT_TAIL, EMPTY_CONTEXT
from .config import LoopConfig, LoopState
from .delivery import Listener, Listeners
from .event_stream import EventStream, open_stream
from .hooks import AgentContext
from .interrupts import managed
from .loop import Pairs, declared, run_loop
from .run import AbortMode, Run
from .settings import ABORT_MODES, GRACE_LENGTHS
from .settlement import GRACE, settle


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

    Args:
        emit: called with each event and the run's signal; awaited before the run goes on.
        signal: aborts the run when it is raised.
        abort_mode: what an abort does, as for `Agent`.
        grace: how long a cancelled run may take to settle, in seconds.

    Returns:
        The messages that the run has added, prompts first.

    Raises:
        ValueError, TypeError: `abort_mode` or `grace` is none.
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
    """A low-level run that has begun: its first event has been said. `await finish()` must follow, once.

    Made by `start_agent_loop` and `start_agent_loop_continue`.

    Args:
        state: where the run begins.
        pairs: the prompts, as `declared` gives them; none if the run goes on with the context as it is.
        signal: aborts the run when it is raised; at once, if it is already.
        grace: how long the run may take to settle when it is cancelled, in seconds.
    """

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

    @trio.lowlevel.enable_ki_protection
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

    Args:
        prompts, context, config, emit, signal, abort_mode, profile, grace: as for `run_agent_loop`.

    Raises:
        ValueError, TypeError: `abort_mode` or `grace` is none; nothing was said.
    """
    state = _begin_with(context, config, emit, profile, abort_mode, grace)
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

    Args:
        context, config, emit, signal, abort_mode, profile, grace: as for `run_agent_loop`.

    Raises:
        CannotContinueError: the context is empty, or ends with an assistant message; nothing was said.
        ValueError, TypeError: as `start_agent_loop`.
    """
    _check_continuation(context)
    return LoopRun(_begin_with(context, config, emit, profile, abort_mode, grace), (), signal, grace)


class AgentLoopStream(EventStream):
    """The events of one low-level run, for one reader, inside `open_agent_loop`."""

    def __init__(self) -> None:
        super().__init__()
        #: The messages that the run has added; None until it is over, and for good if it did not end well.
        self.messages: tuple[Message, ...] | None = None


@managed
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
    reaches nobody.

    Args:
        prompts, context, config, signal, abort_mode, profile, grace: as for `run_agent_loop`.

    Raises:
        ValueError, TypeError: on entering, as `run_agent_loop`.
        Exception: by the iteration, or on leaving if nobody has read that far: what failed the run.
        KeyboardInterrupt, SystemExit: bare, when the run has come to rest; the block is cancelled.
        Cancelled: the scope around the block was cancelled. The run was aborted and has come to rest.
    """
    waiting = list(prompts)
    async with _opened(
        lambda emit: start_agent_loop(
            waiting, context, config, emit, signal=signal, abort_mode=abort_mode, profile=profile, grace=grace
        )
    ) as stream:
        yield stream


@managed
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
    async with _opened(
        lambda emit: start_agent_loop_continue(
            context, config, emit, signal=signal, abort_mode=abort_mode, profile=profile, grace=grace
        )
    ) as stream:
        yield stream


@asynccontextmanager
async def _opened(start: Callable[[Listener], LoopRun]) -> AsyncGenerator[AgentLoopStream]:
    stream = AgentLoopStream()

    def begin(tell: Listener) -> Callable[[], Awaitable[object]]:
        begun = start(tell)

        @trio.lowlevel.enable_ki_protection
        async def finish() -> None:
            stream.messages = await begun.finish()

        return finish

    await trio.lowlevel.checkpoint_if_cancelled()
    async with open_stream(stream, begin):
        yield stream


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
    grace: float,
) -> LoopState:
    """Where a run begins, if what is given is good: a copy of the context, and one listener."""
    ABORT_MODES.check(abort_mode, "abort_mode")
    GRACE_LENGTHS.check(grace, "grace")
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
