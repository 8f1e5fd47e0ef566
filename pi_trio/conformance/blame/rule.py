"""A rule of the table: under this condition, the difference is put down to the first of these clauses in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from .conditions import When
from .place import Place


def always(_place: Place) -> bool:
    """Under every condition."""
    return True


@attrs.frozen
class Rule:
    """Attributes:
    clauses: ids; where a behaviour differs by release, one for each side.
    when: the condition.
    """

    clauses: tuple[str, ...]
    when: When


Table: TypeAlias = Mapping[str, tuple[Rule, ...]]
"""The rules by the kind of a place, in the order in which they are asked."""


def rule(clauses: str, when: When = always) -> Rule:
    """A rule; the clauses are apart by blanks."""
    return Rule(tuple(clauses.split()), when)
