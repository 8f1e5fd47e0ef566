"""Lines of traces and of wires, as the monitors take them.

A trace names a callback by its function, its key and its number; on the wire it has an id that the subject made up. The
tester counts those of each function and key, and remembers each of them; a wire may be of any length. So here they all
have one count, and of those that were answered only the last ones are remembered.
"""

from __future__ import annotations

from typing import Any, Final

from pi_trio.conformance.faults import ProtocolFault
from pi_trio.conformance.lines import is_ask
from pi_trio.conformance.protocol import Object, check
from pi_trio.conformance.scenario import Address, ScenarioError, check_command
from pi_trio.conformance.shown import shown

from .lines import UnreadableError

_TRACE: Final = frozenset({"send", "reply", "unresolved", "end"})
_REMEMBERED: Final = 1000
"""How many callbacks that were answered may still be meant."""
_LINES: Final = 10_000
"""How many lines a golden trace may have, which is kept until it is whole."""
_UNDER_WAY: Final = 1000
"""How many operations may be under way."""
_OPERATIONS: Final = ("prompt", "continue", "waitForIdle")


def is_header(line: Object) -> bool:
    """Whether it begins a recorded trace."""
    return "scenario" in line and "release" in line


def is_wire(line: Object) -> bool:
    """Whether it went over the wire as it is; else it is a trace's."""
    if "cmd" in line or "re" in line:
        return True
    return type(line.get("ask")) is str if "ask" in line else line.get("tell") == "hello"


def is_of_trace(line: Object) -> bool:
    """Whether it may be a line of a trace."""
    return not _TRACE.isdisjoint(line) or "ask" in line or "tell" in line or line.keys() == {"error"}


def is_any(line: Object) -> bool:
    """Whether it may be a line of a recorded trace, of a trace, or of a wire."""
    return is_header(line) or is_wire(line) or is_of_trace(line)


def checked(line: Object) -> Object:
    """A line of a trace, if it has the shape of one.

    Raises:
        UnreadableError: it has not.
    """
    try:
        if "send" in line:
            check_command(line["send"], "send")
        if "ask" in line or "tell" in line:
            check(_as_message(line))
    except (ProtocolFault, ScenarioError) as fault:
        raise UnreadableError("no line of a trace", f": {fault}") from None
    return line


def _as_message(line: Object) -> Object:
    """The message that a line of a trace was, with some id."""
    if "ask" not in line:
        return line
    address = Address.from_json(line["ask"], "ask").to_json()
    return {**line, **(address if is_ask(line) else {}), "ask": "c"}


def cancels(command: Object) -> bool:
    """Whether the agent that is created has aborts that cancel."""
    options = command.get("options")
    return type(options) is dict and options.get("abortMode") == "cancel"


def does_something(command: Object) -> bool:
    """Whether there is anything to judge in what comes of a command: not so of those that only make an agent, or wait
    for it.
    """
    return command.get("cmd") not in ("create", "sync")


