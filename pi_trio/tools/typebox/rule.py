"""What a rule of a schema is, and how its faults are reported.

A rule answers twice. `accepts` decides, and stops at the first fault. `explain` is asked only about a value that was
refused as a whole, and goes through everything: the two need not agree where a release's own two ways do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Final, Protocol, TypeAlias, TypeVar

from ..checks import Fault, Path
from ..js_number import text_of
from ..js_value import Plain
from .evaluated import Evaluated
from .keywords import Node, number_at

#: A report ends after so many faults.
_MOST_FAULTS: Final = 8

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class Report:
    """The first faults, in order. `known` keeps what references have reported (see `Reference`)."""

    __slots__ = ("faults", "known")

    def __init__(self, known: dict[tuple[int, int, Path], list[Fault]] | None = None) -> None:
        self.faults: list[Fault] = []
        self.known = {} if known is None else known

    def add(self, path: Path, message: str, *, missing: str = "") -> None:
        """Report a fault at `path`, or at its member `missing`, which is named as it is."""
        # A path is printed with dots, and a slash in a key is taken for a step. Where that leaves no text it is the
        # root's, which is printed by another name.
        place = ".".join(path).replace("/", ".")
        if missing:
            place = f"{place}.{missing}" if place else missing
        self.take([Fault((place,) if place else (), message)])

    def take(self, faults: Iterable[Fault]) -> None:
        """Report faults that were found apart."""
        self.faults += faults
        del self.faults[_MOST_FAULTS:]

    def apart(self) -> Report:
        """An empty report for a trial, whose faults may be thrown away."""
        return Report(self.known)


class Rule(Protocol[T_contra]):
    """One keyword of a schema, or a few that belong together, about values of one kind."""

    def accepts(self, value: T_contra, seen: Evaluated | None, /) -> bool:
        """Whether `value` passes. Note in `seen`, if there is one, which members were looked at."""
        ...

    def explain(self, value: T_contra, path: Path, report: Report, /) -> None:
        """Report what is wrong with `value`, nothing if it passes."""
        ...


#: A rule about values of every kind; a schema as a whole is one.
AnyRule: TypeAlias = Rule[Plain]
#: Compiles a subschema, where it stands.
Compile: TypeAlias = Callable[[Plain], AnyRule]


class Demand(Rule[T]):
    """A keyword that tests a value by itself.

    Args:
        test: whether a value passes.
        complaint: what to report otherwise.
    """

    __slots__ = ("_complaint", "_test")

    def __init__(self, test: Callable[[T], bool], complaint: str) -> None:
        self._test = test
        self._complaint = complaint

    def accepts(self, value: T, _seen: Evaluated | None, /) -> bool:
        return self._test(value)

    def explain(self, value: T, path: Path, report: Report, /) -> None:
        if not self._test(value):
            report.add(path, self._complaint)


def size_rule(node: Node, keyword: str, noun: str) -> Iterator[Demand[Sized]]:
    """The rule for a `min…` or `max…` keyword on how many items or members a value has."""
    bound = number_at(node, keyword)
    if bound is None:
        return
    if keyword.startswith("max"):
        yield Demand(lambda value: len(value) <= bound, f"must not have more than {text_of(bound)} {noun}")
    else:
        yield Demand(lambda value: len(value) >= bound, f"must not have fewer than {text_of(bound)} {noun}")


def accepts_member(schema: AnyRule, member: Plain, seen: Evaluated | None) -> bool:
    """Whether a member of the value at hand passes, with notes of its own."""
    if seen is None:
        return schema.accepts(member, None)
    seen.enter()
    if not schema.accepts(member, seen):
        return False
    seen.leave()
    return True


def faults_of(schema: AnyRule, value: Plain, path: Path, report: Report) -> list[Fault]:
    """What `schema` would report about `value`."""
    trial = report.apart()
    schema.explain(value, path, trial)
    return trial.faults
