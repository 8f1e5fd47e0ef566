"""Every order of gates: a batch whose calls report and end when the tester says so, in every order that there is.

Each call has a track of gates: its reports, its return, and perhaps a report that comes too late. An abort and a
steering message are a track of one gate each. An order of all gates is a scenario like any other, so it can be driven
through anybody, and shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

import attrs
import trio

from pi_trio.conformance.fixed_texts import ABORTED
from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.lines import event_of
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.needs import is_exact, missing, needs
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.scripting import (
    abort,
    assistant,
    call,
    done,
    finish,
    prompt,
    scenario,
    state,
    steer,
    tool,
    topic,
    update,
)
from pi_trio.conformance.subjects.choice import runtime_inside

from .judged import faults_in_trace
from .laws import call_ids, faults_of, faults_of_state, report, rest_of, returned, told
from .orders import number_of_orders, orders
from .scope import STEERED, Beside, Fault, Mode, OrderError, Play, name_of, title_of

_AT_ONCE: Final = 100
"""Orders that are driven before they are judged."""

_PATIENCE: Final = 30.0
"""Seconds for a reply."""

_HEARING: Final = "feature listeners"
"""What nobody can do without: all that is judged is what a listener hears."""

_BESIDE: Final[Mapping[str, Object]] = {"abort": abort(), "steer": steer(STEERED)}


@attrs.frozen(kw_only=True)
class Gates:
    """One such scope.

    Attributes:
        calls, updates: how many calls there are, and how often each reports.
        beside: what else happens once, at every point.
        mode: whether an abort is advice, or cancels.
        late: each call reports once more when it has returned.
        profile: as which release is judged.
        subject: opens who is judged; None: the runtime of this package, which keeps the rulings too.
    """

    calls: int
    updates: int
    beside: tuple[Beside, ...] = ()
    mode: Mode = "signal"
    late: bool = False
    profile: str = "pi-1.6.0"
    subject: Opener | None = None

    @property
    def name(self) -> str:
        """Such as `gates-3x2-abort-cancel`."""
        late = ("late",) if self.late else ()
        return name_of("gates", self.calls, self.updates, self.beside, self.mode, *late)

    @property
    def title(self) -> str:
        """In words."""
        return title_of("every order of gates", self.calls, self.updates, self.beside)

    @cached_property
    def _tracks(self) -> tuple[tuple[str, ...], ...]:
        return (
            *((each,) * (self.updates + 1 + self.late) for each in call_ids(self.calls)),
            *((one,) for one in self.beside),
        )

    @property
    def orders(self) -> int:
        """How many there are."""
        return number_of_orders([len(track) for track in self._tracks])

    def plays(self) -> Iterator[Play]:
        """Each order."""
        left = orders(self._tracks)
        while some := [*islice(left, _AT_ONCE)]:
            yield from self._plays(some)

    def again(self, order: tuple[str, ...]) -> Play:
        """One order. Raises: OrderError."""
        if sorted(order) != sorted(gate for track in self._tracks for gate in track):
            gates = ", ".join(f"{len(track)} times {track[0]}" for track in self._tracks)
            raise OrderError(f"an order of {self.name} has {gates}")
        (play,) = self._plays([order])
        return play

    @cached_property
    def _base(self) -> Scenario:
        """The scenario up to where the first gate can be opened, and what is looked at behind the last one."""
        ids = call_ids(self.calls)
        calls = done(assistant(*(call(each, each) for each in ids), stop="toolUse"))
        (made,) = topic(
            "scopes",
            scenario(
                "order_of_gates",
                "One order of gates.",
                tools=[tool(each) for each in ids],
                settings={"abortMode": self.mode},
                responses=[(calls,), *[(done(assistant("done")),)] * 2],
                steps=[prompt("go"), state()],
            ),
        )
        return made

    def scenario(self, order: Sequence[str]) -> Scenario:
        """An order as a scenario."""
        opened = dict.fromkeys(call_ids(self.calls), 0)
        steps: list[Object] = []
        for gate in order:
            if gate in _BESIDE:
                steps.append(_BESIDE[gate])
                continue
            opened[gate] += 1
            returns = opened[gate] == self.updates + 1
            steps.append(
                finish(gate, returned(gate)) if returns else update(gate, report(gate, opened[gate]))
            )
        first, last = self._base.steps
        return attrs.evolve(self._base, title=" ".join(order), steps=(first, *steps, last))

    def _plays(self, some: Sequence[tuple[str, ...]]) -> Iterator[Play]:
        opener = self.subject or runtime_inside(self.profile, _PATIENCE)
        return map(self._play, some, _driven(opener, [self.scenario(order) for order in some]))

    def lacks(self, hello: Object) -> tuple[str, ...]:
        """What a subject would have to offer, and does not, to be driven through this scope."""
        # Whatever is beside comes while the batch runs, and the abort last, which may end it.
        gates = (gate for track in self._tracks[: self.calls] for gate in track)
        scenario = self.scenario([*sorted(self.beside, reverse=True), *gates])
        (run,) = _driven(runtime_inside(self.profile, _PATIENCE), [scenario])
        exact = () if is_exact(hello) else ("quiescence: exact, and order: total",)
        return (*missing({*needs(scenario, run.lines), _HEARING}, hello), *exact)

    def _play(self, order: tuple[str, ...], run: Run) -> Play:
        events = tuple(event for line in run.lines if (event := event_of(line)) is not None)
        fate = self._fate(order)
        return Play(
            order=order,
            events=events,
            alike=(fate.cut, fate.aborted, fate.steered),
            rest=rest_of(events, _states(run)),
            faults=tuple(self._faults(run, events, fate)),
        )

    def _faults(self, run: Run, events: Sequence[Object], fate: _Fate) -> Iterator[Fault]:
        if run.fault is not None:
            yield Fault("it breaks off", run.fault.message)
            return
        if run.lines[-1] != {"end": "settled"}:
            yield Fault("it settles", f"it ends {run.lines[-1]['end']}")
            return
        yield from faults_of_state(_states(run))
        cancelling, strict = self.mode == "cancel", self.subject is None
        yield from faults_in_trace(run.lines, self.profile, cancelling=cancelling, strict=strict)
        yield from faults_of(events, calls=self.calls, updates=self.updates, may_be_cut=bool(fate.cut))
        if told(events) != fate.told:
            heard = ", ".join(f"{who}: {said}" for who, said in told(events))
            yield Fault("what is told is what the gates say, in their order", heard)

    def _fate(self, order: Sequence[str]) -> _Fate:
        """What an order makes of the batch, by nothing but the order."""
        left = {
            each: [*(report(each, n + 1) for n in range(self.updates)), returned(each)]
            for each in call_ids(self.calls)
        }
        heard: list[tuple[str, str]] = []
        aborted, cut, steered = False, frozenset[str](), ""
        for gate in order:
            going = [each for each, more in left.items() if more]
            match gate:
                case "abort" if going:
                    aborted = True
                    if self.mode == "cancel":
                        cut = frozenset(going)
                        heard += ((each, ABORTED) for each in going)
                        left.clear()
                case "steer":
                    steered = "said" if going else "queued"
                case _ if left.get(gate):
                    heard.append((gate, left[gate].pop(0)))
                case _:
                    pass
        return _Fate(
            told=tuple(heard), cut=cut, aborted=aborted, steered="queued" if cut and steered else steered
        )


@attrs.frozen(kw_only=True)
class _Fate:
    """`told`: the reports and ends. `cut`: the calls that an abort ended; `aborted`: one came before the last end.
    `steered`: whether the steering message is said, or stays in its queue; empty if there is none.
    """

    told: tuple[tuple[str, str], ...]
    cut: frozenset[str]
    aborted: bool
    steered: str


def _states(run: Run) -> list[Object]:
    """The agent's state wherever it was looked at: behind the last gate, if nothing has broken off."""
    return [line["reply"] for line in run.lines if isinstance(line.get("reply"), dict)]


def _driven(opener: Opener, some: Sequence[Scenario]) -> list[Run]:
    async def main() -> list[Run]:
        async with open_keeper(opener) as keeper:
            return [await keeper.drive(each) for each in some]

    with first_in_first_out():
        return trio.run(main)
