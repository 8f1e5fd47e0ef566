"""One agent, and the tester's commands on it. It lives from `create` to the next `create` (or to the end)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pi_trio.conformance.shown import shown

from ...agent.active import ActiveRun
from ...agent.agent import Agent
from ...codec import unstructure
from ...errors import AgentBusyError, CannotContinueError
from ...messages import Message, Model
from ...profile import Profile
from ..protocol import Object
from .asks import DriverError
from .exchange import Exchange
from .fields import flag, initial_state, option, read, read_messages, read_prompt, string
from .offers import HOOKS, chosen_options, settable_options, wanted_hooks
from .showing import show_state
from .subscriptions import Subscriptions

#: The options that `setOption` may name, by the attributes of an `Agent` that they set.
_SETTABLE: Final = {
    "steeringMode": "steering_mode",
    "followUpMode": "follow_up_mode",
    "toolExecution": "tool_execution",
    "thinkingLevel": "thinking_level",
    "systemPrompt": "system_prompt",
}


class AgentConversation:
    """One agent, with the commands on it as methods.

    Raises:
        DriverError: `create` asks for something that is not offered.
    """

    def __init__(self, profile: Profile, create: Object, say: Callable[[Object], None]) -> None:
        self.exchange = Exchange(say)
        self.agent = self._agent(profile, create)
        self.subscriptions = Subscriptions(
            create,
            self.exchange.callbacks,
            self.agent.subscribe,
            self._state if flag(create, "snapshot") else None,
        )

    def _agent(self, profile: Profile, create: Object) -> Agent:
        callbacks = self.exchange.callbacks
        given: dict[str, Any] = {"abort_mode": "signal"}  # what a tester means that says nothing
        given |= chosen_options(profile, "agent", create)
        for name in wanted_hooks(profile, "agent", create):
            given[HOOKS[name]] = getattr(callbacks, HOOKS[name])
        initial = initial_state(create)
        if "systemPrompt" in initial:
            given["system_prompt"] = option(initial, "systemPrompt")
        if "model" in initial:
            given["model"] = read(initial["model"], Model, "initialState.model")
        if "thinkingLevel" in initial:
            given["thinking_level"] = option(initial, "thinkingLevel")
        if "messages" in initial:
            given["messages"] = read_messages(initial["messages"], "initialState.messages")
        return Agent(
            profile=profile,
            stream_fn=callbacks.stream_fn,
            tools=callbacks.tools(create.get("tools", [])),
            settle_grace=0.0,  # it is only ever cancelled to be disposed of
            **given,
        )

    # --- operations --------------------------------------------------------------------------------------

    def prompt(self, command: Object) -> None:
        prompt, images = read_prompt(command)
        self._run(command, lambda: self.agent.start_prompt(prompt, images))

    def continue_(self, command: Object) -> None:
        self._run(command, self.agent.start_continue)

    def wait_for_idle(self, command: Object) -> None:
        self.exchange.follow(string(command, "op"), self.agent.wait_for_idle)

    def _run(self, command: Object, start: Callable[[], ActiveRun]) -> None:
        """Begin a run now, and finish it in a task: in Pi, too, a run begins inside the call."""
        op = string(command, "op")
        try:
            run = start()
        except (AgentBusyError, CannotContinueError) as refusal:
            self.exchange.refuse(op, refusal)
        else:
            self.exchange.follow(op, run.finish)

    # --- commands on the agent ---------------------------------------------------------------------------

    def abort(self, _command: Object) -> None:
        self.agent.abort()

    def steer(self, command: Object) -> None:
        self.agent.steer(read(command.get("message"), Message, "message"))

    def follow_up(self, command: Object) -> None:
        self.agent.follow_up(read(command.get("message"), Message, "message"))

    def reset(self, _command: Object) -> None:
        self.agent.reset()

    def clear_queue(self, command: Object) -> None:
        match command.get("which"):
            case "steering":
                self.agent.clear_steering_queue()
            case "followUp":
                self.agent.clear_follow_up_queue()
            case "all":
                self.agent.clear_all_queues()
            case _:
                raise DriverError("which is steering, followUp or all")

    def set_tools(self, command: Object) -> None:
        self.agent.tools = self.exchange.callbacks.tools(command.get("tools"))

    def set_messages(self, command: Object) -> None:
        self.agent.messages = read_messages(command.get("messages"))

    def set_option(self, command: Object) -> None:
        name = string(command, "name")
        if name not in settable_options(self.agent.profile):
            raise DriverError(f"{self.agent.profile.name} has no settable option {shown(name)}")
        if name == "model":
            self.agent.model = read(command.get("value"), Model, "value")
        else:
            setattr(self.agent, _SETTABLE[name], option(command, "value", called=name))

    def state(self, _command: Object) -> Object:
        return self._state()

    def messages(self, _command: Object) -> Any:
        return unstructure(self.agent.messages)

    def peek_queued(self, _command: Object) -> Any:
        return unstructure(self.agent.peek_queued_messages())

    def _state(self) -> Object:
        return show_state(self.agent.state, queued=self.agent.has_queued_messages(), signal=self.agent.signal)
