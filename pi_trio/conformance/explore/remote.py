"""The same conversations on another subject, in lockstep with the runtime under its profile and declared features.

A conversation is made up on the runtime, which is fast, and then played on the subject as any scenario is. Where they
part, monitors say which clause was broken; if they see nothing wrong, the place of the first difference does, unless a
ruling has been entered before: there a subject may do as its release.

Where a burst sets free what two calls do next, the protocol has no order for it: which of them is first hangs on how
many promises lie on the way in a release. So a conversation that parts at a burst is played once more, with those two
arranged as the runtime has them.

Hypothesis holds the main thread, and trio is its guest there; so the subject, for which one has to wait, is driven from
a thread of its own. Between the threads goes one scenario at a time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self

import attrs
import trio

from ..blame import blame
from ..compare import canonical
from ..faults import ProtocolFault, SubjectDied, SubjectUnstartable
from ..keeper import Keeper, Opener, open_keeper
from ..lockstep import Guide, Run, drive
from ..mirror import mirrored
from ..monitors import Force
from ..needs import is_exact, missing, needs
from ..protocol import Object
from ..scenario import Scenario
from .conversation import House
from .guest import Guest, at_once
from .judging import CRASH, HANG, LOCKSTEP, PROTOCOL, Fault, Watch
from .rulings import entered


class Player:
    """Drives one subject from a thread of its own, as long as its block lasts.

    Raises, on entering: SubjectUnstartable.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self.tapped = False
        """Whether what goes over the wire is kept."""
        self._ready: Future[Object] = Future()
        self._thread = threading.Thread(target=self._run, name="the subject's", daemon=True)
        self._token: trio.lowlevel.TrioToken
        self._jobs: trio.MemorySendChannel[tuple[Scenario, Guide, Future[Run]]]
        self.hello: Object = {}

    def play(self, scenario: Scenario, guide: Guide) -> Run:
        """Play one scenario.

        Raises:
            SubjectUnstartable: the subject cannot be started again.
        """
        done: Future[Run] = Future()
        self._token.run_sync_soon(self._jobs.send_nowait, (scenario, guide, done))
        return done.result()

    def __enter__(self) -> Self:
        self._thread.start()
        self.hello = self._ready.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._token.run_sync_soon(self._jobs.close)
        self._thread.join()

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._jobs, jobs = trio.open_memory_channel[tuple[Scenario, Guide, Future[Run]]](1)
        async with open_keeper(self._opener) as keeper:
            await keeper.start()
            self._ready.set_result(keeper.hello)
            async for scenario, guide, done in jobs:
                await self._play(keeper, scenario, guide, done)

    async def _play(self, keeper: Keeper, scenario: Scenario, guide: Guide, done: Future[Run]) -> None:
        try:
            done.set_result(await keeper.drive(scenario, guide, tapped=self.tapped))
        except Exception as error:
            done.set_exception(error)


@attrs.define
class Lockstep:
    """Compares a subject with the runtime, conversation by conversation.

    Attributes:
        compared: how many commands were compared and found equal.
        raced: in how many conversations two calls of one burst came in another order, and nothing else was otherwise.
        explained: how many conversations part where a ruling has been entered, by the first of them.
        unoffered: how many could not be played, by what the subject lacks.
        latest: what the subject did last.
    """

    player: Player
    force: Force
    compared: int = 0
    raced: int = 0
    explained: Counter[str] = attrs.field(factory=Counter[str])
    unoffered: Counter[str] = attrs.field(factory=Counter[str])
    latest: Run | None = None

    def judge(self, run: Run, guest: Guest) -> Fault | None:
        """Play on the subject what the runtime has played, and say what is wrong."""
        hello = self.player.hello
        scenario = run.scenario
        if not _is_as_pi(hello):
            scenario = mirrored(scenario, hello.get("features", {}))
            if scenario is not run.scenario:
                run = at_once(drive(scenario, guest))
            if lacks := missing(needs(scenario, run.lines), hello):
                self.unoffered.update(lacks)
                return None
        self.latest = other = self.player.play(scenario, Guide(lines=run.lines, order=run.lines))
        parted = first_difference(run.lines, other.lines)
        if parted is not None and other.fault is None and _is_of_burst(run.lines, parted):
            guide = Guide(lines=run.lines, order=run.lines, races=True)
            self.latest = other = self.player.play(scenario, guide)
            parted = first_difference(run.lines, other.lines)
            self.raced += parted is None
        self.compared += sum("send" in line for line in run.lines[:parted])
        if parted is None:
            return None
        if other.fault is not None:
            named = next((name for kind, name in _FAULTS.items() if isinstance(other.fault, kind)), HANG)
            return Fault(clause=named, cause="", said=other.fault.message)
        watch = Watch(self.force, scenario.create, strict=False)
        for fault in watch.follow(other.lines):
            return fault
        if rulings := entered(run.lines[: parted + 1]):
            self.explained[min(rulings)] += 1
            return None
        return self._blamed(run, other, parted)

    def _blamed(self, run: Run, other: Run, parted: int) -> Fault:
        in_force = frozenset(name for name, where in self.force.items() if where)
        cancelling = run.scenario.create.get("options", {}).get("abortMode") == "cancel"
        found = blame(run.lines, other.lines, in_force, cancelling=cancelling)
        if found is not None:
            return Fault(clause=found.clause, cause=found.cause, said=found.said)
        step = sum("send" in line for line in run.lines[: parted + 1])
        return Fault(clause=LOCKSTEP, cause="", said=f"it goes otherwise than the runtime at step {step}")


def beside(house: House, player: Player) -> Lockstep:
    """Have all that is held in a house played on a subject, too. Only what both offer is asked for then."""
    lockstep = Lockstep(player, house.force)
    theirs, ours = player.hello, house.hello
    common = {name: [each for each in theirs[name] if each in ours[name]] for name in ("hooks", "commands")}
    house.hello = {**theirs, **common, "profile": ours["profile"]}
    house.elsewhere = lockstep.judge
    return lockstep


_FAULTS: Final = {SubjectDied: CRASH, SubjectUnstartable: CRASH, ProtocolFault: PROTOCOL}
"""What a fault of the subject is called, if it is none of silence."""


def _is_as_pi(hello: Object) -> bool:
    """Whether it declares nothing in which it differs from Pi, so that it can play all that was made up for it."""
    return is_exact(hello) and set(hello.get("features", {})) <= _NO_LIMITS


_NO_LIMITS: Final = frozenset({"options", "settable", "targets", "loopHooks"})
"""Features that say what may be asked for, which is not made up then."""


def _is_of_burst(lines: Sequence[Object], index: int) -> bool:
    """Whether a line belongs to what a burst has caused."""
    return (
        next((line["send"]["cmd"] for line in reversed(lines[: index + 1]) if "send" in line), "") == "burst"
    )


def first_difference(expected: Any, got: Any) -> int | None:
    """The index of the first line in which two traces differ; None if they are equal.

    Where they are all equal to Python, which takes 1 for true, they are taken for equal: that is ten times as fast, and
    who confuses the two does so in written scenarios, too.
    """
    if expected == got:
        return None
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        if canonical(left) != canonical(right):
            return index
    return min(len(expected), len(got)) if len(expected) != len(got) else None
