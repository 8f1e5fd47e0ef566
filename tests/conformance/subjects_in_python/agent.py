"""Pi's loop, release 1.6.0, in blocking style: runs, turns, responses, queues, and what a failed run says.

Left out are changes of the tools, most hooks, and the conversion of arguments; what is there behaves as Pi does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .batch import Batch
from .stages import Stage

Object = dict[str, Any]

USAGE: Object = {
    "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}  # fmt: skip

NO_MODEL: Object = {
    "id": "unknown", "name": "unknown", "api": "unknown", "provider": "unknown", "baseUrl": "", "reasoning": False,
    "input": [], "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 0,
    "maxTokens": 0,
}  # fmt: skip

IDENTITY: Object = {"attribution": {"name": "pi", "url": "https://pi.dev", "categories": ["cli-agent"]}}

GROWING = {
    f"{kind}_{step}" for kind in ("text", "thinking", "toolcall") for step in ("start", "delta", "end")
}

BUSY = "Agent is already processing"


class Refused(Exception):  # noqa: N818
    """A command that the agent, or its driver, does not carry out."""


class Host(Protocol):
    """The world of an agent: who is asked, who listens, and what it runs on."""

    stage: Stage

    def ask(self, fn: str, args: Object, key: str | None = None, **more: Any) -> Any: ...

    def listen(self, key: str, event: Object) -> None: ...


def now() -> int:
    return int(time.time() * 1000)


class Agent:
    def __init__(self, host: Host, create: Object) -> None:
        initial, options = create.get("initialState", {}), create.get("options", {})
        self.host = host
        self.hooks = set(create.get("hooks", ()))
        self.tools: list[Object] = create.get("tools", [])
        self.tool_execution: str = options.get("toolExecution", "parallel")
        self.modes = {"steer": options.get("steeringMode"), "followUp": options.get("followUpMode")}
        self.listeners: list[str] = list(dict.fromkeys(create.get("listeners", ())))
        self.model: Object = initial.get("model", NO_MODEL)
        self.level: str = initial.get("thinkingLevel", "off")
        self.options: Object = {"sessionId": options["sessionId"]} if "sessionId" in options else {}
        self.identity: Object = {**IDENTITY, **options.get("identity", {})}
        self.messages: list[Object] = list(initial.get("messages", ()))
        self.queues: dict[str, list[Object]] = {"steer": [], "followUp": []}
        self.running = self.aborted = False
        self.streaming: Object | None = None
        self.pending: dict[str, int] = {}
        self.error: str | None = None
        prompt = initial.get("systemPrompt", "")
        if self.messages[:1] and self.messages[0]["role"] == "system":
            return
        if prompt or self.tools:
            added = {"toolsAdded": self.declarations()} if self.tools else {}
            self.messages.insert(0, {"role": "system", "content": prompt, **added, "timestamp": 0})

    def declarations(self) -> list[Object]:
        fields = ("name", "description", "parameters", "constrainedSampling")
        return [{field: tool[field] for field in fields if field in tool} for tool in self.tools]

    def state(self) -> Object:
        """What the command `state` is answered with."""
        state: Object = {
            "systemPrompt": "\n\n".join(
                message["content"]
                for message in self.messages
                if message["role"] == "system" and message["content"]
            ),
            "model": self.model,
            "thinkingLevel": self.level,
            "tools": self.declarations(),
            "messages": list(self.messages),
            "isStreaming": self.running,
            "pendingToolCalls": list(self.pending),
            "hasQueuedMessages": any(self.queues.values()),
        }
        if self.streaming is not None:
            state["streamingMessage"] = self.streaming
        if self.error is not None:
            state["errorMessage"] = self.error
        if self.running:
            state["signal"] = "aborted" if self.aborted else "live"
        return state

    # Queues.

    def queue(self, which: str, message: Object) -> None:
        self.queues[which].append(message)

    def drain(self, which: str) -> list[Object]:
        taken = len(self.queues[which]) if self.modes[which] == "all" else 1
        drained, self.queues[which] = self.queues[which][:taken], self.queues[which][taken:]
        return drained

    # Runs.

    def begin(self, command: Object) -> Callable[[], None]:
        """Start a run; what is returned has to be called to play it. Raises: Refused."""
        if command["cmd"] == "prompt":
            if self.running:
                more = "Use steer() or followUp() to queue messages, or wait for completion."
                raise Refused(f"{BUSY} a prompt. {more}")
            prompts, poll = _prompts(command), True
        else:
            if self.running:
                raise Refused(f"{BUSY}. Wait for completion before continuing.")
            prompts, poll = self._continued()
        self.running, self.aborted, self.streaming, self.error = True, False, None, None
        return lambda: self._play(prompts, poll=poll)

    def _continued(self) -> tuple[list[Object], bool]:
        if all(message["role"] == "system" for message in self.messages):
            raise Refused("No messages to continue from")
        if self.messages[-1]["role"] != "assistant":
            return [], True
        if steered := self.drain("steer"):
            return steered, False
        if followed := self.drain("followUp"):
            return followed, True
        raise Refused("Cannot continue from message role: assistant")

    def _play(self, prompts: list[Object], *, poll: bool) -> None:
        try:
            try:
                Run(self).play(prompts, poll=poll)
            except Exception as error:
                self._fail(error)
        finally:
            self.running = self.aborted = False
            self.streaming = None
            self.pending.clear()

    def _fail(self, error: Exception) -> None:
        message = {
            "role": "assistant", "content": [{"type": "text", "text": ""}], "api": self.model["api"],
            "provider": self.model["provider"], "model": self.model["id"], "usage": USAGE,
            "stopReason": "aborted" if self.aborted else "error", "errorMessage": str(error), "timestamp": now(),
        }  # fmt: skip
        self.emit("message_start", message=message)
        self.emit("message_end", message=message)
        self.emit("turn_end", message=message, toolResults=[])
        self.emit("agent_end", messages=[message])

    # Events.

    def emit(self, kind: str, **fields: Any) -> None:
        """Reduce an event, and let the listeners hear of it, one after the other."""
        self._reduce(kind, fields)
        for key in self.listeners:
            self.host.listen(key, {"type": kind, **fields})

    def _reduce(self, kind: str, fields: Object) -> None:
        match kind:
            case "message_start" | "message_update":
                self.streaming = fields["message"]
            case "message_end":
                self.streaming = None
                self.messages.append(fields["message"])
            case "tool_execution_start":
                call = fields["toolCallId"]
                self.pending[call] = self.pending.get(call, 0) + 1
            case "tool_execution_end":
                call = fields["toolCallId"]
                self.pending[call] -= 1
                if not self.pending[call]:
                    del self.pending[call]
            case "turn_end":
                self.error = fields["message"].get("errorMessage") or self.error
            case "agent_end":
                self.streaming = None


class Run:
    """One run of an agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.context = list(agent.messages)
        self.new: list[Object] = []

    def play(self, prompts: Sequence[Object], *, poll: bool) -> None:
        agent = self.agent
        self._take(prompts)
        agent.emit("agent_start")
        agent.emit("turn_start")
        for message in prompts:
            self._say(message)
        pending = agent.drain("steer") if poll else []
        first, more, asked_on = True, False, False
        while first or more or pending or asked_on:
            if not first:
                pending = pending or agent.drain("steer")
                agent.emit("turn_start")
            first = asked_on = False
            for message in pending:
                self._say(message)
                self._take([message])
            answer = self._respond()
            self._take([answer], context=False)
            if answer["stopReason"] in ("error", "aborted"):
                self._finish_turn(answer, [])
                agent.emit("turn_end", message=answer, toolResults=[])
                break
            results, more = Batch(agent, answer, self.context).run()
            self._take(results)
            action = self._finish_turn(answer, results)
            agent.emit("turn_end", message=answer, toolResults=results)
            if action == "end":
                break
            pending = agent.drain("steer")
            if not more and not pending:
                pending = agent.drain("followUp")
                asked_on = action == "continue" and not pending
        agent.emit("agent_end", messages=list(self.new))

    def _take(self, messages: Sequence[Object], *, context: bool = True) -> None:
        self.new += messages
        if context:
            self.context += messages

    def _say(self, message: Object) -> None:
        self.agent.emit("message_start", message=message)
        self.agent.emit("message_end", message=message)

    def _finish_turn(self, answer: Object, results: list[Object]) -> Any:
        if "finishTurn" not in self.agent.hooks:
            return None
        args = {
            "message": answer, "toolResults": list(results), "newMessages": list(self.new),
            "context": {"messages": list(self.context), "tools": self.agent.declarations()},
        }  # fmt: skip
        return (self.agent.host.ask("finishTurn", args) or {}).get("action")

    def _respond(self) -> Object:
        """One response, said event by event."""
        agent = self.agent
        stream = agent.host.ask("streamFn", self._request())
        partial: Object | None = None
        while True:
            kind, event = stream.next()
            if kind == "end":
                final = event or self._cut_off(partial)
                break
            if event["type"] in ("done", "error"):
                final = event["message" if event["type"] == "done" else "error"]
                break
            if event["type"] == "start":
                said, partial = partial is not None, event["partial"]
                self._put(partial, replace=said)
                if not said:
                    agent.emit("message_start", message=partial)
            elif partial is not None and event["type"] in GROWING:
                partial = event["partial"]
                self._put(partial, replace=True)
                agent.emit("message_update", message=partial, assistantMessageEvent=event)
        final = {**final, "thinkingLevel": agent.level}
        self._put(final, replace=partial is not None)
        if partial is None:
            agent.emit("message_start", message=final)
        agent.emit("message_end", message=final)
        return final

    def _request(self) -> Object:
        agent = self.agent
        messages = list(self.context)
        if "transformContext" in agent.hooks:
            messages = agent.host.ask("transformContext", {"messages": messages}) or messages
        known = ("user", "assistant", "toolResult", "system")
        reasoning = {} if agent.level == "off" else {"reasoning": agent.level}
        return {
            "model": agent.model,
            "context": {"messages": [message for message in messages if message["role"] in known]},
            "options": {**reasoning, **agent.options, "identity": agent.identity},
        }

    def _put(self, message: Object, *, replace: bool) -> None:
        """Make a message the last one of the context."""
        if replace:
            self.context[-1] = message
        else:
            self.context.append(message)

    def _cut_off(self, partial: Object | None) -> Object:
        model = self.agent.model
        empty = {
            "role": "assistant", "content": [], "api": model["api"], "provider": model["provider"],
            "model": model["id"], "usage": USAGE, "timestamp": now(),
        }  # fmt: skip
        reason = "aborted" if self.agent.aborted else "error"
        return {**(partial or empty), "stopReason": reason, "errorMessage": "Stream ended without a result"}


def _prompts(command: Object) -> list[Object]:
    given = command["input"]
    if isinstance(given, str):
        content = [{"type": "text", "text": given}, *command.get("images", ())]
        return [{"role": "user", "content": content, "timestamp": now()}]
    return given if isinstance(given, list) else [given]
