"""The faults that were found in real ports, as the tests of single parts of the tester need them: each with the
smallest scenario that shows it, and others that it does not touch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from pi_trio.conformance.mutants.catalogue import all_mutants
from pi_trio.conformance.mutants.planting import PLANTED
from pi_trio.conformance.verdict import Outcome

all_mutants()

SPARED: Final = {"F28": ("text_plain",)}
HANGING: Final = {"F25"}


@attrs.frozen(kw_only=True)
class Fault:
    """One fault.

    Attributes:
        owner, name: the one function that is replaced.
        make: gives the faulty version of the original; its docstring says what is wrong.
        shows: the smallest scenario that shows it.
        spares: scenarios that it does not touch.
        outcome: what the scenario that shows it comes out as.
    """

    id: str
    owner: Any
    name: str
    make: Callable[[Any], Any]
    shows: str
    spares: tuple[str, ...]
    outcome: Outcome


FAULTS: Final = [
    Fault(
        id=each.mutant.fault,
        owner=each.owner,
        name=each.attribute,
        make=each.make,
        shows=each.mutant.shows[0],
        spares=SPARED.get(each.mutant.fault, ("text_plain", "tool_single")),
        outcome=Outcome.HANG if each.mutant.fault in HANGING else Outcome.FAIL,
    )
    for each in PLANTED
    if each.mutant.fault
]
