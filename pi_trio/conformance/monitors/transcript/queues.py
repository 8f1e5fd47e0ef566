"""Queued messages: the oldest first, one queue before the other, and nothing is left behind.

What is said is known by its value. Where that could be of another message as well, or where messages may have been
taken that nobody has heard of, nothing is judged any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...failed import is_failed
from ..content import Object, ends_as_usual, message_of
from .stage import SAID_BY_TURNS, Stage, Watcher, is_truthy, messages_in, prepares, timeless

_MOST: Final = 1000
"""So many messages are followed in one queue."""


class Queues(Watcher):
    """Follows both queues of an agent."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        options = stage.create.get("options") or {}
        self._modes = {
            "steering": options.get("steeringMode", "one-at-a-time"),
            "followUp": options.get("followUpMode", "one-at-a-time"),
        }
        self._queues: dict[str, list[Object]] = {"steering": [], "followUp": []}
        self._at_turn_end: dict[str, list[Object]] = {"steering": [], "followUp": []}
        self._turns = 0
        self._taken: list[str] = []
        self._terminates: list[bool] = []
        self._behind_the_end = False
        """The turn is one behind a batch that terminates."""
        self._answer: Object | None = None
        self._asked_to_stop = False
        self._known = True
        self._elsewhere: list[Object] = []
        """What this run may say though it is in no queue: a hook has prepared it, or it was cleared once taken."""

    def sent(self, command: Object) -> None:
        kind = command.get("cmd")
        if kind == "steer":
            self._queue("steering", command["message"])
        elif kind == "followUp":
            self._queue("followUp", command["message"])
        elif kind == "clearQueue":
            for which in self._queues:
                if command.get("which") in (which, "all"):
                    self._say_elsewhere(self._queues[which] if self.stage.running else ())
                    self._queues[which].clear()
                    self._at_turn_end[which] = []
        elif (
            kind == "setOption" and command.get("name") in ("steeringMode", "followUpMode")
        ) or kind == "reset":
            self._doubt()
        elif kind == "answer":
            self._answered(command.get("ask", {}).get("fn"), command.get("value"))

    def _answered(self, fn: str, value: Any) -> None:
        if fn in ("finishTurn", "shouldStopAfterTurn"):
            stops = fn == "shouldStopAfterTurn" and is_truthy(value)
            self._asked_to_stop = stops or (isinstance(value, dict) and value.get("action") == "end")
        if prepares(fn):
            prepared = messages_in(value)
            if any(message in queue for message in prepared for queue in self._queues.values()):
                self._doubt()
            self._say_elsewhere(prepared)

    def _doubt(self) -> None:
        """Of this agent nothing is judged any more, so nothing is kept."""
        self._known = False
        self._forget_many()

    def _say_elsewhere(self, messages: Iterable[Object]) -> None:
        """This run may say messages that are in no queue."""
        self._elsewhere += [each for each in messages if each not in self._elsewhere]
        self._forget_many()

    def _forget_many(self) -> None:
        """What is kept is bounded."""
        kept = (*self._queues.values(), self._elsewhere)
        if self._known and max(map(len, kept)) <= _MOST:
            return
        self._known = False
        for messages in (*kept, *self._at_turn_end.values()):
            messages.clear()

    def _queue(self, which: str, message: Object) -> None:
        if message.get("role") == "system":
            # It may be said with other tools than it was queued with.
            self._doubt()
        message = timeless(message)
        if message in self._elsewhere or any(
            message in queue for each, queue in self._queues.items() if each != which
        ):
            self._doubt()
        self._queues[which].append(message)
        self._forget_many()

    def said(self, event: Object) -> None:
        kind = event.get("type")
        message = message_of(event)
        if kind == "agent_start":
            self._turns = 0
            self._asked_to_stop = False
            self._at_turn_end = {"steering": [], "followUp": []}
        elif kind == "turn_start":
            self._turns += 1
            self._behind_the_end = self._terminated
            self._taken, self._terminates = [], []
            self._answer = None
        elif kind == "message_start" and (
            message.get("role") not in SAID_BY_TURNS or self.stage.injects(event)
        ):
            self._injected(timeless(message))
        elif kind == "message_end" and message.get("role") == "assistant":
            self._answer = message
        elif kind == "tool_execution_end":
            result = event.get("result")
            self._terminates.append(isinstance(result, dict) and result.get("terminate") is True)
        elif kind == "turn_end":
            self._at_turn_end = {which: list(queue) for which, queue in self._queues.items()}
        elif kind == "agent_end":
            self._run_ends()

    def _injected(self, message: Object) -> None:
        which = next((each for each, queue in self._queues.items() if message in queue), None)
        judged = self.stage.calm and self._known and self._turns > 1 and not self.stage.loop
        if which is None:
            if judged and message.get("role") != "system" and message not in self._elsewhere:
                self._judge_stranger()
            return
        queue = self._queues[which]
        if judged:
            self._judge(which, message)
        queue.remove(message)
        self._at_turn_end[which] = [each for each in self._at_turn_end[which] if each != message]
        self._taken.append(which)

    def _judge(self, which: str, message: Object) -> None:
        docket = self.docket
        mode = "QUEUE-09" if self._modes[which] == "all" else "QUEUE-08"
        if self._queues[which][0] != message:
            docket.breaks(mode, f"a message of {which} that is not the oldest")
        elif self._modes[which] != "all" and self._taken:
            docket.breaks("QUEUE-08", f"a second queued message in one turn ({which})")
        elif which == "followUp" and self._at_turn_end["steering"]:
            docket.breaks("QUEUE-07", "a follow-up before steering")
        else:
            docket.holds(mode, "QUEUE-17", *(["TURN-22"] if self._behind_the_end else []))
            if which == "followUp":
                docket.holds("QUEUE-06", "QUEUE-07")
            else:
                docket.holds("QUEUE-02", "QUEUE-07")

    def _judge_stranger(self) -> None:
        """A message is said that nobody has given. If one is due, it is taken for that."""
        which = next((each for each, queue in self._at_turn_end.items() if queue), None)
        if which is not None and self._queues[which]:
            self.docket.breaks("QUEUE-17", f"a message of {which} that is not as it was queued")
            self._queues[which].pop(0)
            self._at_turn_end[which].pop(0)
            self._taken.append(which)

    def settled(self, line: Object, refused: bool) -> None:
        if not refused and line.get("op") in self.stage.running:
            self._elsewhere = []
            if not self.stage.listening:
                self._doubt()

    def _run_ends(self) -> None:
        cut = self.stage.cancelling and self.stage.aborted
        if not self.stage.calm or not self._known or cut or self.stage.loop or self._asked_to_stop:
            return
        if self._answer is None or is_failed(self._answer) or self.ends_wrongly:
            return
        for which, clause, what in (
            ("steering", "QUEUE-02", "steering"),
            ("followUp", "QUEUE-06", "a follow-up"),
        ):
            if self._at_turn_end[which]:
                said = f"agent_end though {what} was queued before the last turn_end"
                self.docket.breaks(self._ends_the_run(self._answer) or clause, said)
                return

    @property
    def _terminated(self) -> bool:
        """Whether the batch of the turn terminates."""
        return bool(self._terminates) and all(self._terminates)

    def _ends_the_run(self, answer: Object) -> str | None:
        """The clause by which the last turn was no reason to end the run, where it looks like one."""
        if self._terminated:
            return "TURN-22"
        return None if ends_as_usual(answer) else "TURN-20"
