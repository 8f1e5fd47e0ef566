"""What had happened in a scenario before a line of its trace: enough of it to say why something was due.

A scene is read off the trace alone: what the tester sent, what the subject asked, and what the first listener to hear
of each event heard. It knows no rule of the protocol, and judges nothing. Where a trace is odd it remembers what
came last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import attrs

from ..failed import is_failed
from ..lines import KEYED, asks, commands_of, event_of
from ..protocol import Object
from .beside import Beside
from .memory import NOTHING, CallSoFar, is_among, objects_in, settings_of, without

Origin = Literal["prompt", "steering", "follow-up", "prepared", "announcement", "answer", "result"]


@attrs.define
class Scene:
    """What had happened.

    Attributes:
        created: the latest `create`.
        cancels: an abort is one that cancels, whether `created` says so or not.
        command: the latest command; of a burst the burst.
        running: a run has begun and has not settled.
        turns: how many turns the run has begun; `in_turn` says whether the last one is open.
        speaking: the message between its start and its end.
        answer: the complete answer of the turn, if there is one yet; `last_answer` that of this turn or the last.
        calls: of the answer, in source order.
        failed: what failed the run: the function, or the event at which a listener failed.
        told: how far the failure has been told: its message had its end.
        aborted: an abort has come.
        continued: the run was begun by `continue`.
        over: `agent_end` has been told.
    """

    created: Object = attrs.field(factory=dict[str, Any])
    cancels: bool = False
    command: Object = attrs.field(factory=dict[str, Any])
    running: bool = False
    turns: int = 0
    in_turn: bool = False
    speaking: Object | None = None
    answer: Object | None = None
    last_answer: Object | None = None
    calls: list[CallSoFar] = attrs.field(factory=list[CallSoFar])
    behind_tools: bool = False
    """The last turn that ended had calls."""
    failed: str = ""
    left_failed: bool = False
    """The latest run has failed."""
    told: bool = False
    aborted: bool = False
    continued: bool = False
    behind_answer: bool = False
    """The run began behind an answer: that was the last message of the transcript."""
    first_said: Origin | None = None
    """Where the first message of the run came from."""
    over: bool = False
    requested: bool = False
    """The turn's request was made."""
    streaming: bool = False
    """The response's stream is open, and `started` says whether its start was pushed."""
    started: bool = False
    closed_without_done: bool = False
    prompts: list[Object | str] = attrs.field(factory=list[Object | str])
    prompted: int = 0
    steering: list[Object] = attrs.field(factory=list[Object])
    follow_ups: list[Object] = attrs.field(factory=list[Object])
    prepared: list[Object] = attrs.field(factory=list[Object])
    taken: list[Object] = attrs.field(factory=list[Object])
    """What a poll must have taken for the turn that has begun."""
    returned: list[Object] = attrs.field(factory=list[Object])
    """What was taken and not said when a run failed, or was aborted."""
    late: list[Object] = attrs.field(factory=list[Object])
    """What was queued while a turn was being prepared, or while its end was heard."""
    decision: Any = None
    """What the stop hook answered for this turn."""
    replaced: set[str] = attrs.field(factory=set[str])
    """The hooks that have answered with something, in this run."""
    latest: str = ""
    """The type of the last event that was told, or the function of the last callback."""
    commands: set[str] = attrs.field(factory=set[str])
    """The commands that were given, since the first."""
    settings: set[str] = attrs.field(factory=set[str])
    """The fields of the state that somebody has set, or that follow from one that was set, or from a run."""
    operations: dict[str, str] = attrs.field(factory=dict[str, str])
    """The commands behind the operations: prompt, continue or waitForIdle, by the operation's id."""
    beside: Beside = attrs.field(factory=Beside)
    """What goes on beside the run."""
    _last_role: Any = None
    """The role of the last message of the transcript."""
    _heard: dict[str, int] = attrs.field(factory=dict[str, int])
    _events: list[str] = attrs.field(factory=list[str])

    @classmethod
    def behind(cls, lines: Iterable[Object], *, cancels: bool = False) -> Scene:
        """The scene behind these lines: what the latest agent has been through."""
        scene = cls(cancels=cancels)
        for line in lines:
            if line.get("send", NOTHING).get("cmd") == "create":
                scene = cls(created=line["send"], cancels=cancels)
                scene.beside.subscribed = list(line["send"].get("listeners", ()))
            scene.add(line)
        return scene

    # --- what can be asked of it --------------------------------------------------------------------------

    @property
    def loop(self) -> bool:
        """It is the loop alone, without an agent."""
        return bool(self.created.get("target") == "loop")

    @property
    def cancelling(self) -> bool:
        """An abort has come that cancels."""
        return self.aborted and self.cancel_mode

    @property
    def cancel_mode(self) -> bool:
        """An abort is one that cancels."""
        return self.cancels or bool(self.created.get("options", NOTHING).get("abortMode") == "cancel")

    @property
    def stop_reason(self) -> str:
        """How the latest answer ended."""
        return str((self.last_answer or NOTHING).get("stopReason", ""))

    @property
    def broken_off(self) -> bool:
        """The latest answer ended in error or aborted."""
        return is_failed(self.last_answer or NOTHING)

    @property
    def truncated(self) -> bool:
        """The calls at hand are those of an answer that hit the output limit."""
        return bool(self.calls) and self.stop_reason == "length"

    @property
    def all_sequential(self) -> bool:
        """Every batch does."""
        return bool(self.created.get("options", NOTHING).get("toolExecution") == "sequential")

    @property
    def sequential(self) -> bool:
        """The batch at hand runs one call after the other."""
        if self.all_sequential:
            return True
        modes = {tool["name"]: tool.get("executionMode") for tool in reversed(self.created.get("tools", ()))}
        return any(modes.get(call.block.get("name")) == "sequential" for call in self.calls)

    @property
    def tools(self) -> list[Object]:
        """The tools of the run."""
        set_before = self.beside.tools
        return list(self.created.get("tools", ())) if set_before is None else set_before

    @property
    def in_batch(self) -> bool:
        """Calls of the turn are not all answered."""
        return self.in_turn and any(not call.answered for call in self.calls)

    @property
    def terminates(self) -> bool:
        """There is a batch, and every result in it says so."""
        return bool(self.calls) and all(call.terminates for call in self.calls if call.started)

    @property
    def queued(self) -> bool:
        """Something is in a queue."""
        return bool(self.steering or self.follow_ups)

    def call(self, key: object) -> CallSoFar | None:
        """The call with that id; of several the first that has not ended, else the last."""
        of_that_id = [call for call in self.calls if call.block.get("id") == key]
        return next((call for call in of_that_id if not call.ended), of_that_id[-1] if of_that_id else None)

    def origin(self, message: Object) -> Origin:
        """Where a message that is about to be said comes from."""
        role = message.get("role")
        given = [each for each in self.prompts if isinstance(each, dict)]
        if role == "assistant" and not is_among(message, given):
            return "answer"
        if role == "toolResult" and self.calls:
            return "result"
        if is_among(message, self.steering):
            return "steering"
        if is_among(message, self.follow_ups):
            return "follow-up"
        if is_among(message, self.prepared):
            return "prepared"
        return "announcement" if role == "system" and not is_among(message, given) else "prompt"

    def heard_already(self, listener: str, event_type: str) -> bool:
        """Whether another listener has heard already of what that one hears next."""
        return self._place(listener, event_type) < len(self._events)

    # --- what happens -------------------------------------------------------------------------------------

    def add(self, line: Object) -> None:
        """Let a line happen."""
        self.beside.hear(line)
        for command in commands_of(line):
            if command is not line.get("send") or command["cmd"] != "burst":
                self._command(command)
        if "send" in line:
            self.command = line["send"]
        elif (event := event_of(line)) is not None:
            self._event(str(line["key"] if line.get("tell") else line["ask"].get("key", "")), event)
        elif fn := asks(line):
            self._ask(fn, line["ask"].get("key"))
        elif line.get("tell") == "settled" and self.operations.get(line.get("op", "")) != "waitForIdle":
            self._settled(line)

    def _settled(self, line: Object) -> None:
        # What is refused is so at once; what fails later may fail with the same words.
        at_once = line.get("op") in {each.get("op") for each in commands_of({"send": self.command})}
        refused = not line.get("ok") and str(line.get("error", "")).startswith(
            ("Agent is already", "Cannot", "No ")
        )
        if not (at_once and refused):
            self.beside.settled(self)
            self.running, self.left_failed = False, bool(self.failed)
            self.failed, self.told, self.aborted = "", False, False

    def _command(self, command: Object) -> None:
        name = command["cmd"]
        self.commands.add(name)
        self.settings |= settings_of(command)
        self.beside.command(command, self)
        if name in ("prompt", "continue", "waitForIdle"):
            self.operations[command.get("op", "")] = name
            if name != "waitForIdle" and not self.running:
                self._begun(command)
        if name in ("create", "setMessages", "reset"):
            messages = command.get("initialState", command).get("messages") or [NOTHING]
            self._last_role = messages[-1].get("role")
        if name == "steer":
            self.steering.append(command["message"])
            if self.latest == "turn_end" or self.latest.startswith("prepareNextTurn"):
                self.late.append(command["message"])
        elif name == "followUp":
            self.follow_ups.append(command["message"])
        elif name in ("clearQueue", "reset"):
            which = command.get("which", "all")
            if which in ("steering", "all") and not (name == "reset" and self.running):
                self.steering.clear()
            if which in ("followUp", "all") and not (name == "reset" and self.running):
                self.follow_ups.clear()
        elif name == "abort" and self.running:
            self.aborted = True
            if self.cancelling:
                self.returned += self.taken
            for call in self.calls:
                call.before_abort = call.started
        elif name == "answer" and isinstance(command.get("ask"), dict):
            self._answered(command, command["ask"])
        elif name == "push":
            self._pushed(command["event"].get("type"))
        elif name in ("end", "fail"):
            self.closed_without_done, self.streaming = name == "end", False
            if name == "fail":
                self.failed = self.failed or "stream"

    def _begun(self, command: Object) -> None:
        given = command.get("input")
        self.prompts = list(given) if isinstance(given, list) else [] if given is None else [given]
        self.prompted, self.continued = 0, command["cmd"] == "continue"
        self.running, self.over, self.turns, self.in_turn = True, False, 0, False
        self.behind_tools, self.behind_answer, self.first_said = False, self._last_role == "assistant", None
        self.failed, self.told, self.aborted, self.decision = "", False, False, None
        self.answer = self.last_answer = self.speaking = None
        self.calls, self.prepared, self.replaced = [], [], set()
        self.requested = self.streaming = self.started = self.closed_without_done = False

    def _pushed(self, event_type: object) -> None:
        if event_type == "start":
            self.started = True
        elif event_type in ("done", "error"):
            self.streaming = False

    def _answered(self, command: Object, ask: Object) -> None:
        fn, value, thrown = str(ask["fn"]), command.get("value"), command.get("throw")
        call = self.call(ask.get("key")) if fn in KEYED else None
        if value is not None and fn != "listener":
            self.replaced.add(fn)
        if call is not None:
            if fn == "execute":
                call.returned, call.threw = True, str(thrown or "")
                call.returned_nothing = thrown is None and value is None
            elif fn == "afterToolCall":
                call.checked = {"throw": thrown} if thrown is not None else value
                call.left_whole = call.checked is None
            elif thrown is None and value is None:
                call.let_pass = True
            elif thrown is not None:
                call.refused = str(thrown)
            elif isinstance(value, dict) and value.get("block"):
                call.refused = str(value.get("reason") or "Tool execution was blocked")
        elif thrown is not None and fn not in KEYED and self.running:
            self.failed = self.failed or (str(ask.get("event", fn)) if fn == "listener" else fn)
            self.returned += self.taken
        elif fn == "streamFn":
            self.streaming, self.started, self.closed_without_done = value == "stream", False, False
        elif fn in ("finishTurn", "shouldStopAfterTurn"):
            self.decision = value.get("action") if isinstance(value, dict) else value
        elif fn.startswith("prepareNextTurn") and isinstance(value, dict):
            self.prepared = list(value.get("messages") or ())
        elif fn == "getSteeringMessages":
            self.steering += value or ()
        elif fn == "getFollowUpMessages":
            self.follow_ups += value or ()

    def _ask(self, fn: str, key: object) -> None:
        self.latest = fn
        if fn == "streamFn":
            self.requested = True
        elif (call := self.call(key)) is not None:
            call.asked = call.asked or fn == "beforeToolCall"
            call.executed = call.executed or fn == "execute"
            call.asked_again = call.asked_again or fn == "afterToolCall"

    def _event(self, listener: str, event: Object) -> None:
        place = self._place(listener, event["type"])
        self._heard[listener] = place + 1
        if place < len(self._events):
            return
        self._events.append(event["type"])
        self.latest = event["type"]
        handler = getattr(self, f"_on_{self.latest}", None)
        if handler is not None:
            handler(event)

    def _place(self, listener: str, event_type: str) -> int:
        """How many events that listener has heard, or missed because it came late."""
        if listener in self._heard or listener in self.created.get("listeners", ()):
            return self._heard.get(listener, 0)
        return len(self._events) - (self._events[-1:] == [event_type])

    def _on_agent_start(self, _event: Object) -> None:
        self.over, self.turns, self.in_turn = False, 0, False

    def _on_turn_start(self, _event: Object) -> None:
        self.turns, self.in_turn, self.decision = self.turns + 1, True, None
        self.answer, self.calls, self.requested = None, [], False
        if self.turns > 1 or self.continued:
            queue, mode = (
                (self.steering, "steeringMode") if self.steering else (self.follow_ups, "followUpMode")
            )
            everything = self.created.get("options", NOTHING).get(mode) == "all"
            self.taken = list(queue) if everything else queue[:1]

    def _on_message_start(self, event: Object) -> None:
        message = event["message"]
        origin = self.origin(message)
        self.first_said = self.first_said or origin
        self.speaking = message
        self.taken = without(message, self.taken)
        self.returned = without(message, self.returned)
        if origin == "prompt":
            self.prompted += 1
        elif origin in ("steering", "follow-up", "prepared"):
            queue = {"steering": self.steering, "follow-up": self.follow_ups}.get(origin, self.prepared)
            del queue[next(at for at, each in enumerate(queue) if is_among(message, [each]))]

    def _on_message_update(self, event: Object) -> None:
        self.speaking = event["message"]

    def _on_message_end(self, event: Object) -> None:
        message = event["message"]
        self.speaking = None
        self._last_role = message.get("role")
        if self.in_turn and self.origin(message) == "answer":
            self.told = bool(self.failed)
            self.answer = self.last_answer = message
            self.calls = [
                CallSoFar(block=block)
                for block in objects_in(message.get("content"))
                if block.get("type") == "toolCall" and not self.broken_off
            ]
        elif message.get("role") == "toolResult":
            key = message.get("toolCallId")
            waiting = (call for call in self.calls if call.block.get("id") == key and not call.answered)
            if (call := next(waiting, None)) is not None:
                call.answered = True

    def _on_tool_execution_start(self, event: Object) -> None:
        key = event.get("toolCallId")
        unstarted = (call for call in self.calls if call.block.get("id") == key and not call.started)
        if (call := next(unstarted, None)) is not None:
            call.started = True

    def _on_tool_execution_update(self, event: Object) -> None:
        if (call := self.call(event.get("toolCallId"))) is not None:
            call.updates += 1

    def _on_tool_execution_end(self, event: Object) -> None:
        if (call := self.call(event.get("toolCallId"))) is not None:
            call.ended = True
            result = event.get("result")
            call.terminates = isinstance(result, dict) and result.get("terminate") is True

    def _on_turn_end(self, _event: Object) -> None:
        self.in_turn, self.behind_tools = False, bool(self.calls)

    def _on_agent_end(self, _event: Object) -> None:
        self.over, self.in_turn = True, False
