"""The hooks of calls and turns: which are asked, how often, and where."""

from __future__ import annotations

from typing import Any

from ...failed import is_failed
from ..content import Object, calls_of, message_of
from ..digest import alike
from .stage import MANY_TURNS, Stage, Watcher, is_truthy


class CallHooks(Watcher):
    """What is asked for a call, between its start and its end."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._answer: Object = {}
        self._asked: dict[str, list[str]] = {}
        self._started: list[str] = []
        self._launched: list[str] = []
        self._twins = False
        self._cut: dict[str, str] = {}
        """The clause by which a call must not be executed any more, since an abort."""
        self._decided: set[str] = set()
        """The calls about which a hook has decided something."""
        self._early: dict[str, str] = {}
        """What was asked first for calls that have not started. If they never do, that is the fault, and no other."""

    def sent(self, command: Object) -> None:
        if command.get("cmd") == "answer" and command.get("value") is not None:
            if command["ask"].get("fn") == "beforeToolCall":
                self._decided.add(str(command["ask"].get("key")))
        if (
            command.get("cmd") != "abort"
            or not self.stage.running
            or self.stage.aborted
            or self.stage.blurred
        ):
            return
        open_hooks = {
            str(line["ask"].get("key"))
            for line in self.stage.open.values()
            if line["ask"].get("fn") == "beforeToolCall"
        }
        for key, asked in self._asked.items():
            if asked == ["beforeToolCall"]:
                self._cut[key] = "ABORT-07" if key in open_hooks else "ABORT-08"

    def said(self, event: Object) -> None:
        kind = event.get("type")
        message = message_of(event)
        if kind == "message_end" and message.get("role") == "assistant":
            self._answer = message
            self._asked, self._started, self._launched, self._cut, self._early = {}, [], [], {}, {}
            self._decided.clear()
            ids = [call.get("id") for call in calls_of(message)]
            self._twins = len(set(map(str, ids))) < len(ids)
        elif kind == "tool_execution_start":
            self._starts(str(event.get("toolCallId")))
        elif kind == "tool_execution_end" and self.stage.calm and not self._twins:
            self._ended(str(event.get("toolCallId")))

    def _starts(self, key: str) -> None:
        fn = self._early.pop(key, None)
        if fn is not None and self.stage.calm and not self._twins:
            self.docket.breaks(
                "TOOL-41" if fn == "execute" else "HOOK-01", f"{fn} of a call that was not started", key
            )
        self._started.append(key)

    def asked(self, fn: str, line: Object) -> None:
        if fn not in ("beforeToolCall", "execute", "afterToolCall") or not self.stage.calm or self._twins:
            return
        key = str(line["ask"].get("key"))
        before = self._asked.setdefault(key, [])
        if key not in self._started:
            self._early.setdefault(key, fn)
        elif fn in before:
            clause = {"beforeToolCall": "HOOK-01", "execute": "TOOL-41", "afterToolCall": "HOOK-09"}[fn]
            self.docket.breaks(clause, f"{fn} asked twice for a call", key)
        elif fn == "afterToolCall" and "execute" not in before:
            self.docket.breaks("HOOK-10", "afterToolCall of a call that was not executed", key)
        elif fn == "execute" and "beforeToolCall" in self.stage.hooks and "beforeToolCall" not in before:
            self.docket.breaks("HOOK-01", "a call that is executed without beforeToolCall", key)
        elif fn == "beforeToolCall" and "execute" in before:
            self.docket.breaks("HOOK-01", "beforeToolCall of a call that is being executed", key)
        else:
            self.docket.holds({"beforeToolCall": "HOOK-01", "afterToolCall": "HOOK-09"}.get(fn, "TOOL-41"))
        if self._answer.get("stopReason") == "length":
            self.docket.denies("TOOL-23", f"{fn} of a call of a truncated answer", key)
        self._signal(fn, line, key)
        if fn == "execute":
            self._check_arguments(line, key)
            self._launch(key)
        before.append(fn)

    def _signal(self, fn: str, line: Object, key: str) -> None:
        if line.get("aborted") is True and self.stage.aborted:
            if fn == "beforeToolCall":
                self.docket.denies("ABORT-05", "beforeToolCall asked after an abort", key)
                self.docket.holds("ABORT-06")
            elif fn == "execute":
                if self._cut.get(key) == "ABORT-07":
                    self.docket.breaks(
                        "ABORT-07", "a call executed though its hook was open at the abort", key
                    )
                else:
                    self.docket.denies("ABORT-08", "a call launched after an abort", key)
                    self.docket.holds("ABORT-09")

    def _check_arguments(self, line: Object, key: str) -> None:
        """What a tool is executed with: where neither preparation, coercion nor a hook has changed the arguments, they
        are those of the call.
        """
        told = line.get("args", {})
        block = next((call for call in calls_of(self._answer) if str(call.get("id")) == key), None)
        if told.get("toolCallId", key) != key:
            self.docket.breaks("TOOL-41", "execute with the id of another call", key)
        elif block is not None and "args" in told and key not in self._decided:
            left = self.stage.tool(block.get("name"))
            given = block.get("arguments")
            if left is not None and _is_left_alone(left, given) and not alike(told["args"], given):
                self.docket.breaks("TOOL-41", "execute with other arguments than its call's", key)

    def _launch(self, key: str) -> None:
        order = [str(call.get("id")) for call in calls_of(self._answer)]
        if key in order and self._launched and self._launched[-1] in order:
            if order.index(self._launched[-1]) < order.index(key):
                self.docket.holds("TOOL-09")
            else:
                self.docket.breaks("TOOL-09", "calls that are not launched in source order", key)
        self._launched.append(key)

    def _ended(self, key: str) -> None:
        before = self._asked.get(key, [])
        cut = self.stage.cancelling and self.stage.aborted
        if "execute" in before and "afterToolCall" in self.stage.hooks and not cut:
            if "afterToolCall" in before:
                self.docket.holds("HOOK-09")
            else:
                self.docket.breaks("HOOK-09", "an executed call that ends without afterToolCall", key)
        if "execute" not in before:
            self.docket.holds("HOOK-10")
            if key in self._cut:
                self.docket.holds(self._cut[key])
            elif self.stage.aborted and not before:
                self.docket.holds("ABORT-05")


def _is_left_alone(tool: Object, arguments: Any) -> bool:
    """Whether arguments reach a tool as they are in the call: all of them are texts, and nothing else is asked for."""
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(arguments, dict) or "prepareArguments" in tool:
        return False
    return all(each == {"type": "string"} for each in properties.values()) and all(
        key in properties and type(value) is str for key, value in arguments.items()
    )


class TurnHooks(Watcher):
    """finishTurn, shouldStopAfterTurn and prepareNextTurn have their places, and what they decide is done."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._answer: Object | None = None
        self._in_turn = False
        self._asked: list[str] = []
        self._decision: Any = None
        self._stop = False
        self._terminates: list[bool] = []
        self._turns = 0

    def said(self, event: Object) -> None:
        kind = event.get("type")
        message = message_of(event)
        if kind == "agent_start":
            self._decision, self._stop, self._turns = None, False, 0
        elif kind == "turn_start":
            self._turn_starts()
        elif kind == "message_end" and message.get("role") == "assistant":
            self._answer = message
        elif kind == "tool_execution_end":
            result = event.get("result")
            self._terminates.append(isinstance(result, dict) and result.get("terminate") is True)
        elif kind == "turn_end":
            self._turn_ends()
        elif kind == "agent_end":
            self._run_ends()

    def asked(self, fn: str, _line: Object) -> None:
        if fn in ("finishTurn", "shouldStopAfterTurn", "prepareNextTurn", "prepareNextTurnWithContext"):
            self._asked.append(fn)
            if self.stage.calm:
                self._place(fn)

    def _place(self, fn: str) -> None:
        if fn == "finishTurn":
            right = self._in_turn and self._answer is not None
            clause = "TURN-11"
        elif fn == "shouldStopAfterTurn":
            right, clause = not self._in_turn, "TURN-10"
        else:
            right = not self._in_turn
            clause = "TURN-16" if self.docket.in_force("TURN-16") else "TURN-15"
        if right:
            self.docket.holds(clause)
        else:
            self.docket.breaks(clause, f"{fn} at another place than its own")

    def sent(self, command: Object) -> None:
        if command.get("cmd") != "answer":
            return
        fn = command.get("ask", {}).get("fn")
        value = command.get("value")
        if fn == "finishTurn":
            self._decision = value.get("action") if isinstance(value, dict) else None
        elif fn == "shouldStopAfterTurn":
            self._stop = is_truthy(value)

    @property
    def _cut(self) -> bool:
        return self.stage.cancelling and self.stage.aborted

    def _turn_starts(self) -> None:
        if self.stage.calm and not self._cut:
            if self._decision == "end":
                self.docket.breaks("TURN-12", "a turn behind one that finishTurn has ended the run with")
            elif self._stop:
                self.docket.breaks("TURN-24", "a turn behind one that shouldStopAfterTurn has stopped")
            elif self._decision == "continue":
                self.docket.holds("TURN-13")
            elif self._answer is not None and calls_of(self._answer) and not all(self._terminates):
                self.docket.holds("TURN-07")
                if self._turns > MANY_TURNS:
                    self.docket.holds("TURN-21")
        self._turns += 1
        self._in_turn, self._answer, self._asked = True, None, []
        self._decision, self._stop, self._terminates = None, False, []

    def _turn_ends(self) -> None:
        self._in_turn = False
        if not self.stage.calm or self._cut or self._answer is None or "finishTurn" not in self.stage.hooks:
            return
        clause = "TURN-25" if is_failed(self._answer) else "TURN-11"
        times = self._asked.count("finishTurn")
        if times == 1:
            self.docket.holds(clause)
        else:
            self.docket.breaks(
                clause, "turn_end of a turn for which finishTurn was not asked once", str(times)
            )

    def _run_ends(self) -> None:
        answer = self._answer
        if not self.stage.calm or self._cut or answer is None or is_failed(answer):
            return
        if {"prepareNextTurn", "prepareNextTurnWithContext"} & set(self._asked):
            self.docket.denies("TURN-16", "prepareNextTurn asked though no turn follows")
            self.docket.holds("TURN-15")
        elif "prepareNextTurn" in self.stage.hooks:
            self.docket.denies("TURN-15", "prepareNextTurn not asked behind the last turn")
            self.docket.holds("TURN-16")
        if self._decision == "end":
            self.docket.holds("TURN-12")
        elif self._stop:
            self.docket.holds("TURN-24")
        elif self._decision == "continue":
            self.docket.breaks("TURN-13", "agent_end though finishTurn asks for one more turn")
        elif not calls_of(answer):
            self.docket.holds("TURN-08")
        elif self._terminates and all(self._terminates):
            self.docket.holds("TURN-09")
        elif self._terminates:
            clause = "TURN-21" if self._turns > MANY_TURNS else "TURN-07"
            self.docket.breaks(clause, "agent_end though there are results to answer")
