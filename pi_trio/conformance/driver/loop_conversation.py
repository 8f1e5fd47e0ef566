"""The loop alone, and the tester's commands on it: what `create` with the target "loop" makes.

There is no agent behind it: no queues, no state, no failure path. The context and the configuration are
values; a run takes them as they are when it begins, and what it returns is added to the context's messages. A
failed run returns nothing, so it leaves no trace there. There is one run at a time.

The loop tells its events to one function. That function is here: it calls the tester's listeners in order and
awaits each, as an agent would; when one fails, those behind it do not hear of the event.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NoReturn

import attrs
import trio

from pi_trio.conformance.shown import shown

from ...abort import AbortController, AbortSignal
from ...agent.agent import UNKNOWN_MODEL
from ...agent.config import LoopConfig
from ...agent.delivery import Listener, Listeners
from ...agent.hooks import AgentContext, Hooks
from ...agent.lowlevel import LoopRun, start_agent_loop, start_agent_loop_continue
from ...agent.run import AbortMode
from ...codec import unstructure
from ...events import AgentEvent
from ...messages import Model, TextContent, UserMessage
from ...models.stream import StreamOptions
from ...profile import Profile
from ...timestamps import now
from ..protocol import Object
from .asks import DriverError, RefusedError
from .exchange import Exchange
from .fields import flag, initial_state, option, read, read_messages, read_prompt, string
from .offers import HOOKS, chosen_options, wanted_hooks
from .subscriptions import Subscriptions


class LoopConversation:
    """A context and a configuration for the loop, with the commands on them as methods.

    Raises:
        DriverError: `create` asks for something that is not offered.
    """

    def __init__(self, profile: Profile, create: Object, say: Callable[[Object], None]) -> None:
        if flag(create, "snapshot"):
            raise DriverError("the loop has no state to attach: no snapshot for target loop")
        self.exchange = Exchange(say)
        self._profile = profile
        options = chosen_options(profile, "loop", create)
        self._abort_mode: AbortMode = options.pop("abort_mode", "signal")
        initial = initial_state(create)
        self._config = self._configured(create, initial, options)
        self._context = AgentContext(
            messages=read_messages(initial.get("messages", []), "initialState.messages"),
            tools=self.exchange.callbacks.tools(create.get("tools", [])),
            system_prompt=option(initial, "systemPrompt") if "systemPrompt" in initial else None,
        )
        self._running: AbortController | None = None
        self._listeners = Listeners()
        self.subscriptions = Subscriptions(create, self.exchange.callbacks, self._listeners.add)

    def _configured(self, create: Object, initial: Object, options: Object) -> LoopConfig:
        callbacks = self.exchange.callbacks
        hooks: dict[str, Any] = {
            HOOKS[name]: getattr(callbacks, HOOKS[name])
            for name in wanted_hooks(self._profile, "loop", create)
        }
        if "prepare_next_turn" in hooks:
            hooks["prepare_next_turn"] = callbacks.prepare_next_turn_of_loop
        return LoopConfig(
            stream_fn=callbacks.stream_fn,
            model=read(initial["model"], Model, "initialState.model")
            if "model" in initial
            else UNKNOWN_MODEL,
            thinking_level=option(initial, "thinkingLevel") if "thinkingLevel" in initial else "off",
            tool_execution=options.pop("tool_execution", "parallel"),
            hooks=Hooks(**hooks),
            options=StreamOptions(**options),
            get_steering_messages=callbacks.get_steering_messages,
            get_follow_up_messages=callbacks.get_follow_up_messages,
        )

    # --- runs --------------------------------------------------------------------------------------------

    def prompt(self, command: Object) -> None:
        prompt, images = read_prompt(command)
        messages = (
            (UserMessage(content=(TextContent(text=prompt), *images), timestamp=now()),)
            if isinstance(prompt, str)
            else prompt
        )
        self._run(command, lambda **options: start_agent_loop(messages, **options))

    def continue_(self, command: Object) -> None:
        self._run(command, start_agent_loop_continue)

    def _run(self, command: Object, start: Callable[..., LoopRun]) -> None:
        """Begin a run now, and finish it in a task: in Pi, too, a run begins inside the call."""
        op = string(command, "op")
        if self._running is not None:
            raise RefusedError("a run is going on, and the loop has no queue for another one")
        controller = AbortController()
        run: LoopRun | Exception
        try:
            run = start(
                context=self._context,
                config=self._config,
                emit=self._emit,
                signal=controller.signal,
                abort_mode=self._abort_mode,
                profile=self._profile,
                grace=0.0,  # it is only ever cancelled to be disposed of
            )
        except Exception as error:
            run = error
        # What cannot begin is over as late as in Pi: as soon as nothing else is to be done.
        self._running = controller
        self.exchange.follow(op, lambda: self._finish(run))

    async def _finish(self, run: LoopRun | Exception) -> None:
        try:
            if isinstance(run, Exception):
                await trio.lowlevel.checkpoint_if_cancelled()
                raise run
            added = await run.finish()
        finally:
            self._running = None
        self._context = attrs.evolve(self._context, messages=(*self._context.messages, *added))

    def abort(self, _command: Object) -> None:
        if self._running is not None:
            self._running.abort()

    def _emit(self, event: AgentEvent, signal: AbortSignal) -> Awaitable[None] | None:
        """Tell the listeners, as they stand when each is reached; the first is called here and now."""
        walk = self._listeners.walk()
        first = next(walk, None)
        return None if first is None else _tell(first(event, signal), walk, event, signal)

    # --- the context and the configuration of the next run -----------------------------------------------

    def set_tools(self, command: Object) -> None:
        self._context = attrs.evolve(self._context, tools=self.exchange.callbacks.tools(command.get("tools")))

    def set_messages(self, command: Object) -> None:
        self._context = attrs.evolve(self._context, messages=read_messages(command.get("messages")))

    def set_option(self, command: Object) -> None:
        match string(command, "name"):
            case "model":
                self._config = attrs.evolve(self._config, model=read(command.get("value"), Model, "value"))
            case "thinkingLevel" as name:
                level = option(command, "value", called=name)
                self._config = attrs.evolve(self._config, thinking_level=level)
            case "toolExecution" as name:
                mode = option(command, "value", called=name)
                self._config = attrs.evolve(self._config, tool_execution=mode)
            case "systemPrompt" as name if not self._profile.system_messages:
                prompt = option(command, "value", called=name)
                self._context = attrs.evolve(self._context, system_prompt=prompt)
            case name:
                raise DriverError(
                    f"{self._profile.name} has no settable option {shown(name)} for target loop"
                )

    def messages(self, _command: Object) -> Any:
        return unstructure(self._context.messages)

    # --- what only an agent has --------------------------------------------------------------------------

    def _refuse(self, command: Object) -> NoReturn:
        raise RefusedError(f"the loop alone has no queues and no state, so there is no {command.get('cmd')}")

    steer = follow_up = clear_queue = peek_queued = reset = state = wait_for_idle = _refuse


async def _tell(answer: Any, rest: Iterator[Listener], event: AgentEvent, signal: AbortSignal) -> None:
    """Await a listener that has been called, then call and await those behind it."""
    await answer
    for listener in rest:
        answer = listener(event, signal)
        await answer
