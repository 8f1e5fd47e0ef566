"""A trace as those see it who look for what went wrong in it: what each listener heard, and what was said at all.

A trace falls into the conversations that its `create` commands begin. In each, an event is said once, and heard by
every listener; it stands where the first of them hears it, because the state has it from then on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs

from ..compare import canonical
from ..deliveries import Delivery
from ..lines import commands_of, event_of, is_callback
from ..normalise import with_times_hidden
from ..protocol import Object

Run: TypeAlias = tuple[int, str]
"""The number of a conversation, and the operation that is under way in it."""


@attrs.frozen
class Hearing:
    """An event that reached a listener. `asked`: the address of the ask, if the listener was asked."""

    at: int
    listener: str
    event: Object
    asked: str | None
    state: Object | None

    @property
    def type(self) -> str:
        return str(self.event["type"])


@attrs.frozen
class Sent:
    """A command of the tester, those in a burst on their own; `reply` is the line that answers it."""

    at: int
    command: Object
    reply: Object

    @property
    def accepted(self) -> bool:
        return "reply" in self.reply


@attrs.frozen(slots=False, eq=False)
class Conversation:
    """The lines from one `create` to the next, in which everything is counted from 0."""

    lines: Sequence[Object]

    @cached_property
    def create(self) -> Object:
        command: Object = self.lines[0]["send"]
        return command

    @property
    def of_loop(self) -> bool:
        return bool(self.create.get("target") == "loop")

    @cached_property
    def hearings(self) -> list[Hearing]:
        return [hearing for at, line in enumerate(self.lines) if (hearing := _hearing(at, line)) is not None]

    @cached_property
    def heard_at(self) -> dict[int, Hearing]:
        """The hearings by their lines."""
        return {hearing.at: hearing for hearing in self.hearings}

    @cached_property
    def events(self) -> list[Delivery]:
        """What was said, each event once."""
        found = [
            Delivery(heard[0].event, heard[0].at, max(self.let_go(each) for each in heard))
            for heard in self.rounds
        ]
        return sorted(found, key=lambda delivery: delivery.first)

    @cached_property
    def rounds(self) -> list[list[Hearing]]:
        """Who heard what was said, event by event, of those who are there all the time (if there are any)."""
        found: dict[tuple[int, str, int], list[Hearing]] = {}
        runs, counts = Counter[str](), Counter[tuple[str, int, str]]()
        for hearing in self.hearings:
            who = hearing.listener
            if self.constant and who not in self.constant:
                continue
            runs[who] += hearing.type == "agent_start"
            what = canonical(hearing.event)
            counts[who, runs[who], what] += 1
            found.setdefault((runs[who], what, counts[who, runs[who], what]), []).append(hearing)
        return list(found.values())

    def let_go(self, hearing: Hearing) -> int:
        """The line with which the listener has done with it."""
        if hearing.asked is None:
            return hearing.at
        answer = self.answered.get(hearing.asked)
        return len(self.lines) if answer is None else answer.at

    @cached_property
    def sent(self) -> list[Sent]:
        found: list[Sent] = []
        for at, line in enumerate(self.lines):
            if "send" not in line:
                continue
            reply = next((later for later in self.lines[at + 1 :] if _is_reply(later)), {})
            command = line["send"]
            if command["cmd"] != "burst":
                found.append(Sent(at, command, reply))
                continue
            outcomes = reply.get("reply") or [{}] * len(command["cmds"])
            for part, outcome in zip(command["cmds"], outcomes, strict=True):
                found.append(Sent(at, part, {"reply": outcome["ok"]} if "ok" in outcome else outcome))
        return found

    @cached_property
    def running(self) -> list[str]:
        """Line by line the operation that is under way for the longest time; empty if none is."""
        begun: defaultdict[int, list[str]] = defaultdict(list)
        for each in self.sent:
            if each.command["cmd"] in ("prompt", "continue") and each.accepted:
                begun[each.at].append(each.command["op"])
        found: list[str] = []
        running: list[str] = []
        for at, line in enumerate(self.lines):
            running += begun.get(at, ())
            found.append(running[0] if running else "")
            if line.get("tell") == "settled" and line["op"] in running:
                running.remove(line["op"])
        return found

    @cached_property
    def aborts(self) -> list[tuple[int, str]]:
        """Where a run was aborted, and which. In a burst only what was begun before the abort is."""
        settles = {line["op"]: at for at, line in self.settlements}
        running: list[str] = []
        found: list[tuple[int, str]] = []
        for each in self.sent:
            running = [op for op in running if settles.get(op, len(self.lines)) > each.at]
            if each.command["cmd"] in ("prompt", "continue"):
                running.append(each.command["op"])
            elif each.command["cmd"] == "abort" and running:
                found.append((each.at, running[0]))
        return found

    @cached_property
    def under_way(self) -> list[str]:
        """The same; if none is, the last that was."""
        latest = ""
        found: list[str] = []
        for now in self.running:
            latest = now or latest
            found.append(latest)
        return found

    @cached_property
    def answered(self) -> dict[str, Sent]:
        """The answers, by the address of the ask."""
        return {canonical(each.command["ask"]): each for each in self.sent if each.command["cmd"] == "answer"}

    @cached_property
    def withdrawn(self) -> dict[str, int]:
        """Where asks were withdrawn for the first time, by their addresses."""
        found: dict[str, int] = {}
        for at, line in enumerate(self.lines):
            if line.get("tell") == "withdrawn":
                found.setdefault(canonical(line["ask"]), at)
        return found

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """The listeners that are there all the time."""
        moved = {
            each.command["key"] for each in self.sent if each.command["cmd"] in ("subscribe", "unsubscribe")
        }
        return tuple(dict.fromkeys(key for key in self.create.get("listeners", ()) if key not in moved))

    def failed(self, hearing: Hearing) -> bool:
        """Whether the listener failed at this event."""
        answer = self.answered.get(hearing.asked) if hearing.asked is not None else None
        return answer is not None and "throw" in answer.command

    @cached_property
    def settlements(self) -> list[tuple[int, Object]]:
        """How operations settled, without those that were refused in the very step that asked for them."""
        found: list[tuple[int, Object]] = []
        asked: list[Any] = []
        for at, line in enumerate(self.lines):
            if "send" in line:
                asked = [command.get("op") for command in commands_of(line)]
            elif line.get("tell") == "settled" and (line["ok"] or line["op"] not in asked):
                found.append((at, line))
        return found

    @cached_property
    def is_settled(self) -> bool:
        """Whether nothing is under way at its end."""
        begun = {each.command["op"] for each in self.sent if "op" in each.command and each.accepted}
        return begun <= {line["op"] for line in self.lines if line.get("tell") == "settled"}

    @cached_property
    def steps(self) -> list[int]:
        """The lines with commands."""
        return [at for at, line in enumerate(self.lines) if "send" in line]

    @cached_property
    def given(self) -> set[str]:
        """The answers that the tester has put in, in prompts, queues and hooks: no request is made for them."""
        sources = [{**each.command, "event": None, "result": None} for each in self.sent]
        return {canonical(with_times_hidden(each)) for each in _answers_in(sources)}

    def end_of_step(self, at: int) -> int:
        """The line of the next command, or the end."""
        step = bisect_right(self.steps, at)
        return self.steps[step] if step < len(self.steps) else len(self.lines)

    def command_of(self, at: int) -> Object:
        """The command in whose step a line is."""
        command: Object = self.lines[self.steps[bisect_right(self.steps, at) - 1]]["send"]
        return command

    def closes(self, asked: str) -> int:
        """The line from which on an ask is not open any more: done with, or withdrawn."""
        at = self.withdrawn.get(asked)
        return self.done(asked) if at is None else at

    def done(self, asked: str) -> int:
        """The line with which an ask is answered, or its stream closed."""
        answer = self.answered.get(asked)
        if answer is None:
            return len(self.lines)
        if answer.command.get("value") != "stream":
            return answer.at
        return next((each.at for each in self.sent if _closes(each.command, asked)), len(self.lines))

    def callbacks(self) -> Iterator[tuple[int, Object]]:
        """The asks that no listener was made."""
        return ((at, line) for at, line in enumerate(self.lines) if is_callback(line))


def runs(lines: Sequence[Object]) -> list[Run]:
    """Line by line the run that it is of."""
    return [
        (number, operation)
        for number, conversation in enumerate(conversations(lines))
        for operation in conversation.under_way
    ]


def conversations(lines: Sequence[Object]) -> list[Conversation]:
    """The conversations in a trace."""
    firsts = [at for at, line in enumerate(lines) if line.get("send", {}).get("cmd") == "create"]
    return [
        Conversation(lines[first:last]) for first, last in zip(firsts, [*firsts[1:], len(lines)], strict=True)
    ]


def _answers_in(value: Any) -> Iterator[Object]:
    if isinstance(value, dict) and value.get("role") == "assistant":
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _answers_in(item)


def _is_reply(line: Object) -> bool:
    """Whether it answers a command. (What settles, or nobody handled, is told with its error.)"""
    return "tell" not in line and ("reply" in line or "error" in line)


def _closes(command: Object, asked: str) -> bool:
    """Whether it closes the stream of an ask."""
    closing = command["cmd"] in ("end", "fail") or (
        command["cmd"] == "push" and command["event"].get("type") in ("done", "error")
    )
    return closing and canonical(command["ask"]) == asked


def _hearing(at: int, line: Object) -> Hearing | None:
    event = event_of(line)
    if event is None:
        return None
    if "tell" in line:
        return Hearing(at, line["key"], event, None, line.get("state"))
    return Hearing(at, line["ask"]["key"], event, canonical(line["ask"]), line["args"].get("state"))
