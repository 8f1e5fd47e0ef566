"""What the tester does not know: unknown fields, tells and events are set aside and counted, never held
against a subject.

A port may say more than the protocol asks for, and a later release may add events; neither is wrong. So every
message is reduced to what is named here before it enters a trace. Only the envelope is reduced (the message
itself, a callback's arguments, an event's own fields): what the agent carries, such as messages, results and
arguments, is passed through whole, unknown fields included, because handing it on unchanged is what a subject
is judged for.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from .lines import is_ask
from .protocol import Object

_ASK_FIELDS: Final = frozenset({"ask", "fn", "key", "args", "aborted"})
_REPLY_FIELDS: Final = frozenset({"re", "ok", "error"})

_TELL_FIELDS: Final = {
    "settled": frozenset({"tell", "op", "ok", "error"}),
    "signal": frozenset({"tell", "ask"}),
    "withdrawn": frozenset({"tell", "ask"}),
    "event": frozenset({"tell", "key", "event", "state"}),
    "prepareArguments": frozenset({"tell", "tool", "args"}),
    "unhandled": frozenset({"tell", "error"}),
}

_TURN: Final = frozenset({"message", "toolResults", "context", "newMessages"})
_CALL: Final = frozenset({"assistantMessage", "toolCall", "args", "context"})

_ARGUMENTS: Final = {
    "streamFn": frozenset({"model", "context", "options"}),
    "execute": frozenset({"tool", "toolCallId", "args"}),
    "beforeToolCall": _CALL,
    "afterToolCall": _CALL | {"result", "isError"},
    "prepareNextTurn": _TURN,
    "prepareNextTurnWithContext": _TURN,
    "finishTurn": _TURN,
    "shouldStopAfterTurn": _TURN,
    "prepareRequest": frozenset({"context", "model", "thinkingLevel"}),
    "transformContext": frozenset({"messages"}),
    "convertToLlm": frozenset({"messages"}),
    "getApiKey": frozenset({"provider"}),
    "listener": frozenset({"event", "state"}),
    "getSteeringMessages": frozenset[str](),
    "getFollowUpMessages": frozenset[str](),
}

_REQUEST_OPTIONS: Final = frozenset({"reasoning", "apiKey", "sessionId", "identity"})

_EVENT_FIELDS: Final = {
    "agent_start": frozenset({"type"}),
    "agent_end": frozenset({"type", "messages"}),
    "turn_start": frozenset({"type"}),
    "turn_end": frozenset({"type", "message", "toolResults"}),
    "message_start": frozenset({"type", "message"}),
    "message_update": frozenset({"type", "message", "assistantMessageEvent"}),
    "message_end": frozenset({"type", "message"}),
    "tool_execution_start": frozenset({"type", "toolCallId", "toolName", "args"}),
    "tool_execution_update": frozenset({"type", "toolCallId", "toolName", "args", "partialResult"}),
    "tool_execution_end": frozenset({"type", "toolCallId", "toolName", "result", "isError", "durationMs"}),
}

EVENT_TYPES: Final = frozenset(_EVENT_FIELDS)


class Envelope:
    """Reduces the messages of one subject, and counts what it has set aside.

    `strict`: nothing is set aside, so that whatever is unknown shows as a difference. What is unknown of the message
    itself then stands apart, in a field `unknown` that nobody looks into: its names may mean something elsewhere.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.ignored: Counter[str] = Counter()
        """How often each unknown thing was met, by a name that a person can look for."""

    def known(self, message: Object) -> Object | None:
        """What of a message the protocol knows; None if nothing of it.

        A listener's ask about an unknown event has to be answered all the same: see `is_foreign`.
        """
        if is_ask(message):
            fields, name = _ASK_FIELDS, str(message["fn"])
        elif "re" in message:
            fields, name = _REPLY_FIELDS, "re"
        else:
            name = message["tell"]
            fields = _TELL_FIELDS.get(name, frozenset({"tell"}))
        if self._strict:
            unknown = {field: value for field, value in message.items() if field not in fields}
            known = {field: value for field, value in message.items() if field in fields}
            return {**known, "unknown": unknown} if unknown else known
        if "tell" in message and name not in _TELL_FIELDS:
            self._count(f"tell {name}")
            return None
        if "tell" in message and name == "event" and message["event"]["type"] not in EVENT_TYPES:
            self._count(f"event {message['event']['type']}")
            return None
        reduced = self._reduce(message, fields, name)
        if is_ask(message) and name in _ARGUMENTS:
            reduced["args"] = self._arguments(name, reduced["args"])
        elif "event" in fields:
            reduced["event"] = self._event(reduced["event"])
        return reduced

    def is_foreign(self, ask: Object) -> bool:
        """Whether a listener is asked about an event of an unknown type. It is answered at once, untraced."""
        if self._strict or ask.get("fn") != "listener" or ask["args"]["event"]["type"] in EVENT_TYPES:
            return False
        self._count(f"event {ask['args']['event']['type']}")
        return True

    def _arguments(self, fn: str, args: Object) -> Object:
        args = self._reduce(args, _ARGUMENTS[fn], fn)
        if fn == "listener":
            args["event"] = self._event(args["event"])
        elif fn == "streamFn" and isinstance(args.get("options"), dict):
            args["options"] = self._reduce(args["options"], _REQUEST_OPTIONS, "streamFn options")
        return args

    def _event(self, event: Object) -> Object:
        fields = _EVENT_FIELDS.get(event["type"])
        return event if fields is None else self._reduce(event, fields, event["type"])

    def _reduce(self, value: Object, fields: frozenset[str], name: str) -> Object:
        unknown = value.keys() - fields
        for field in unknown:
            self._count(f"{name}.{field}")
        return {key: item for key, item in value.items() if key in fields}

    def _count(self, name: str) -> None:
        name = ascii(name[:80])[1:-1]
        self.ignored[name if name in self.ignored or len(self.ignored) < 100 else "(further ones)"] += 1
