"""The `Agent`: a transcript, two queues and subscribers, and at most one run at a time.

A plain object without background: everything that happens, happens inside `await agent.prompt(...)` or `await
agent.continue_()`. Between runs its properties can be assigned. A run reads them once, at its start, but for
the queues and their modes, which it reads at every poll.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import Any, Final

import trio

from ..abort import AbortSignal
from ..errors import AgentBusyError, CannotContinueError
from ..events import AgentEvent
from ..jsonvalue import JSON
from ..messages import (
    AssistantMessage,
    ImageContent,
    Message,
    Model,
    SystemMessage,
    ThinkingLevel,
)
from ..models.default import get_default_stream_fn
from ..models.stream import StreamFn
from ..models.transcript import current_system_message, current_system_prompt, initial_system_message
from ..profile import PI_1_6_0, Profile, get_profile
from ..texts import ASSISTANT_TAIL, BUSY_CONTINUE, BUSY_PROMPT, BUSY_RESET, NOTHING_TO_CONTINUE
from ..tools.tool import ExecutionMode, Tool
from .active import ActiveRun
from .delivery import Listener, Listeners
from .event_stream import open_channel
from .given import PromptInput, messages_of, prompt_of, tools_of
from .hooks import (
    AfterToolCall,
    BeforeToolCall,
    ConvertToLlm,
    FinishTurn,
    GetApiKey,
    PrepareNextTurn,
    PrepareNextTurnWithContext,
    PrepareRequest,
    ShouldStopAfterTurn,
    TransformContext,
)
from .inbox import Inbox
from .interrupts import managed
from .open_run import OpenRun, open_run
from .options import RunOptions
from .polls import Polls
from .queues import MessageQueue, QueueMode
from .result import RunResult
from .run import AbortMode
from .settings import ABORT_MODES, GRACE_LENGTHS, InstanceOf, Setting
from .settlement import GRACE
from .state import AgentState, LiveState

#: What an agent asks for that was given no model.
UNKNOWN_MODEL: Final = Model.unknown()

MODEL: Final = InstanceOf(Model)


class Agent(Inbox, RunOptions):
    """An agent. All options are keywords, and also properties that can be assigned between runs.

    Args:
        system_prompt, tools: what the transcript begins with (a system message since 1.0.3), and what can run.
        model, thinking_level: what to ask; "off" asks for no reasoning.
        messages: a transcript to go on from; if it begins with a system message, `system_prompt` is not used.
        stream_fn: answers requests; without one, the default stream function does: a scripted provider that has
            nothing to say, until `set_default_stream_fn` names another.
        convert_to_llm: which messages the model gets; the default keeps the roles that models know.
        transform_context, get_api_key, before_tool_call, after_tool_call, prepare_next_turn,
            prepare_next_turn_with_context, prepare_request, finish_turn, should_stop_after_turn: the hooks;
            see `pi_trio.agent.hooks`.
        steering_mode, follow_up_mode: "one-at-a-time", or "all".
        tool_execution: "parallel", or "sequential" for every batch.
        deps: what decorated functions (`@tool`) find as their context's `deps`.
        session_id, thinking_budgets, transport, max_retry_delay_ms, identity, on_payload, on_response,
            on_provider_stream_event: handed to the stream function.
        abort_mode: "cancel": an abort ends what waits for the outside world (model, tools, hooks), never a
            subscriber. "signal": it raises the run's signal and ends no wait itself, as upstream.
        settle_grace: how long, in seconds, a run may take to settle when its scope is cancelled; `math.inf` for as long
            as it takes.
        profile: the Pi release to behave as, by name or as a `Profile`.

    Raises:
        NoStreamFunctionError: there is no `stream_fn`, and the default one was taken away.
        ValueError: a mode has no such value; also when it is assigned.
        TypeError: the model is no `Model`, a message no message, or a tool no `Tool`; also when it is assigned.
            So it is if `settle_grace` is no number of seconds.
    """

    abort_mode: Setting[AbortMode] = Setting(ABORT_MODES)
    settle_grace = Setting(GRACE_LENGTHS)

    def __init__(
        self,
        *,
        system_prompt: str = "",
        model: Model = UNKNOWN_MODEL,
        thinking_level: ThinkingLevel = "off",
        tools: Iterable[Tool] = (),
        messages: Iterable[str | Message] = (),
        stream_fn: StreamFn | None = None,
        convert_to_llm: ConvertToLlm | None = None,
        transform_context: TransformContext | None = None,
        get_api_key: GetApiKey | None = None,
        before_tool_call: BeforeToolCall | None = None,
        after_tool_call: AfterToolCall | None = None,
        prepare_next_turn: PrepareNextTurn | None = None,
        prepare_next_turn_with_context: PrepareNextTurnWithContext | None = None,
        prepare_request: PrepareRequest | None = None,
        finish_turn: FinishTurn | None = None,
        should_stop_after_turn: ShouldStopAfterTurn | None = None,
        steering_mode: QueueMode = "one-at-a-time",
        follow_up_mode: QueueMode = "one-at-a-time",
        tool_execution: ExecutionMode = "parallel",
        deps: Any = None,
        session_id: str | None = None,
        thinking_budgets: Mapping[str, int] | None = None,
        transport: str = "auto",
        max_retry_delay_ms: float | None = None,
        identity: Mapping[str, JSON] | None = None,
        on_payload: Callable[..., Any] | None = None,
        on_response: Callable[..., Any] | None = None,
        on_provider_stream_event: Callable[..., Any] | None = None,
        abort_mode: AbortMode = "cancel",
        settle_grace: float = GRACE,
        profile: Profile | str = PI_1_6_0,
    ) -> None:
        RunOptions.__init__(self, get_profile(profile) if isinstance(profile, str) else profile)
        Inbox.__init__(self, steering_mode, follow_up_mode)
        self.stream_fn = stream_fn if stream_fn is not None else get_default_stream_fn()
        self.convert_to_llm = convert_to_llm
        self.transform_context = transform_context
        self.get_api_key = get_api_key
        self.before_tool_call = before_tool_call
        self.after_tool_call = after_tool_call
        self.prepare_next_turn = prepare_next_turn
        self.prepare_next_turn_with_context = prepare_next_turn_with_context
        self.prepare_request = prepare_request
        self.finish_turn = finish_turn
        self.should_stop_after_turn = should_stop_after_turn
        self.tool_execution = tool_execution
        self.deps = deps
        self.session_id = session_id
        self.thinking_budgets = thinking_budgets
        self.transport = transport
        self.max_retry_delay_ms = max_retry_delay_ms
        self.identity = identity
        self.on_payload = on_payload
        self.on_response = on_response
        self.on_provider_stream_event = on_provider_stream_event
        self.abort_mode = abort_mode
        self.settle_grace = settle_grace
        self._listeners = Listeners()
        self._active: ActiveRun | None = None
        MODEL.check(model, "model")
        self._live = LiveState(
            system_prompt=system_prompt,
            model=model,
            thinking_level=thinking_level,
            tools=tools_of(tools),
            messages=messages_of(messages),
        )
        if self.profile.system_messages and not isinstance(
            next(iter(self._live.messages), None), SystemMessage
        ):
            declarations = [tool.declaration() for tool in self._live.tools]
            first = initial_system_message(system_prompt, declarations)
            self._live.messages[:0] = [first] if first is not None else []

    # --- state -------------------------------------------------------------------------------------------

    @property
    def state(self) -> AgentState:
        """The agent as it is now; frozen."""
        live = self._live
        return AgentState(
            system_prompt=self.system_prompt,
            model=live.model,
            thinking_level=live.thinking_level,
            tools=live.tools,
            messages=tuple(live.messages),
            is_streaming=live.is_streaming,
            streaming_message=live.streaming_message,
            pending_tool_calls=tuple(live.pending_tool_calls),
            error_message=live.error_message,
        )

    @property
    def system_prompt(self) -> str:
        """The prompt; since 1.0.3 replayed from the transcript, and not assignable."""
        if self.profile.system_messages:
            return current_system_prompt(self._live.messages)
        return self._live.system_prompt

    @system_prompt.setter
    def system_prompt(self, prompt: str) -> None:
        if self.profile.system_messages:
            raise AttributeError("the system prompt is part of the transcript: say a system message instead")
        self._live.system_prompt = prompt

    @property
    def model(self) -> Model:
        """The model of the next run."""
        return self._live.model

    @model.setter
    def model(self, model: Model) -> None:
        MODEL.check(model, "model")
        self._live.model = model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The thinking level of the next run."""
        return self._live.thinking_level

    @thinking_level.setter
    def thinking_level(self, level: ThinkingLevel) -> None:
        self._live.thinking_level = level

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the next run can execute."""
        return self._live.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool]) -> None:
        self._live.tools = tools_of(tools)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The transcript. Assigned in a run, it does not reach that run, whose messages are appended to it."""
        return tuple(self._live.messages)

    @messages.setter
    def messages(self, messages: Iterable[str | Message]) -> None:
        self._live.messages = messages_of(messages)

    @property
    def signal(self) -> AbortSignal | None:
        """The signal of the run that is going on."""
        return None if self._active is None else self._active.run.signal

    # --- subscribers -------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], bool]:
        """Have `listener(event, signal)` called with every event. Listeners are awaited, in order of subscription.

        The same listener counts once. One that is added during a delivery still gets that event. One that raises fails
        the run, and takes nothing from the others (D-01, D-04).

        Returns:
            The function that unsubscribes; it says whether the listener was subscribed.

        Raises:
            TypeError: the listener cannot be called.
        """
        return self._listeners.add(listener)

    @managed
    async def events(self) -> AsyncGenerator[trio.abc.ReceiveChannel[AgentEvent]]:
        """The events of all runs while the block stands: `async for event in channel`.

        The run waits until an event has been taken, so a slow reader slows it. Read in another task than the one that
        awaits `prompt`, or the two wait for each other. Who leaves the block, closes the channel or is cancelled is
        unsubscribed at once, and never fails or delays a run. Entering is a checkpoint, leaving is none.
        """
        async with open_channel(self._listeners) as channel:
            yield channel

    # --- runs --------------------------------------------------------------------------------------------

    # Protected: Ctrl-C finds the caller's task where `settle` waits for it, and not half-way into or out of a run.
    @trio.lowlevel.enable_ki_protection
    async def prompt(self, prompt: PromptInput, images: Iterable[ImageContent] = ()) -> RunResult:
        """Run the agent on a prompt.

        Args:
            prompt: a text (with `images`), a message, or several messages; an empty list asks the model as
                things stand.

        Returns:
            The result, also when the run has failed or was aborted: see `RunResult.raise_for_error`.

        Raises:
            AgentBusyError: a run is going on.
            TypeError: something in the prompt is no message.
            Exception: a listener failed when the run was ending, so the transcript could not tell (D-03, D-04).
            KeyboardInterrupt: bare, when the run has settled; SystemExit likewise.
            Cancelled: the scope around this was cancelled. The run was aborted and is settled; if nothing had
                begun, nothing has happened.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self.start_prompt(prompt, images).finish()

    @trio.lowlevel.enable_ki_protection
    async def continue_(self) -> RunResult:
        """Run the agent on the transcript as it is, or on what is queued if it ends with an answer.

        Returns, Raises:
            As `prompt`; and CannotContinueError if there is nothing to continue from.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self.start_continue().finish()

    @managed
    async def open_prompt(
        self, prompt: PromptInput, images: Iterable[ImageContent] = ()
    ) -> AsyncGenerator[OpenRun]:
        """Run the agent on a prompt, and read its events meanwhile: `async for event in run` inside the block, which
        ends when the run has settled; `run.result` is there from then on.

        The reader is a subscriber behind those that there are: the run waits until it has taken an event. Leaving the
        block early aborts the run and lets it settle, for as long as `settle_grace`.

        Args:
            prompt, images: as for `prompt`.

        Raises:
            AgentBusyError, TypeError: on entering, as `prompt`.
            Exception: after the last event, or on leaving: what `prompt` would raise.
            KeyboardInterrupt, SystemExit: bare, when the run has settled; the block is cancelled.
            Cancelled: the scope around the block was cancelled. The run was aborted and is settled.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        async with open_run(self._listeners, lambda: self.start_prompt(prompt, images)) as run:
            yield run

    @managed
    async def open_continue(self) -> AsyncGenerator[OpenRun]:
        """As `open_prompt`, but on the transcript as it is, or on what is queued.

        Raises:
            As `open_prompt`; and CannotContinueError on entering if there is nothing to continue from.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        async with open_run(self._listeners, self.start_continue) as run:
            yield run

    def start_prompt(self, prompt: PromptInput, images: Iterable[ImageContent] = ()) -> ActiveRun:
        """The synchronous half of `prompt`: the run has begun, its first listener has been called.

        For adapters that must begin a run at an exact moment; `await .finish()` must follow.

        Raises:
            AgentBusyError: a run is going on.
            TypeError: something in the prompt is no message.
        """
        if self._active is not None:
            raise AgentBusyError(BUSY_PROMPT)
        return self._start(prompt_of(prompt, images))

    def start_continue(self) -> ActiveRun:
        """The synchronous half of `continue_`; see `start_prompt`.

        Raises:
            AgentBusyError: a run is going on.
            CannotContinueError: there is nothing to continue from.
        """
        if self._active is not None:
            raise AgentBusyError(BUSY_CONTINUE)
        messages = self._live.messages
        if not messages or (
            self.profile.continue_needs_conversation
            and all(isinstance(message, SystemMessage) for message in messages)
        ):
            raise CannotContinueError(NOTHING_TO_CONTINUE)
        if not isinstance(messages[-1], AssistantMessage):
            return self._start(None)
        # What steering gives is this run's prompt, and the initial poll is skipped, so one-at-a-time
        # stays one.
        if steering := self._steering.drain():
            return self._start(steering, self._steering, skip_first=True)
        if follow_up := self._follow_up.drain():
            return self._start(follow_up, self._follow_up)
        raise CannotContinueError(ASSISTANT_TAIL)

    def abort(self) -> None:
        """Raise the signal of the run that is going on, and in the cancelling mode end its waits.

        Without a run it does nothing. For trio's thread; in another one it is `trio.from_thread.run_sync(agent.abort)`,
        with a `trio_token` where trio has not started that thread.

        Raises:
            RuntimeError: this is another thread; nothing has happened.
            Exception: what a function that was registered with `on_abort` raised; the run is aborted all the same.
        """
        if self._active is not None:
            self._active.abort()

    async def wait_for_idle(self) -> None:
        """Return when the run that is going on has settled; at once if there is none. A checkpoint.

        Raises:
            RuntimeError: called from inside that run (a listener, hook or tool), or by the task that has opened it to
                read it, for which the run may wait: it would wait for itself (D-11). A task for which that one waits is
                not recognised.
        """
        if self._active is None:
            await trio.lowlevel.checkpoint()
        else:
            await self._active.wait()

    def reset(self) -> None:
        """Forget the conversation and what is queued; keep model, level, tools, hooks, subscribers, and since
        1.0.3 the prompt and the declared tools.

        Raises:
            AgentBusyError: a run is going on (0.85.0 and later).
        """
        if self._active is not None and self.profile.reset_refused_while_running:
            raise AgentBusyError(BUSY_RESET)
        baseline = current_system_message(self._live.messages) if self.profile.system_messages else None
        self._live.messages = [] if baseline is None else [baseline]
        self._live.settle()
        self._live.error_message = None
        self.clear_all_queues()

    def _start(
        self,
        prompts: Iterable[Message] | None,
        drained_from: MessageQueue | None = None,
        *,
        skip_first: bool = False,
    ) -> ActiveRun:
        active = ActiveRun(
            profile=self.profile,
            live=self._live,
            listeners=self._listeners,
            grace=self.settle_grace,
            abort_mode=self.abort_mode,
            on_settled=self._settled,
        )
        ledger = active.run.ledger
        polls = Polls(ledger, self._steering, self._follow_up, skip_first=skip_first)
        messages = None if prompts is None else tuple(prompts)
        if messages is not None and drained_from is not None:
            ledger.drained(drained_from, messages)
        self._active = active
        try:
            active.begin(self._config(self._live.model, self._live.thinking_level, polls), messages)
        except BaseException:  # nothing has begun: as before
            self._active = None
            self._live.settle()
            ledger.return_unsaid()
            raise
        return active

    def _settled(self) -> None:
        self._active = None
