"""A search: conversations for as long as one likes, and what came of it.

Hypothesis works in rounds, each of which forgets what was before. A fault that a round has found is known to those
behind it, and they look for others. What shows a fault is kept in the example database: with that the next search
begins.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.stateful import get_state_machine_test

from .conversation import House
from .examples import Lasting
from .judging import Fault, FaultFound
from .machine import STEPS, machine_in
from .outcome import Outcome
from .remote import Lockstep
from .shares import Shares
from .shrinking import shrink

ROUND: Final = 10
"""Conversations of one round. Behind these Hypothesis would begin to vary what it has, which does not help here."""

_UNCHECKED: Final = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
"""What Hypothesis finds unhealthy in a test, and is as it has to be here."""

FLAKY: Final = "FLAKY"
"""What a fault is called that did not show again when the same was played anew."""


class _Enough(BaseException):
    """The time is up. (No `Exception`: it is no fault, and Hypothesis lets it pass.)"""


def search(
    house: House,
    lockstep: Lockstep | None,
    *,
    seconds: float | None = None,
    conversations: int | None = None,
    examples: ExampleDatabase | None = None,
    home: Path | None = None,
    start: int | None = None,
    fail_fast: bool = False,
    report: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Search until the time is up, or there were enough conversations.

    Args:
        lockstep: what compares with the subject, if that is not the runtime.
        examples: where the examples are kept; None: nowhere.
        home: a folder for what Hypothesis keeps for itself.
        start: a number from which all that is drawn is derived, whatever examples there are; None: by chance.
        fail_fast: the first fault is the last.
        report: told what came of it so far, after each conversation.

    To be called under `quiet_house`.
    """
    began = time.monotonic()
    outcome = Outcome(profile=house.profile, shares=house.shares)
    numbers = random.Random(start)  # noqa: S311
    database = None if examples is None else Lasting(examples, house)

    def tick() -> None:
        outcome.seconds = time.monotonic() - began
        outcome.steps, outcome.reached = house.steps, house.reached
        if lockstep is not None:
            outcome.compared, outcome.raced = lockstep.compared, lockstep.raced
            outcome.explained, outcome.unoffered = lockstep.explained, lockstep.unoffered
        report(outcome)
        if seconds is not None and outcome.seconds >= seconds:
            raise _Enough

    house.tick = tick
    if home is not None:
        set_hypothesis_home_dir(home)  # or it makes a folder where the user happens to be
    try:
        while conversations is None or house.shares.conversations < conversations:
            test = get_state_machine_test(
                machine_in(house),
                settings=settings(
                    max_examples=ROUND, stateful_step_count=STEPS, database=database, deadline=None,
                    phases=[Phase.reuse, Phase.generate], suppress_health_check=_UNCHECKED,
                    verbosity=Verbosity.quiet, print_blob=False, report_multiple_bugs=False,
                    derandomize=False,  # which is Hypothesis's default under CI: each round would be the first
                ),
            )  # fmt: skip
            if start is not None:
                test = seed(numbers.getrandbits(64))(test)  # which leaves the examples out
            _round(test, house, lockstep, outcome, report)
            if outcome.found and fail_fast:
                break
    except _Enough:
        pass
    finally:
        house.close()
        set_hypothesis_home_dir(None)
    return outcome


def _round(
    test: Callable[[], None],
    house: House,
    lockstep: Lockstep | None,
    outcome: Outcome,
    report: Callable[[Outcome], None],
) -> None:
    """One round of conversations; what it finds is made small, and known from then on."""
    try:
        test()
    except (Exception, BaseExceptionGroup) as error:
        shown = _first(error)
        if shown is None:
            raise
        house.close()
        outcome.enter(shown.fault, shown.run)
        report(outcome)  # whoever breaks off while it is made smaller has it
        final = shown
        if isinstance(error, Flaky):
            said = f"seen once, and not again: {shown}"
            final = FaultFound(Fault(clause=FLAKY, cause=shown.fault.name, said=said), shown.run)
        elif shown.made is not None:
            with _uncounted(house, lockstep):
                final = shrink(house, shown.made, shown)
        del outcome.found[shown.fault.name]
        outcome.enter(final.fault, final.run)
        house.known |= {final.fault.name, shown.fault.name}
        house.tick()


@contextmanager
def _uncounted(house: House, lockstep: Lockstep | None) -> Generator[None]:
    """Inside, something is made smaller: that is no search, and the time for it is not up."""
    counts = house.shares, house.steps, house.reached, house.tick
    of_subject = lockstep and (lockstep.compared, lockstep.raced, lockstep.explained, lockstep.unoffered)
    house.shares, house.reached, house.tick = Shares(), set[str](), _no_tick
    if lockstep:
        lockstep.explained, lockstep.unoffered = Counter(), Counter()
    try:
        yield
    finally:
        house.shares, house.steps, house.reached, house.tick = counts
        if lockstep and of_subject:
            lockstep.compared, lockstep.raced, lockstep.explained, lockstep.unoffered = of_subject


def _no_tick() -> None:
    """Nobody is told."""


def _first(error: BaseException | None) -> FaultFound | None:
    """The fault that is behind an error."""
    if error is None or isinstance(error, FaultFound):
        return error
    inside = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    behind = (*inside, error.__cause__, error.__context__)
    return next((found for each in behind if (found := _first(each)) is not None), None)
