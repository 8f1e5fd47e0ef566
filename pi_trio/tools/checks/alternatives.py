"""`anyOf` and `oneOf`, and which branch takes the blame.

To report the faults of every branch would bury the one that was meant. Where the branches are told apart by a constant
(a tag), the tag in the value picks the branch, or is itself the fault. Otherwise the branch is blamed that declares
most of the value's keys, and among equals the first of those whose first fault lies deepest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..js_value import Plain, comparable, same
from .atoms import listing
from .rule import Path, Report, Seen, pointer_length

if TYPE_CHECKING:
    from .schema import Schema


class Branch:
    """One alternative: its schema, and the properties that it (or what it refers to) declares."""

    __slots__ = ("properties", "schema")

    def __init__(self, schema: Schema, node: Plain) -> None:
        self.schema = schema
        declared = node.get("properties") if isinstance(node, dict) else None
        #: None where nothing is declared, not even no property.
        self.properties = declared if isinstance(declared, dict) else None


class Alternatives:
    """`anyOf`, or `oneOf` where `exactly_one`."""

    __slots__ = ("_branches", "_exactly_one", "_tag")

    def __init__(self, branches: Sequence[Branch], *, exactly_one: bool) -> None:
        self._branches = branches
        self._exactly_one = exactly_one
        self._tag = _tag_of(branches)

    def accepts(self, value: Plain, seen: Seen | None) -> bool:
        passed = 0
        for branch in self._branches:
            # A branch that fails has seen nothing.
            own = None if seen is None else Seen()
            if branch.schema.accepts(value, own):
                if seen is not None and own is not None:
                    seen.add(own)
                elif not self._exactly_one:
                    return True
                passed += 1
                if passed > 1 and self._exactly_one:
                    return False
        return passed > 0

    def explain(self, value: Plain, path: Path, report: Report) -> None:
        passed = sum(branch.schema.accepts(value) for branch in self._branches)
        if passed == 1 or (passed > 1 and not self._exactly_one):
            return
        if passed > 1:
            report.add(path, "matches more than one alternative")
        elif self._tag is not None and isinstance(value, dict):
            self._explain_by_tag(value, path, report)
        else:
            self._explain_best(value, path, report)

    def _explain_by_tag(self, value: dict[str, Plain], path: Path, report: Report) -> None:
        assert self._tag is not None
        key, tags = self._tag
        if key in value:
            for branch, tag in zip(self._branches, tags, strict=True):
                if same(value[key], tag):
                    branch.schema.explain(value, path, report)
                    return
        report.add((*path, key), f"expected one of {listing(tags)}")

    def _explain_best(self, value: Plain, path: Path, report: Report) -> None:
        best, best_rank = None, (-1, -1)
        for branch in self._branches:
            trial = report.apart()
            branch.schema.explain(value, path, trial)
            if trial.faults:
                rank = (_keys_declared(branch, value), pointer_length(trial.faults[0].path))
                if rank > best_rank:
                    best, best_rank = trial, rank
        if best is None:
            report.add(path, "matches no alternative")
        else:
            report.faults += best.faults


def _keys_declared(branch: Branch, value: Plain) -> int:
    if not isinstance(value, dict) or branch.properties is None:
        return 0
    return sum(key in branch.properties for key in value)


def _tag_of(branches: Sequence[Branch]) -> tuple[str, list[Plain]] | None:
    """The first property that every branch pins to an atom of its own, with those atoms."""
    if not branches or branches[0].properties is None:
        return None
    for key in branches[0].properties:
        tags: list[Plain] = []
        for branch in branches:
            pinned = (branch.properties or {}).get(key)
            if not isinstance(pinned, dict) or isinstance(pinned.get("const", []), dict | list):
                break
            tags.append(pinned["const"])
        if len(tags) == len(branches) == len(set(map(comparable, tags))):
            return key, tags
    return None
