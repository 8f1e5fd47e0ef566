"""`unevaluatedItems` and `unevaluatedProperties`: what is asked of the members that no other keyword looked at."""

from __future__ import annotations

from collections.abc import Sequence

from ..checks import Path
from ..js_value import Plain
from .evaluated import Evaluated
from .keywords import members_of
from .rule import AnyRule, Report, Rule, faults_of


class _Leftovers(Rule[Plain]):
    """A rule for what is left.

    Args:
        schema: what is asked of each member that is left.
        others: the other rules of the schema. Reporting asks them anew what they look at.
    """

    __slots__ = ("_others", "_schema")

    def __init__(self, schema: AnyRule, others: Sequence[AnyRule]) -> None:
        self._schema = schema
        self._others = others


class LeftoverItems(_Leftovers):
    """`unevaluatedItems`."""

    __slots__ = ()

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        if not isinstance(value, list):
            return True
        assert seen is not None
        known = seen.indices
        for index, item in enumerate(value):
            if index not in known and not self._schema.accepts(item, seen):
                return False
            seen.indices.add(index)
        return True

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        if isinstance(value, list):
            known = _looked_at(self._others, value).indices
            left = [item for index, item in enumerate(value) if index not in known]
            if any(faults_of(self._schema, item, path, report) for item in left):
                report.add(path, "must not have unevaluated items")


class LeftoverMembers(_Leftovers):
    """`unevaluatedProperties`. Arrays have members too, by their indices, and no other keyword looks at these."""

    __slots__ = ()

    def accepts(self, value: Plain, seen: Evaluated | None, /) -> bool:
        members = members_of(value)
        if members is None:
            return True
        assert seen is not None
        known = seen.keys
        for key, item in members.items():
            if key not in known:
                if not self._schema.accepts(item, seen):
                    return False
                seen.keys.add(key)
        return True

    def explain(self, value: Plain, path: Path, report: Report, /) -> None:
        members = members_of(value)
        if members is not None:
            known = _looked_at(self._others, value).keys
            left = [item for key, item in members.items() if key not in known]
            if any(faults_of(self._schema, item, path, report) for item in left):
                report.add(path, "must not have unevaluated properties")


def _looked_at(rules: Sequence[AnyRule], value: Plain) -> Evaluated:
    seen = Evaluated()
    for rule in rules:
        rule.accepts(value, seen)
    return seen
