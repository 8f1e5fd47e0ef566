"""What is left out of a comparison, because it rightly differs between two subjects that behave the same.

Four things only, each with its presence kept: times and durations; the `partial` of an update that repeats
the update's message; texts that the host language makes (an exception's wording); and the detail of a
validation error. Texts that Pi fixes, and texts that come from the scenario itself, are compared to the
letter. What tools and users carry (arguments, details, schemas) is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pi_trio.jsonvalue import thaw

from .compare import canonical
from .fixed_texts import FIXED_TEXTS, TRUNCATED
from .protocol import Object

TIME: Final = "#"
"""Stands for a time or a duration."""

HOST_TEXT: Final = "(host text)"
"""Stands for a text whose wording is the host language's."""

_FIXED_PATTERN: Final = re.compile(
    r"Tool [^\n]* not found|"
    rf'Tool call "[^\n]*" {TRUNCATED}, so its arguments may be '
    r"truncated\. Re-issue the tool call with complete arguments\."
)
_VALIDATION: Final = re.compile(r'Validation failed for tool "[^\n]*?":')
_DRIVER: Final = re.compile(r"(driver|refused): ")

_OPAQUE: Final = frozenset({"arguments", "args", "details", "structuredContent", "parameters"})
"""Where the carried data begins. (The `args` of an ask are the envelope's, see `line`.)"""


class Normaliser:
    """Normalises the trace lines of one scenario; `texts` are the strings that occur in it."""

    def __init__(self, texts: frozenset[str]) -> None:
        self._texts = texts

    def line(self, line: Object) -> Object:
        """A normalised copy of one reaction or reply (not of what the tester sends)."""
        copied: Object = {key: None if key == "args" else self._value(item) for key, item in line.items()}
        if "args" in line:
            inner = (
                {key: self._field(key, item) for key, item in line["args"].items()}
                if "ask" in line
                else thaw(line["args"])
            )
            copied["args"] = self._result(inner) if "ask" in line else inner
        if isinstance(copied.get("error"), str):
            copied["error"] = self.text(copied["error"])
        if isinstance(copied.get("reply"), list):  # a burst's
            copied["reply"] = [self._outcome(item) for item in copied["reply"]]
        return copied

    def trace(self, lines: Iterable[Object]) -> tuple[Object, ...]:
        """The lines of a trace that was written down verbatim."""
        return tuple(line if _of_the_tester(line) else self.line(line) for line in lines)

    def text(self, text: str) -> str:
        """An error's text: as it is if it must be exact, else `HOST_TEXT`."""
        if text in self._texts or text in FIXED_TEXTS or _FIXED_PATTERN.fullmatch(text):
            return text
        if match := _VALIDATION.match(text):
            return match.group()
        if match := _DRIVER.match(text):
            return f"{match.group()}{HOST_TEXT}"
        return HOST_TEXT

    def _outcome(self, item: Any) -> Any:
        if isinstance(item, dict) and isinstance(item.get("error"), str):
            return {**item, "error": self.text(item["error"])}
        return item

    def _value(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        copied: Object = {key: self._field(key, item) for key, item in value.items()}
        if isinstance(copied.get("role"), str):
            self._message(copied)
        elif "type" in copied:
            self._event(copied)
        elif "isStreaming" in copied and isinstance(copied.get("errorMessage"), str):  # a state
            copied["errorMessage"] = self.text(copied["errorMessage"])
        return copied

    def _field(self, key: str, item: Any) -> Any:
        return thaw(item) if key in _OPAQUE else self._value(item)

    def _message(self, message: Object) -> None:
        _hide_time(message, "timestamp")
        if message["role"] == "toolResult":
            _hide_time(message, "durationMs")
            if message.get("isError") is True:
                self._content(message)
        elif message["role"] == "assistant" and isinstance(message.get("errorMessage"), str):
            message["errorMessage"] = self.text(message["errorMessage"])

    def _event(self, event: Object) -> None:
        if event["type"] == "tool_execution_end":
            _hide_time(event, "durationMs")
            self._result(event)
        elif event["type"] == "message_update":
            inner = event.get("assistantMessageEvent")
            if (
                isinstance(inner, dict)
                and "partial" in inner
                and _same(inner["partial"], event.get("message"))
            ):
                event["assistantMessageEvent"] = {
                    key: item for key, item in inner.items() if key != "partial"
                }

    def _result(self, holder: Object) -> Object:
        """An end's or afterToolCall's result: an error's text may be the host's."""
        if holder.get("isError") is True and isinstance(holder.get("result"), dict):
            self._content(holder["result"])
        return holder

    def _content(self, holder: Object) -> None:
        for block in holder["content"] if isinstance(holder.get("content"), list) else ():
            if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
                block["text"] = self.text(block["text"])


def _of_the_tester(line: Object) -> bool:
    """Whether the tester has said it, and not the subject."""
    return "send" in line or "unresolved" in line or "end" in line


def with_times_hidden(message: Object) -> Object:
    """A message that the tester gave, as it is shown."""
    times = (key for key in ("timestamp", "durationMs") if isinstance(message.get(key), (int, float)))
    return {**message, **dict.fromkeys(times, TIME)}


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON; Python alone would take `true` for 1."""
    return bool(left == right) and canonical(left) == canonical(right)


def _hide_time(holder: Object, field: str) -> None:
    value = holder.get(field)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        holder[field] = TIME
