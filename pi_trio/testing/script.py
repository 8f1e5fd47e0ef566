"""What scripts are made of, a model's as well as a tool's."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import UnionType
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from ..abort import AbortSignal
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
    one = (str, bytes, Mapping, AbstractSet, Content, AssistantMessage, ToolResult)
    if isinstance(answers, one) or not isinstance(answers, Iterable):
        several = (answers,)
    return tuple(several)


class Breakable(Protocol):
    """What a test looks at in the end, and is told there what has gone wrong in its own code."""

    def broken_by(self, error: AssertionError) -> None:
        """A function of a script has raised this, of which the run has made something else."""
        ...


#: Who was asked in a run, by the identity of its signal, which who was asked keeps.
_asked: Final[WeakValueDictionary[int, Breakable]] = WeakValueDictionary()


def asked_in(signal: AbortSignal, who: Breakable) -> None:
    """Have `who` told of all scripts that break in this run from now on. It has to keep the signal."""
    _asked[id(signal)] = who


def tell_broken(signal: AbortSignal, error: AssertionError) -> None:
    """Tell who was asked in this run of an error in a script."""
    who = _asked.get(id(signal))
    if who is not None:
        who.broken_by(error)


def check_answer(answer: object, kinds: UnionType | tuple[type, ...], what: str) -> None:
    """See that something can stand in a script: an answer, a function, or `HELD`.

    Args:
        kinds: the types of answers.
        what: whose script it is.

    Raises:
        ScriptError: it is nonsense, which the run would take for a failure.
    """
    an_error = isinstance(answer, type) and issubclass(answer, BaseException)
    if an_error or not (isinstance(answer, (kinds, Held)) or callable(answer)):
        raise ScriptError(f"the script of {what} cannot have {answer!r}")
