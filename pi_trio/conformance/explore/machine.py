"""The state machine: Hypothesis draws where a conversation begins, and runs its steps.

What a step can be is in `stimuli`; what is wrong is told by `conversation`, and `shrinking` makes it small. One number is
drawn for a whole conversation, and chance follows from it. Drawn by Hypothesis one by one, the numbers would be small
ones mostly, and each conversation would be followed by five that differ from it in one step: three of four were held in a
setting that had been there before, and rare meetings of two things stayed away. Hypothesis runs the steps, and remembers
what shows a fault.
"""

from __future__ import annotations

import random
import sys
from typing import ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from .conversation import Conversation, House
from .judging import FaultFound
from .setting import SIZES, setting
from .shrinking import Made
from .stimuli import BY_NAME, NUMBERS, Move, draw

STEPS: Final = 40
"""Stimuli of one conversation, at most."""


class Machine(RuleBasedStateMachine):
    """One conversation. `machine_in` makes the class for a house."""

    house: ClassVar[House]

    @initialize(seed=st.binary(min_size=8, max_size=8))
    def begin(self, seed: bytes) -> None:
        """Create the agent."""
        self._chance = random.Random(seed)  # noqa: S311
        numbers = tuple(self._chance.randrange(size) for size in SIZES)
        self._numbers, self._moves = numbers, list[Move]()
        drawn = setting(numbers, self.house.hello)
        self._wheel = drawn.wheel
        self._conversation = Conversation(self.house, drawn.create, drawn.answers, again=drawn.again)

    @rule()
    def stimulate(self) -> None:
        """Do one thing that is possible now."""
        if self._conversation.over:
            return
        scene = self._conversation.scene
        move = draw(self._wheel, scene, self._chance.randrange(NUMBERS))
        command = None if move is None else BY_NAME[move.name].command(scene, move)
        if move is not None and command is not None:
            self._moves.append(move)
            self._conversation.step(command)

    def teardown(self) -> None:
        """Judge it as a whole; not if a fault was found, or Hypothesis has broken it off."""
        error = sys.exc_info()[1]
        if error is None:
            try:
                self._conversation.finish()
            except FaultFound as fault:
                self._remember(fault)
                raise
        elif isinstance(error, FaultFound):
            self._remember(error)

    def _remember(self, fault: FaultFound) -> None:
        """Say how the conversation was made that shows a fault."""
        fault.made = Made(self._numbers, tuple(self._moves))


def machine_in(house: House) -> type[Machine]:
    """The state machine whose conversations are held in that house."""
    return type("Machine", (Machine,), {"house": house})
