"""Which clauses a release breaks that is judged as another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_trio.conformance.clauses import Clauses

WITH_A_STOP_HOOK = frozenset({"0.80.2", "0.85.0"})
"""Their loops have the same stop hook; that only one of them has it in its Agent too is a matter of what is offered."""


def changed_clauses(
    clauses: Clauses, release: str, other: str, verdicts: Mapping[str, Mapping[str, Any]]
) -> set[str]:
    """What is in force as `other` and not as `release`, less what could not be played, and less rulings that no field
    decides: what they ask for may be done all the same.
    """
    there = {clause.id for clause in clauses.in_force(f"pi-{release}")}
    here = [clause for clause in clauses.in_force(f"pi-{other}") if clause.id not in there]
    return {
        clause.id
        for clause in here
        if not clause.of_transport  # which no agent is judged by
        and verdicts[clause.id]["standing"] != "NOT OFFERED"
        and not (clause.ruling and clause.field is None)
        and not (clause.field == "stop_hook" and {release, other} == WITH_A_STOP_HOOK)
    }
