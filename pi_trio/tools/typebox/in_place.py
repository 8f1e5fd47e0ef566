"""Rules that hand the same value on to other schemas: references, `if`, `not`, `allOf`, `anyOf`, `oneOf`.

Where notes are taken for the `unevaluated…` keywords, every branch takes its own, and all of them are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ..checks import Path
from ..js_value import Plain
from .evaluated import Evaluated
from .rule import AnyRule, Report, Rule, faults_of


class Reference(Rule[Plain]):
    """`$ref`.

    A recursive choice explains every branch, and each branch the same children again, which would double the work at
    every level; so what was reported about a value is kept with the report.
    """

    __slots__ = ("_target",)

    def __init__(self, target: AnyRule) -> None:
        self._target = target

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        if seen is None:
            return self._target.accepts(value, None)
        own = Evaluated()
        if not self._target.accepts(value, own):
            return False
        seen.merge([own])
        return True

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        if not isinstance(value, dict | list):
            self._target.explain(value, path, report)
            return
        key = (id(self._target), id(value), path)
        if key not in report.known:
            report.known[key] = faults_of(self._target, value, path, report)
        report.take(report.known[key])


class Conditional(Rule[Plain]):
    """`if`, with `then` or `else` or both or neither."""

    __slots__ = ("_condition", "_otherwise", "_then")

    def __init__(self, condition: AnyRule, then: AnyRule, otherwise: AnyRule) -> None:
        self._condition = condition
        self._then = then
        self._otherwise = otherwise

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        branch = self._then if self._condition.accepts(value, seen) else self._otherwise
        return branch.accepts(value, seen)

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        if not faults_of(self._condition, value, path, report):
            if faults_of(self._then, value, path, report):
                report.add(path, 'must match "then" schema')
            return
        faults = faults_of(self._otherwise, value, path, report)
        report.take(faults)
        if faults:
            report.add(path, 'must match "else" schema')


class Not(Rule[Plain]):
    """`not`."""

    __slots__ = ("_schema",)

    def __init__(self, schema: AnyRule) -> None:
        self._schema = schema

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        return not self._schema.accepts(value, None if seen is None else Evaluated())

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        if not faults_of(self._schema, value, path, report):
            report.add(path, "must not be valid")


class Branches(Rule[Plain]):
    """`allOf`, `anyOf` or `oneOf`: a number of branches must pass, at least `least` and at most `most`.

    Args:
        complaint: what to report if it is another number; None for nothing beside the branches' own faults.
    """

    __slots__ = ("_complaint", "_least", "_most", "_schemas")

    def __init__(
        self, schemas: Sequence[AnyRule], least: int, most: float = inf, complaint: str | None = None
    ) -> None:
        self._schemas = schemas
        self._least = least
        self._most = most
        self._complaint = complaint

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        if seen is None:
            return self._accepts_without_notes(value)
        passed: list[Evaluated] = []
        for schema in self._schemas:
            own = Evaluated()
            if schema.accepts(value, own):
                passed.append(own)
        if not self._least <= len(passed) <= self._most:
            return False
        seen.merge(passed)
        return True

    def _accepts_without_notes(self, value: Plain) -> bool:
        passed, left = 0, len(self._schemas)
        for schema in self._schemas:
            left -= 1
            passed += schema.accepts(value, None)
            if passed + left < self._least:
                return False
            if passed >= self._least and self._most == inf:
                return True
        return self._least <= passed <= self._most

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        trials = [faults_of(schema, value, path, report) for schema in self._schemas]
        passed = trials.count([])
        if self._least <= passed <= self._most:
            return
        if passed < self._least:
            for faults in trials:
                report.take(faults)
        if self._complaint is not None:
            report.add(path, self._complaint)
