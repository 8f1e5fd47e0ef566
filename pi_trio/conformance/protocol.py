"""The driver protocol as seen from the tester: its names, its framing, and the check of all that a subject
sends.

A subject is somebody else's program. Nothing that it writes is trusted: a line has a greatest length, a step
a greatest number of messages and bytes, and each message is checked for its shape before anything else looks
at it. What does not pass is a `ProtocolFault` that quotes the offender. Beyond the shape nothing is judged
here; unknown fields pass, and `envelope` sorts them out.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import attrs

from pi_trio.errors import CodecError
from pi_trio.jsontext import parse_json

from .faults import ProtocolFault, SubjectUnstartable
from .features import unknown_value
from .shown import shown

Object: TypeAlias = dict[str, Any]
"""A JSON object."""

PROTOCOL: Final = 1
"""The version of the driver protocol that this tester speaks."""

REQUIRED_COMMANDS: Final = (
    "create", "prompt", "continue", "abort", "steer", "followUp", "answer", "push", "end", "state",
)  # fmt: skip
"""The commands without which a subject is not conformant, whatever it does with the others."""

OPTIONAL_COMMANDS: Final = (
    "waitForIdle", "reset", "sync", "clearQueue", "subscribe", "unsubscribe", "setTools", "setMessages", "setOption",
    "messages", "peekQueued", "update", "fail", "advance", "burst",
)  # fmt: skip

COMMANDS: Final = frozenset(REQUIRED_COMMANDS + OPTIONAL_COMMANDS)


def missing_commands(hello: Object) -> tuple[str, ...]:
    """The required commands that a subject does not offer."""
    return tuple(name for name in REQUIRED_COMMANDS if name not in hello["commands"])


@attrs.frozen(kw_only=True)
class Limits:
    """How much a subject may say. Far above what any scenario needs; a subject that exceeds them is out of control,
    and what it says takes room in the tester, many times over.
    """

    line: int = 4 * 1024 * 1024
    """Bytes of one message."""
    messages: int = 5_000
    """Messages in answer to one command."""
    reply: int = 8 * 1024 * 1024
    """Bytes in answer to one command."""
    total: int = 32 * 1024 * 1024
    """Bytes between two `create` commands."""
    total_messages: int = 50_000
    """Messages between two `create` commands."""
    values: int = 1_000_000
    """Values in these messages, counted by the commas and brackets; each takes far more room than its text."""


LIMITS: Final = Limits()

NESTING: Final = 100
"""Objects and arrays within each other in one message, at most."""

NAMES: Final = 1_000
"""Names in one list of a `hello`, at most: what is offered is looked at for each scenario anew."""


class Framing:
    """Cuts a stream of bytes into lines. Chunk borders do not matter."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their ends.

        Raises:
            ProtocolFault: a line, finished or not, is longer than the limit.
        """
        *lines, last = chunk.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest = bytearray(last)
        else:
            self._rest += last
        if max(map(len, (*lines, self._rest))) > self._limit:
            raise ProtocolFault(f"a line is longer than {self._limit} bytes")
        return lines

    @property
    def rest(self) -> bytes:
        """An unfinished last line."""
        return bytes(self._rest)


def decode(line: bytes) -> Object:
    """The message that one line holds, with its shape checked.

    Raises:
        ProtocolFault: it is not a JSON object, or not a message of the protocol.
    """
    try:
        value = parse_json(line)
    except CodecError as error:
        raise ProtocolFault(f"not a JSON line ({error}): {_quote(line)}") from None
    except RecursionError:
        raise ProtocolFault(f"a line is nested too deeply: {_quote(line)}") from None
    if not isinstance(value, dict):
        raise ProtocolFault(f"a message is an object, this line is not: {_quote(line)}")
    message: Object = value
    if line.count(b"{") + line.count(b"[") > NESTING and _depth(message) > NESTING:
        raise ProtocolFault(f"a message is nested deeper than {NESTING}: {_quote(line)}")
    check(message)
    return message


def _depth(value: Any) -> int:
    """How deep a value is nested; without recursion, whose limit is what this is about."""
    depth, level = 0, [value]
    while level := [
        item
        for holder in level
        if isinstance(holder, (dict, list))
        for item in (holder.values() if isinstance(holder, dict) else holder)
    ]:
        depth += 1
    return depth


def check(message: Object) -> None:
    """Check the shape of one message from a subject.

    Raises:
        ProtocolFault: a field is missing, or not of its type.
    """
    kinds = [kind for kind in ("re", "ask", "tell") if kind in message]
    if kinds == ["ask", "tell"]:
        kinds = ["tell"]  # which may be about an ask
    if len(kinds) != 1:
        raise ProtocolFault(f"a message has one of re, ask and tell: {_quote(message)}")
    if kinds == ["re"]:
        _need(message, "re", int)
        if ("ok" in message) == ("error" in message):
            raise ProtocolFault(f"a reply has either ok or error: {_quote(message)}")
        if "error" in message:
            _need(message, "error", str)
    elif kinds == ["ask"]:
        _need(message, "ask", str)
        _need(message, "fn", str)
        _need(message, "args", dict)
        _may(message, "key", str)
        _may(message, "aborted", bool)
        if message["fn"] == "listener":
            _need(message, "key", str)
            _check_event(message, message["args"])
    else:
        _check_tell(message)


def _check_tell(message: Object) -> None:
    _need(message, "tell", str)
    match message["tell"]:
        case "settled":
            _need(message, "op", str)
            _need(message, "ok", bool)
            if not message["ok"]:
                _need(message, "error", str)
        case "signal" | "withdrawn":
            _need(message, "ask", str)
        case "event":
            _need(message, "key", str)
            _check_event(message, message)
        case "prepareArguments":
            _need(message, "tool", str)
            if "args" not in message:
                raise ProtocolFault(f"args is missing: {_quote(message)}")
        case "unhandled":
            _need(message, "error", str)
        case _:
            pass  # a later version's


def _check_event(message: Object, holder: Object) -> None:
    event = holder.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise ProtocolFault(f"an event is an object with a type: {_quote(message)}")
    _may(holder, "state", dict)


def check_hello(message: Object) -> None:
    """Check the first message of a subject.

    Raises:
        SubjectUnstartable: it is not a `hello` of this protocol; the message says what is wrong with it.
    """
    try:
        if message.get("tell") != "hello":
            raise ProtocolFault(f"the first message is not a hello: {_quote(message)}")
        _need(message, "protocol", int)
        for field in ("subject", "version", "profile"):
            _need(message, field, str)
        for field in ("hooks", "commands"):
            _need(message, field, list)
            if not all(isinstance(name, str) for name in message[field]):
                raise ProtocolFault(f"{field} is a list of names: {_quote(message)}")
        _may(message, "features", dict)
        for field, value in (*message.items(), *message.get("features", {}).items()):
            if isinstance(value, list) and len(value) > NAMES:
                raise ProtocolFault(f"more than {NAMES} {field}: {_quote(message)}")
        if wrong := unknown_value(message.get("features", {})):
            raise ProtocolFault(f"{wrong}: {_quote(message['features'])}")
        for field, choices in (("quiescence", ("exact", "none")), ("order", ("total", "partial"))):
            if message.get(field, choices[0]) not in choices:
                raise ProtocolFault(f"{field} is one of {', '.join(choices)}: {_quote(message)}")
    except ProtocolFault as fault:
        raise SubjectUnstartable(fault.message) from None
    if message["protocol"] != PROTOCOL:
        raise SubjectUnstartable(f"it speaks protocol {message['protocol']}, this tester speaks {PROTOCOL}")


_TYPE_NAMES: Final = {
    int: "an integer",
    str: "a string",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def _need(message: Object, field: str, kind: type) -> None:
    if field not in message:
        raise ProtocolFault(f"{field} is missing: {_quote(message)}")
    value = message[field]
    if not (_is_integer(value) if kind is int else isinstance(value, kind)):
        raise ProtocolFault(f"{field} is not {_TYPE_NAMES[kind]}: {_quote(message)}")


def _is_integer(value: Any) -> bool:
    """As JSON has it: 1.0 is 1, and true is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


def _may(message: Object, field: str, kind: type) -> None:
    if field in message:
        _need(message, field, kind)


def _quote(what: bytes | Object, width: int = 160) -> str:
    """The beginning of an offending line, printable."""
    if not isinstance(what, bytes):
        return shown(what, width)
    text = ascii(what.decode("utf-8", "replace"))[1:-1]
    return text if len(text) <= width else f"{text[:width]}…"
