"""Compares two results as JSON, and judges what differs by the decisions that were made (`decisions.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from .cases import Case
from .decisions import DECISIONS, Decision, Difference
from .lockstep import Outcome
from .normalise import normalised

_ABSENT = "(absent)"


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[Difference]:
    """Where two JSON values differ, as deep as can be; the order of an object's keys does not count."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in [*theirs, *(key for key in ours if key not in theirs)]:
            yield from differences(
                theirs.get(key, _ABSENT), ours.get(key, _ABSENT), f"{path}.{key}" if path else key
            )
    elif isinstance(theirs, list) and isinstance(ours, list):
        for index in range(max(len(theirs), len(ours))):
            one, other = (side[index] if index < len(side) else _ABSENT for side in (theirs, ours))
            yield from differences(one, other, f"{path}[{index}]")
    elif _as_double(theirs) != _as_double(ours) or isinstance(theirs, bool) != isinstance(ours, bool):
        yield Difference(path, theirs, ours)


def _as_double(value: Any) -> Any:
    """The value; of a number the one that JavaScript means: digits beyond it are only printed."""
    return float(value) if isinstance(value, int) else value


@attrs.frozen
class Judged:
    """What became of many outcomes.

    Attributes:
        equal: how many cases are equal.
        decided: how many differ only in what a decision allows, by its id.
        differing: the rest: the outcome, and its differences that no decision covers.
    """

    equal: int
    decided: dict[str, int]
    differing: list[tuple[Outcome, list[Difference]]]

    def stale(
        self, release: str, apis: Iterable[str], decisions: Sequence[Decision] = DECISIONS
    ) -> list[str]:
        """The decisions that have something to say on these apis in this release, and were never needed."""
        wanted = set(apis)
        return [
            each.id
            for each in decisions
            if each.id not in self.decided and wanted & set(each.apis) and release in each.releases
        ]


def judge(outcomes: Iterable[Outcome], release: str, decisions: Sequence[Decision] = DECISIONS) -> Judged:
    """Compare every outcome."""
    equal = 0
    decided: dict[str, int] = {}
    differing: list[tuple[Outcome, list[Difference]]] = []
    for outcome in outcomes:
        found = list(differences(_said(outcome.case, outcome.theirs), _said(outcome.case, outcome.ours)))
        left: list[Difference] = []
        used: set[str] = set()
        for difference in found:
            names = [each.id for each in decisions if each.allows(outcome.case, difference, release)]
            used.update(names[:1])
            if not names:
                left.append(difference)
        for name in used:
            decided[name] = decided.get(name, 0) + 1
        equal += not found
        if left:
            differing.append((outcome, left))
    return Judged(equal, decided, differing)


def _said(case: Case, result: dict[str, Any]) -> dict[str, Any]:
    said = normalised(result)
    if any(call.get("abort") == -1 for call in case["calls"]):
        # What was aborted before it began may still have come as far as the server, or not.
        said |= {"requests": [], "unused": 0, "calls": [{**call, "holds": []} for call in said["calls"]]}
    return said


def shown(outcome: Outcome, found: Sequence[Difference], limit: int = 6) -> str:
    """A differing case for people: what it is, and where the two part."""
    lines = [outcome.case["name"]]
    for difference in found[:limit]:
        lines += [
            f"  {difference.path}",
            f"    pi:   {str(difference.theirs)[:400]}",
            f"    ours: {str(difference.ours)[:400]}",
        ]
    if len(found) > limit:
        lines.append(f"  … and {len(found) - limit} more")
    return "\n".join(lines)