class Golden:
    """A golden trace, of which the runtime's side is judged.

    It is kept until it is whole: that it is one of aborts that cancel stands in no line but those that differ so.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[int, Object]] = []
        self.cancelling = False
        self.damaged = False
        """A line of it could not be read, so nothing of it is judged."""

    @property
    def whole(self) -> bool:
        return bool(self.lines) and "end" in self.lines[-1][1]

    def add(self, number: int, line: Object) -> None:
        """The next line, with its number.

        Raises:
            UnreadableError: it is no line of a golden trace.
        """
        if self.damaged:
            self.lines.clear()  # only its end is waited for
        if len(self.lines) == _LINES:
            raise UnreadableError(f"a golden trace that does not end within {_LINES:,} lines")
        self.cancelling = self.cancelling or line.get("ruling") == "D-10"
        for mark in ("=", "+"):
            if type(line.get(mark)) is dict:
                self.lines.append((number, line[mark]))
                return
        if "-" not in line:
            raise UnreadableError("no line of a golden trace")


class Wire:
    """Turns what goes over a wire into lines of a trace."""

    def __init__(self) -> None:
        self._forget()
        self.commands = False
        """The tester's side is there too."""

    def _forget(self) -> None:
        """A new agent."""
        self._made = 0
        self._open: dict[str, Object] = {}
        """The addresses of callbacks by their ids."""
        self._answered: dict[str, Object] = {}
        self._unsettled: set[str] = set()
        self._begun: list[str | None] = []
        """The operations of the latest command, of a burst for each in it."""

    @property
    def rests(self) -> bool:
        """Whether nothing is under way."""
        return not self.commands or not self._unsettled

    def translate(self, message: Object) -> Object:
        """The line of a trace that a message is.

        Raises:
            UnreadableError: it is no message of the protocol.
        """
        try:
            if "cmd" in message:
                inner = message.get("cmds")
                self._begun = [self._begins(each) for each in (inner if type(inner) is list else [message])]
                return checked({"send": self._command({k: v for k, v in message.items() if k != "id"})})
            check(message)
            if "re" in message:
                self._replied(message)
                return {"error": message["error"]} if "error" in message else {"reply": message["ok"]}
            return self._said(message)
        except ProtocolFault as fault:
            raise UnreadableError("no message of the driver protocol", f": {fault.message}") from None

    def _begins(self, command: Any) -> str | None:
        """The operation that a command begins, if it has a name of its own."""
        op = command.get("op") if type(command) is dict and command.get("cmd") in _OPERATIONS else None
        return op if type(op) is str and op not in self._unsettled else None

    def _replied(self, reply: Object) -> None:
        """What was refused is not under way."""
        outcomes = reply.get("ok")
        if not isinstance(outcomes, list) or len(outcomes) != len(self._begun):
            outcomes = [reply] * len(self._begun)  # a burst that was refused: all of it
        for op, outcome in zip(self._begun, outcomes, strict=True):
            if op is not None and isinstance(outcome, dict) and "error" in outcome:
                self._unsettled.discard(op)
        self._begun = []

    def overhear(self, message: Object) -> tuple[str, Object] | None:
        """Who hears which event by a message, if it is about one.

        Raises:
            UnreadableError: it is no message of the protocol.
        """
        if "cmd" in message:
            return None
        try:
            check(message)
        except ProtocolFault as fault:
            raise UnreadableError("no message of the driver protocol", f": {fault.message}") from None
        if message.get("tell") == "event":
            return message["key"], message["event"]
        if is_ask(message) and message["fn"] == "listener":
            return message["key"], message["args"]["event"]
        return None

    def _said(self, message: Object) -> Object:
        if is_ask(message):
            address = self._ask(message)
            rest = {key: value for key, value in message.items() if key not in ("ask", "fn", "key")}
            return {"ask": address, **rest}
        if self.commands and message["tell"] == "settled":
            if message["op"] not in self._unsettled:
                raise ProtocolFault(
                    f"it settles the operation {shown(message['op'])}, which is not under way"
                )
            self._unsettled.discard(message["op"])
        if "ask" not in message:
            return message
        address = self._address(message["ask"])
        if message["tell"] == "withdrawn":
            self._close(message["ask"])
        return {**message, "ask": address}

    def _ask(self, message: Object) -> Object:
        """The address of a new callback."""
        name = message["ask"]
        if name in self._open or name in self._answered:
            raise ProtocolFault(f"the ask id {shown(name)} is used twice")
        event = message["args"]["event"]["type"] if message["fn"] == "listener" else None
        address = Address(fn=message["fn"], key=message.get("key"), event=event, nth=self._made).to_json()
        self._made += 1
        self._open[name] = address
        return address

    def _close(self, name: str) -> None:
        """A callback has been answered, but may still be named."""
        address = self._open.pop(name, None)
        if address is not None:
            self._answered[name] = address
            if len(self._answered) > _REMEMBERED:
                del self._answered[next(iter(self._answered))]

    def _command(self, command: Object) -> Object:
        """A command with addresses for ids."""
        self.commands = True
        kind = command.get("cmd")
        if kind == "create":
            self._forget()
        if kind in _OPERATIONS and type(command.get("op")) is str:
            self._unsettled.add(command["op"])
            if len(self._unsettled) > _UNDER_WAY:
                raise ProtocolFault(f"more than {_UNDER_WAY:,} operations are under way")
        if type(command.get("cmds")) is list:
            inner = [self._command(each) if type(each) is dict else each for each in command["cmds"]]
            return {**command, "cmds": inner}
        if "ask" in command:
            address = self._address(command["ask"])
            over = kind in ("end", "fail") or (kind == "answer" and command.get("value") != "stream")
            if over and type(command["ask"]) is str:
                self._close(command["ask"])
            return {**command, "ask": address}
        return command

    def _address(self, asked: Any) -> Any:
        if type(asked) is not str:
            return asked
        address = self._open.get(asked) or self._answered.get(asked)
        if address is None:
            raise ProtocolFault(f"it names an ask that was not made, or long ago: {shown(asked)}")
        return address
