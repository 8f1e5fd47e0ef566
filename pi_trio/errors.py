"""The base of all errors of pi_trio, and those that several modules raise.

They derive from the builtin that fits, too, so that code that knows nothing of this package still catches what it
expects. An error that one module raises stands in that module; all of them can be had from `pi_trio`.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class PiTrioError(Exception):
    """Base class of every error that this package defines."""


class AgentBusyError(PiTrioError, RuntimeError):
    """The agent refuses because a run is active. The text is the one that Pi fixes for the refused method."""


class CannotContinueError(PiTrioError, RuntimeError):
    """`continue_()` finds nothing that a run could start from. The text is the one that Pi fixes."""


class CodecError(PiTrioError, ValueError):
    """A value is not what the protocol allows at its place.

    Attributes:
        path: where, counted from the value that was given: `messages[0].content[2].text`. Empty for that
            value itself.
        message: what was expected there, and what was found.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def under(self, *steps: str | int) -> CodecError:
        """The same complaint, seen from further outside: `steps` lead from there to this error's root.

        A string is the key of an object, a number the index of an array. Raise the result `from None`.
        """
        path = self.path
        for step in reversed(steps):
            path = join(step_text(step), path)
        return CodecError(path, self.message)


def step_text(step: str | int) -> str:
    """One step of a path: `name`, `[3]`, or `["any key"]` where the key is not a plain name."""
    if isinstance(step, int):
        return f"[{step}]"
    if _NAME.fullmatch(step):
        return step
    quoted = step.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'


def join(outer: str, inner: str) -> str:
    """Two paths as one."""
    separator = "." if outer and inner and not inner.startswith("[") else ""
    return f"{outer}{separator}{inner}"
