"""What a planted fault is, and the list of all that were entered.

A fault is a function that takes an original of the runtime and gives the faulty version, so it reads as the
difference that it makes. Its id is that of the catalogue of faults that were found in ports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs

from pi_trio.conformance.verdict import Outcome

Make: TypeAlias = Callable[[Any], Any]


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
    make: Make
    shows: str
    spares: tuple[str, ...]
    outcome: Outcome


FAULTS: Final[list[Fault]] = []


def fault(
    fault_id: str,
    owner: Any,
    name: str,
    *,
    shows: str,
    spares: tuple[str, ...] = ("text_plain", "tool_single"),
    outcome: Outcome = Outcome.FAIL,
) -> Callable[[Make], Make]:
    """Enter a fault under its id."""

    def enter(make: Make) -> Make:
        FAULTS.append(
            Fault(id=fault_id, owner=owner, name=name, make=make, shows=shows, spares=spares, outcome=outcome)
        )
        return make

    return enter
