"""What scripts are made of, a model's as well as a tool's."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar

from ..errors import PiTrioError
from ..messages import AssistantMessage, Content, ToolResult

A = TypeVar("A")
Asked = TypeVar("Asked")

#: In place of an answer: a function of what is asked, a request or a call, that gives it; plain or async.
Function: TypeAlias = Callable[[Asked], A | Awaitable[A]]


class ScriptError(PiTrioError, AssertionError):
    """A script and a run do not fit: it was too short or too long, or the test answers what does not wait for it."""


class Held(enum.Enum):
    """The type of `HELD`, its only member."""

    HELD = enum.auto()

    def __repr__(self) -> str:
        return "HELD"


HELD: Final = Held.HELD
"""In place of an answer: who asks waits until the test answers."""


def each_of(answers: A | Iterable[A]) -> tuple[A, ...]:
    """A script as it may be given: one answer, or several."""
    several: Any = answers
    if isinstance(answers, (str, Content, AssistantMessage, ToolResult)) or not isinstance(answers, Iterable):
        several = (answers,)
    return tuple(several)


def check_answer(answer: object, kinds: UnionType | tuple[type, ...], what: str) -> None:
    """See that something can stand in a script: an answer, a function, or `HELD`.

    Parameters:
        kinds: the types of answers.
        what: whose script it is.

    Raises:
        ScriptError: it is nonsense, which the run would take for a failure.
    """
    an_error = isinstance(answer, type) and issubclass(answer, BaseException)
    if an_error or not (isinstance(answer, (kinds, Held)) or callable(answer)):
        raise ScriptError(f"the script of {what} cannot have {answer!r}")


def text_of_error(error: str | Exception) -> str:
    """What an error says; its type if it says nothing."""
    return str(error) or type(error).__name__
