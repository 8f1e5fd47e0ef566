"""One conversation that is made up on the way, on the runtime in this process, and judged at each step.

It does not know where its stimuli come from: the state machine draws them, and who replays a counterexample reads them
from its token. When it is over it is a `Scenario` like any other; it is played once more, which must give the same
trace, and, where the subject is not the runtime, on the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import attrs

from ..envelope import Envelope
from ..faults import SubjectFault, SubjectSilent
from ..lines import event_of
from ..lockstep import Drive, Guide, Run
from ..monitors import Force
from ..normalise import Normaliser
from ..protocol import Object
from ..scenario import Scenario
from ..wiretap import Wiretap
from .guest import Guest, at_once
from .judging import CRASH, HANG, REPLAY, REST, Fault, Watch, at_rest, found, unkept
from .scene import Scene
from .shares import Shares

NOT_COUNTED = frozenset({"create", "state", "sync"})
"""Commands that are no steps: they change nothing, or come before everything."""


_MANY: Final = 500
"""Agents that one runtime may have had."""


@attrs.define(kw_only=True)
class House:
    """What all conversations of one search have in common.

    Attributes:
        profile: what the runtime behaves as.
        force: the clauses that are in force.
        hello: what may be asked for, as a subject introduces itself.
        elsewhere: plays a conversation on the subject, and says what is wrong there; None: the runtime is the subject.
        held: what conversations were made of that are over, and showed nothing.
        known: the names of faults that were found before, and are passed by.
        steps: how many were made: accepted stimuli that do more than look.
        reached: the clauses that came into play.
        tick: called after each conversation.
        passed_by: the latest conversation came to a known fault, and ended there.
    """

    profile: str
    force: Force
    hello: Object
    elsewhere: Callable[[Run, Guest], Fault | None] | None = None
    held: set[bytes] = attrs.field(factory=set[bytes])
    known: set[str] = attrs.field(factory=set[str])
    shares: Shares = attrs.field(factory=Shares)
    steps: int = 0
    reached: set[str] = attrs.field(factory=set[str])
    tick: Callable[[], None] = lambda: None
    passed_by: bool = False
    _guest: Guest | None = None

    def guest(self) -> Guest:
        """The runtime; opened anew when the last one broke off."""
        if self._guest is None:
            self._guest = Guest(self.profile)
        return self._guest

    def tidy(self) -> None:
        """Between two conversations: after many of them, what is left of them is given up."""
        if self._guest is not None and self._guest.creations >= _MANY:
            self.close()

    def close(self) -> None:
        """End the runtime."""
        if self._guest is not None:
            guest, self._guest = self._guest, None
            guest.close()


class Conversation:
    """A conversation that begins with its agent. Every method raises `FaultFound` for what is wrong, once; where the
    fault is known the conversation is `over`, and nothing more is done in it.

    Args:
        create: the fields of the `create` command.
        answers: the rules by which asks are held, or answered.
        again: play it once more at its end, if it is the runtime that is judged.
    """

    def __init__(
        self, house: House, create: Object, answers: Sequence[Object], *, again: bool = True
    ) -> None:
        self._house, self._again = house, again
        house.passed_by = False
        house.tidy()
        self._create, self._answers = create, answers
        self._steps: list[Object] = []
        command = {"cmd": "create", **create}
        self.scene = Scene(house.hello, command)
        self.over = False
        self._watch = Watch(house.force, command, strict=True)
        self._sighting = house.shares.begin()
        self._counted = self._seen = 0
        self._drive = Drive(
            self._scenario(), house.guest(), Envelope(), Guide(), verbatim=True, wire=Wiretap(kept=0)
        )
        self._do(command)

    def step(self, command: Object) -> None:
        """Do one thing, and judge what comes of it."""
        if not self.over:
            self._steps.append(command)
            self._sighting.look(command, self.scene)
            self._do(command)

    def finish(self) -> None:
        """It is over: play it once more, or on the subject."""
        if not self.over:
            self._guarded(self._drive.finish())
        if self.over:
            return
        house = self._house
        if house.elsewhere is not None:
            run = self._written()
            if fault := house.elsewhere(run, house.guest()):
                self._show(fault, run)
        elif self._again:
            self._replay(house.guest())
        if wrong := unkept([*self._drive.lines, {"end": self._drive.ledger.state()}]):
            self._show(wrong)
        house.steps += self._counted
        house.reached |= self._watch.reached
        house.shares.end(self._sighting)
        house.tick()

    def _replay(self, guest: Guest) -> None:
        try:
            otherwise = guest.replayed()
        except SubjectFault as fault:
            self._broke_off(fault)
        else:
            if otherwise is not None:
                said = f"played again, it goes otherwise at the {otherwise['cmd']} with the number {otherwise['id']}"
                self._show(Fault(clause=REPLAY, cause="", said=said))

    def _do(self, command: Object) -> None:
        self._guarded(self._drive.step(command))
        if self.over:
            return
        lines = self._drive.lines[self._seen :]
        self._seen += len(lines)
        for fault in self._watch.follow(lines):
            self._show(fault)
        self.scene.follow(lines)
        if wrong := at_rest(self._house.guest().conversation, self.scene):
            self._show(Fault(clause=REST, cause=wrong, said=wrong))
        self._counted += command["cmd"] not in NOT_COUNTED and not is_refused(command, lines)

    def _guarded(self, driving: Coroutine[Any, Any, None]) -> None:
        try:
            at_once(driving)
        except SubjectFault as fault:
            self._broke_off(fault)

    def _broke_off(self, fault: SubjectFault) -> None:
        self._house.close()
        clause = HANG if isinstance(fault, SubjectSilent) else CRASH
        self._show(Fault(clause=clause, cause=fault.message, said=fault.message), self._written(fault))

    def _show(self, fault: Fault, run: Run | None = None) -> None:
        if not self.over:
            self.over = True
            if fault.name not in self._house.known:
                raise found(fault, run or self._written())
            self._house.passed_by = True

    def _written(self, broken_by: SubjectFault | None = None) -> Run:
        """The conversation so far, as a trace is written."""
        scenario = self._scenario()
        run = self._drive.written(broken_by)
        return attrs.evolve(run, scenario=scenario, lines=Normaliser(scenario.texts()).trace(run.lines))

    def _scenario(self) -> Scenario:
        """The conversation so far."""
        return Scenario(
            name="explored", title="Made up by exploration.", topic="exploration",
            create=self._create, answers=self._answers, steps=self._steps,
        )  # fmt: skip


def is_refused(command: Object, lines: Sequence[Object]) -> bool:
    """Whether a command made no sense to the agent in its present state, and had no effect."""
    if any("error" in line and "tell" not in line for line in lines[-1:]):
        return True
    if command["cmd"] not in ("prompt", "continue"):
        return False
    told = (line for line in lines if line.get("tell") == "settled" and line["op"] == command["op"])
    return any(not line["ok"] for line in told) and not any(
        (event_of(line) or {}).get("type") == "agent_start" for line in lines
    )
