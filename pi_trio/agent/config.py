"""What a run is made of: the `LoopConfig`, fixed at its start, and the `LoopState` that its turns change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import attrs

from ..messages import Message, Model, SystemMessage, ThinkingLevel
from ..models.stream import StreamFn, StreamOptions
from ..tools.tool import ExecutionMode, Tool
from .hooks import AgentContext, Hooks, PollMessages
from .run import Run


def _nothing() -> tuple[Message, ...]:
    return ()


@attrs.frozen(kw_only=True)
class LoopConfig:
    """The settings of one run.

    Args:
        stream_fn: answers the requests.
        model, thinking_level: what requests begin with; hooks may change both between turns.
        tool_execution: "parallel", or "sequential" for every batch.
        hooks: the hooks.
        options: what every request is given besides; its `signal` and `reasoning` are the loop's to fill in.
        deps: what decorated functions find as their context's `deps`.
        get_steering_messages, get_follow_up_messages: the two polls: before each turn, and when the run would end.
    """

    stream_fn: StreamFn
    model: Model
    thinking_level: ThinkingLevel = "off"
    tool_execution: ExecutionMode = "parallel"
    hooks: Hooks = attrs.field(factory=Hooks)
    options: StreamOptions = attrs.field(factory=StreamOptions)
    deps: Any = None
    get_steering_messages: PollMessages = _nothing
    get_follow_up_messages: PollMessages = _nothing


@attrs.define(kw_only=True)
class LoopState:
    """Where a run stands between two steps of the loop.

    `messages` and `tools` are the loop's own context. It begins as a copy of the agent's state and lives
    beside it: the loop appends here, the agent appends to its state when it reduces `message_end`.
    """

    run: Run
    config: LoopConfig
    messages: list[Message]
    tools: tuple[Tool, ...]
    system_prompt: str | None
    model: Model
    thinking_level: ThinkingLevel
    _looked_at: int = attrs.field(default=0, init=False)
    _system: list[SystemMessage] = attrs.field(factory=list[SystemMessage], init=False)
    _classes: set[type[Message]] = attrs.field(factory=set[type[Message]], init=False)

    def system_messages(self) -> Sequence[SystemMessage]:
        """The system messages among `messages`."""
        self._look()
        return self._system

    def classes(self) -> Collection[type[Message]]:
        """Of which classes the `messages` are."""
        self._look()
        return self._classes

    def _look(self) -> None:
        """Look at the messages that are new. At each one once, or turns would take longer the more there were."""
        new = self.messages[self._looked_at :]
        self._looked_at = len(self.messages)
        self._system += [message for message in new if isinstance(message, SystemMessage)]
        self._classes.update(map(type, new))

    def context(self) -> AgentContext:
        """The context as it stands now, for a hook (D-08: a copy)."""
        return AgentContext(messages=self.messages, tools=self.tools, system_prompt=self.system_prompt)

    def update(
        self, context: AgentContext | None, model: Model | None, thinking_level: ThinkingLevel | None
    ) -> None:
        """Take over what a hook has replaced, from now on."""
        if context is not None:
            self.messages = list(context.messages)
            self._looked_at = 0
            self._system.clear()
            self._classes.clear()
            self.tools = context.tools
            self.system_prompt = context.system_prompt
        if model is not None:
            self.model = model
        if thinking_level is not None:
            self.thinking_level = thinking_level

    def tool(self, name: str) -> Tool | None:
        """The first tool of that name."""
        for tool in self.tools:  # not by `next`: this is asked for each call
            if tool.name == name:
                return tool
        return None
