"""What is wrong of the loop alone, and of nobody else: then it is the loop that differs from the agent (RUN-33).

One scenario cannot show that. So it is said of a whole judgement: a clause is broken only where the loop runs alone,
and where an agent runs it was seen kept. The clause is named all the same; this one says where to look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from .standing import Breach

SAYS_WHAT_AN_AGENT_SAYS: Final = "RUN-33"

_OF_FAILURES: Final = "FAIL-"
"""What becomes of a run that fails is the one thing in which they are meant to differ."""


def of_the_loop_alone(
    breaches: Iterable[Breach], alone: Collection[str], kept: Collection[str]
) -> Iterator[Breach]:
    """The breaches of RUN-33 that follow from others, one for each scenario.

    Args:
        alone: the names of the scenarios in which the loop runs alone.
        kept: the clauses that were seen kept where an agent runs.
    """
    breaches = [*breaches]
    elsewhere = {each.clause for each in breaches if each.scenario not in alone}
    told: set[str] = set()
    for each in breaches:
        is_own = each.clause in kept and each.clause not in elsewhere
        if is_own and not each.clause.startswith(_OF_FAILURES) and each.scenario not in told:
            told.add(each.scenario)
            yield Breach(
                clause=SAYS_WHAT_AN_AGENT_SAYS,
                scenario=each.scenario,
                cause=f"{SAYS_WHAT_AN_AGENT_SAYS}: an agent does it right",
                said=f"{each.clause} is kept by an agent, and not by the loop alone: {each.said}",
            )
