"""Plays a conversation again that exploration has made up, and judges it as it was judged then."""

from __future__ import annotations

import attrs

from ..lockstep import Run, drive
from ..scenario import Scenario
from .conversation import Conversation, House
from .guest import at_once
from .judging import Fault, FaultFound
from .remote import Lockstep


@attrs.frozen
class Replayed:
    """What came of it: the fault that it shows, if any, and what the subject did, with the wire."""

    fault: Fault | None
    run: Run


def replay(house: House, lockstep: Lockstep | None, scenario: Scenario) -> Replayed:
    """Play it. To be called under `quiet_house`.

    Raises:
        SubjectFault: the runtime broke off where it had not before.
    """
    fault: Fault | None = None
    if lockstep is not None:
        lockstep.player.tapped = True
    try:
        conversation = Conversation(house, scenario.create, scenario.answers)
        for step in scenario.steps:
            conversation.step(step)
        conversation.finish()
    except FaultFound as found:
        fault = found.fault
    run = None if lockstep is None else lockstep.latest
    try:
        return Replayed(fault, run or at_once(drive(scenario, house.guest())))
    finally:
        house.close()
