"""What a stored trace has to look like, checked before anybody looks into it.

A vector or a golden trace may have been cut off, or touched by hand. That is a fault of what the tester judges by. It
is named by file and line, and never laid at the door of a subject, or of the code that would stumble over it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pi_trio.errors import PiTrioError

from .faults import ProtocolFault
from .protocol import Object, check
from .scenario import Address, ScenarioError, check_command

_KINDS: Final = ("send", "tell", "ask", "reply", "unresolved", "end", "error")
"""What a line is, by the first of these that it has: a tell may also be about an ask, or have an error."""


class TraceFault(PiTrioError):  # noqa: N818
    """A line of a stored trace is none. The message says what is wrong, and `number` which line it is."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def check_trace(numbered: Iterable[tuple[int, Object]]) -> None:
    """Check each line, and that the trace is whole.

    Args:
        numbered: the lines, with their numbers in the file.

    Raises:
        TraceFault: a line is not what it must be, or `end` is not the last one, and nowhere else.
    """
    ended, number = False, 1
    for number, line in numbered:
        if ended:
            raise TraceFault(number, "behind the end of the trace nothing more was expected")
        try:
            _check_line(line)
        except (ProtocolFault, ScenarioError) as error:
            raise TraceFault(number, str(error)) from None
        ended = "end" in line
    if not ended:
        raise TraceFault(number, "the trace breaks off here: its last line is an end")


def _check_line(line: Object) -> None:
    """Raises: ProtocolFault or ScenarioError."""
    kind = next((kind for kind in _KINDS if kind in line), None)
    match kind:
        case "send":
            check_command(line["send"], "send")
        case "ask" | "tell":
            address = Address.from_json(line["ask"], "ask") if "ask" in line else None
            said = {**line, "ask": "(an ask)"} if address is not None else line
            if kind == "ask" and address is not None:
                said |= {"fn": address.fn} | ({} if address.key is None else {"key": address.key})
            check(said)
        case "unresolved":
            Address.from_json(line["unresolved"], "unresolved")
        case "end" | "error":
            if not isinstance(line[kind], str):
                raise ScenarioError(kind, f"a string was expected, not {line[kind]!r:.60}")
        case "reply":
            pass  # of which anything may come
        case _:
            raise ScenarioError("", f"a line of a trace has one of {', '.join(_KINDS)}")
