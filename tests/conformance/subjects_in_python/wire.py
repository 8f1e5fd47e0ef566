"""The driver protocol: reads commands, keeps the asks that wait, writes what the agent says."""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from .agent import Agent, Refused
from .stages import Box, Stage

Object = dict[str, Any]


class Thrown(Exception):  # noqa: N818
    """What a callback raises because the tester said so."""


class Ask:
    """A callback that waits; it is open until it is answered, and a stream until it is closed."""

    def __init__(self, ask_id: str, message: Object) -> None:
        self.id = ask_id
        self.message = message
        self.answer = Box()
        self.open = True
        self.stream: Stream | None = None
        self.on_update: Callable[[Any], None] | None = None


class Stream:
    """The provider's events on their way to the loop."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._items: deque[tuple[str, Any]] = deque()
        self._lock = threading.Lock()
        self._more = Box()
        self.closed = False

    def put(self, kind: str, value: Any) -> None:
        with self._lock:
            if self.closed:
                return
            self._items.append((kind, value))
            self.closed = kind != "event" or value["type"] in ("done", "error")
            more, self._more = self._more, Box()
        self._stage.fill(more, None)

    def next(self) -> tuple[str, Any]:
        """`event` and the event, or `end` and the result; raises what it failed with."""
        while True:
            with self._lock:
                if self._items:
                    kind, value = self._items.popleft()
                    break
                more = self._more
            self._stage.wait(more)
        if kind == "fail":
            raise Thrown(value)
        return kind, value


class Conversation:
    """One agent and its asks. Once it is `over` it says nothing more."""

    def __init__(self, stage: Stage, create: Object, write: Callable[[Object], None]) -> None:
        self.stage = stage
        self.over = False
        self._write = write
        self._lock = threading.Lock()
        self._asks: list[Ask] = []
        self._told = set(create.get("tellListeners", ()))
        self._snapshot = bool(create.get("snapshot"))
        self.agent = Agent(self, create)

    # What the agent uses.

    def tell(self, message: Object) -> None:
        with self._lock:
            if not self.over:
                self._write(message)

    def ask(self, fn: str, args: Object, key: str | None = None, **more: Any) -> Any:
        """Ask the tester, and wait for its answer."""
        ask = self._open(fn, args, key, **more)
        outcome, value = self.stage.wait(ask.answer)
        if outcome == "throw":
            raise Thrown(value)
        return ask.stream if fn == "streamFn" else value

    def listen(self, key: str, event: Object) -> None:
        """Let a listener hear of an event, and wait for it unless it is only told."""
        shown: Object = {"event": event, **({"state": self.agent.state()} if self._snapshot else {})}
        if key in self._told:
            self.tell({"tell": "event", "key": key, **shown})
        else:
            self.ask("listener", shown, key)

    def _open(
        self, fn: str, args: Object, key: str | None, on_update: Callable[[Any], None] | None = None
    ) -> Ask:
        message: Object = {"fn": fn, **({} if key is None else {"key": key}), "args": args}
        message["aborted"] = self.agent.aborted
        with self._lock:
            ask = Ask(f"{fn}-{len(self._asks)}", message)
            ask.on_update = on_update
            self._asks.append(ask)
            if not self.over:
                self._write({"ask": ask.id, **message})
        return ask

    # Commands.

    def do(self, command: Object) -> Any:
        name = command["cmd"]
        if name in ("prompt", "continue"):
            self._run(command)
        elif name == "abort":
            self._abort()
        elif name in ("steer", "followUp"):
            self.agent.queue(name, command["message"])
        elif name == "state":
            return self.agent.state()
        elif name == "messages":
            return self.agent.messages
        elif name == "answer":
            self._answer(self._find(command["ask"]), command)
        elif name == "update":
            on_update = self._find(command["ask"]).on_update
            if on_update is None:
                raise Refused("driver: this ask is no execute")
            on_update(command["value"])
        elif name in ("push", "end", "fail"):
            self._feed(self._find(command["ask"]), command)
        elif name != "sync":
            raise Refused(f"driver: there is no command {name}")
        return None

    def _find(self, ask_id: str) -> Ask:
        for ask in self._asks:
            if ask.id == ask_id:
                return ask
        raise Refused(f"driver: there is no ask {ask_id}")

    def _answer(self, ask: Ask, command: Object) -> None:
        if ask.answer.filled:
            raise Refused("driver: it is answered already")
        if "throw" in command:
            ask.open = False
            self.stage.fill(ask.answer, ("throw", command["throw"]))
            return
        if ask.message["fn"] == "streamFn":
            ask.stream = Stream(self.stage)
        else:
            ask.open = False
        self.stage.fill(ask.answer, ("value", command.get("value")))

    def _feed(self, ask: Ask, command: Object) -> None:
        if ask.stream is None:
            raise Refused("driver: it has no stream")
        match command["cmd"]:
            case "push":
                ask.stream.put("event", command["event"])
            case "end":
                ask.stream.put("end", command.get("result"))
            case _:
                ask.stream.put("fail", command["error"])
        ask.open = not ask.stream.closed

    def _abort(self) -> None:
        if not self.agent.running or self.agent.aborted:
            return
        self.agent.aborted = True
        for ask in self._asks:
            if ask.open and not ask.message["aborted"]:
                self.tell({"tell": "signal", "ask": ask.id})

    def _run(self, command: Object) -> None:
        op = command["op"]
        try:
            body = self.agent.begin(command)
        except Refused as refused:
            self.tell({"tell": "settled", "op": op, "ok": False, "error": str(refused)})
            return

        def run() -> None:
            try:
                body()
            except Exception as error:
                self.tell({"tell": "settled", "op": op, "ok": False, "error": str(error)})
            else:
                self.tell({"tell": "settled", "op": op, "ok": True})

        self.stage.start(run)


COMMANDS = [
    "create", "prompt", "continue", "abort", "steer", "followUp", "answer", "push", "end", "state", "sync", "update",
    "fail", "messages",
]  # fmt: skip


def serve(name: str, make_stage: Callable[[], Stage], *, hurried: bool = False, **declared: Any) -> None:
    """Be a subject on standard input and output. `hurried`: reply at once, before anything else was said."""

    lock = threading.Lock()

    def write(message: Object) -> None:
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    write({
        "tell": "hello", "protocol": 1, "subject": name, "version": "1", "profile": "pi-1.6.0",
        "hooks": ["beforeToolCall", "afterToolCall", "finishTurn", "transformContext"], "commands": COMMANDS,
        "quiescence": "none" if hurried else "exact", **declared,
    })  # fmt: skip
    conversation: Conversation | None = None
    for line in sys.stdin:
        command = json.loads(line)
        reply: Object = {"re": command["id"], "ok": None}
        try:
            if command["cmd"] == "create":
                if conversation is not None:
                    conversation.over = True
                conversation = Conversation(make_stage(), command, write)
            elif conversation is None:
                raise Refused("driver: create comes first")
            else:
                reply["ok"] = conversation.do(command)
        except Refused as refused:
            reply = {"re": command["id"], "error": str(refused)}
        if conversation is not None and not hurried:
            conversation.stage.settle()
        write(reply)
