"""A run as a person follows it: the answer on standard output as it comes, everything else on standard error.

So the answer alone goes into a file or a pipe. What comes from a model or a tool is shown without control characters
where a terminal would obey them.
"""

from __future__ import annotations

import os
import unicodedata
from typing import Final, Protocol, TextIO

from pi_trio.errors import CodecError
from pi_trio.events import (
    AgentEvent,
    MessageEnd,
    MessageUpdate,
    StreamEvent,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import JSON
from pi_trio.messages import AssistantMessage

from .json_mode import header, projected

WIDTH: Final = 100
"""Characters of a tool's arguments, and of a line of its result, that are shown."""

FAILURE: Final = 10
"""Lines of a failed result that are shown, the last ones among them: there stands how a command has ended."""

_BIDI: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What makes a text read otherwise than it is."""


class View(Protocol):
    """What is told of a run while it happens."""

    def show(self, event: AgentEvent) -> None:
        """Tell an event."""
        ...

    def end(self) -> None:
        """What has been told is all."""
        ...


class JsonView:
    """Every event as a line of JSON."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._say(header())

    def show(self, event: AgentEvent) -> None:
        self._say(projected(event))

    def end(self) -> None:
        """There is no last line."""

    def _say(self, said: JSON) -> None:
        self._out.write(f"{print_json(said)}\n")
        self._out.flush()


class TextView:
    """The answer as text; thinking, tool calls and their progress beside it.

    Args:
        out: gets the answer.
        err: gets everything else.
    """

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._dim = err.isatty() and "NO_COLOR" not in os.environ
        self._open: TextIO | None = None  # whose last line has not ended
        self._told = 0  # characters of the block that have been shown
        self._progress = ""

    def show(self, event: AgentEvent) -> None:
        match event:
            case MessageUpdate():
                self._show_growing(event.assistant_message_event)
            case MessageEnd() if isinstance(event.message, AssistantMessage):
                self.end()
            case ToolExecutionStart():
                self._note(f"→ {event.tool_name} {_arguments(event.args)}")
            case ToolExecutionUpdate():
                self._show_progress(event.partial_result.text)
            case ToolExecutionEnd():
                if event.is_error is True:
                    first, *others = _failure(event.result.text)
                    self._note(f"✗ {event.tool_name} {first}".rstrip())
                    for line in others:
                        self._note(f"  {line}")
                else:
                    self._note(f"✓ {event.tool_name} {_in_short(event.result.text)}".rstrip())
            case _:
                pass

    def end(self) -> None:
        """End the line that is open."""
        if self._open is not None:
            self._open.write("\n")
            self._open.flush()
            self._open = None

    def _show_growing(self, event: StreamEvent) -> None:
        match event:
            case TextDelta():
                self._write(self._out, event.delta)
            case TextEnd():
                self._write(self._out, "" if self._told else event.content)
                self.end()
                self._told = 0
            case ThinkingDelta() if self._dim:
                self._write(self._err, event.delta)
            case ThinkingEnd() if self._dim:
                self.end()
                self._told = 0
            case _:
                pass

    def _show_progress(self, text: str) -> None:
        line = text.rstrip().rpartition("\n")[2]
        if line and line != self._progress:
            self._progress = line
            self._note(f"  {_cut(line)}")

    def _write(self, to: TextIO, text: str) -> None:
        """Write a piece of a text, behind what of it was written before."""
        if not text:
            return
        if self._open is not to:
            self.end()
        self._told += len(text)
        shown = visible(text) if to.isatty() else text
        to.write(f"\x1b[2m{shown}\x1b[22m" if to is self._err else shown)
        to.flush()
        self._open = None if text.endswith("\n") else to

    def _note(self, line: str) -> None:
        self.end()
        shown = visible(line).replace("\n", " ")
        self._err.write(f"\x1b[2m{shown}\x1b[22m\n" if self._dim else f"{shown}\n")
        self._err.flush()


def visible(text: str) -> str:
    """A text with nothing in it that a terminal obeys, but for ends of lines and tabs."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_obeyed(each) else each for each in text)


def _is_obeyed(character: str) -> bool:
    return character not in "\n\t" and (unicodedata.category(character) == "Cc" or character in _BIDI)


def _arguments(arguments: JSON) -> str:
    try:
        return _cut(print_json(arguments))
    except CodecError:
        return "(arguments that JSON cannot hold)"


def _in_short(text: str) -> str:
    """The first line of a result, and how many there are."""
    first, *others = text.strip().split("\n")
    return f"{_cut(first)}{f' (+{len(others)} lines)' if others else ''}"


def _failure(text: str) -> list[str]:
    """The lines of a failed result; of many the first and the last, and how many there are between."""
    lines = [_cut(line) for line in text.split("\n") if line.strip()] or [""]
    left = len(lines) - FAILURE
    return lines if left <= 0 else [lines[0], f"(+{left + 1} lines)", *lines[left + 2 :]]


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
