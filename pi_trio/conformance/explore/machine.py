"""The state machine: Hypothesis draws where a conversation begins, and runs its steps.

What a step can be is in `stimuli`; what is wrong is told by `conversation`, and `shrinking` makes it small. Hypothesis
runs all that, and remembers what shows a fault. It draws one number for a conversation, from which chance follows: it
likes small numbers, and those at the borders, and single draws made of them would be far from what the weights say.
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

STRETCH: Final = 10
"""Stimuli of one step of the machine: each step takes Hypothesis its time."""

STEPS: Final = 5
"""Steps of one conversation; the first creates the agent."""


class Machine(RuleBasedStateMachine):
    """One conversation. `machine_in` says where it is held."""

    house: ClassVar[House]

    @initialize(seed=st.binary(min_size=8, max_size=8))
    def begin(self, seed: bytes) -> None:
        """Create the agent. A conversation that was held before is not held again."""
        self._seed = seed
        self._conversation: Conversation | None = None
        if seed in self.house.held:
            self.house.tick()  # or a search that draws nothing new would never see that its time is up
            return
        self._chance = random.Random(seed)  # noqa: S311
        numbers = tuple(self._chance.randrange(size) for size in SIZES)
        self._numbers, self._moves = numbers, list[Move]()
        drawn = setting(numbers, self.house.hello)
        self._wheel = drawn.wheel
        self._conversation = Conversation(self.house, drawn.create, drawn.answers, again=drawn.again)

    @rule()
    def stimulate(self) -> None:
        """Do a few things, one after the other, each of which is possible then."""
        conversation = self._conversation
        for _ in range(STRETCH if conversation else 0):
            assert conversation is not None
            move = draw(self._wheel, conversation.scene, self._chance.randrange(NUMBERS))
            if move is not None and not conversation.over:
                self._moves.append(move)
                conversation.step(BY_NAME[move.name].command(conversation.scene, move))

    def teardown(self) -> None:
        """Judge it as a whole; not if a fault was found, or Hypothesis has broken it off."""
        error = sys.exc_info()[1]
        if error is None and self._conversation is not None:
            try:
                self._conversation.finish()
            except FaultFound as fault:
                self._remember(fault)
                raise
            self.house.held.add(self._seed)
        elif isinstance(error, FaultFound):
            self._remember(error)

    def _remember(self, fault: FaultFound) -> None:
        """Say how the conversation was made that shows a fault."""
        fault.made = Made(self._numbers, tuple(self._moves))


def machine_in(house: House) -> type[Machine]:
    """The state machine, whose conversations are held in that house from now on.

    It is the same class each time: by that the examples are known again.
    """
    Machine.house = house
    return Machine
