"""Every task schedule of the runtime: one small batch, whose runnable tasks are run in every order that there is.

The gates of the other scope are opened one at a time, and in between everything comes to rest. Here nothing rests
(`free_batch`), and whenever several tasks could run, each choice is tried (`picking`). A schedule is the list of the
choices, so it can be played again.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from .choices import Path, UnsteadyError
from .free_batch import FreeBatch
from .judged import faults_in_events
from .laws import cut_calls, faults_of, rest_of
from .picking import Grain, pick
from .scope import Aside, Fault, Mode, OrderError, Play, name_of, title_of


@attrs.frozen(kw_only=True)
class Schedules:
    """One such scope.

    Attributes:
        calls, updates: how many calls there are, and how often each reports.
        beside: what else happens once, in a task of its own.
        mode: whether an abort is advice, or cancels.
        slow: a listener in front of the one that is heard takes a turn of the scheduler for each report.
        grain: how free the schedule is.
        profile: as which release the runtime behaves.
    """

    calls: int
    updates: int
    beside: tuple[Aside, ...] = ()
    mode: Mode = "cancel"
    slow: bool = False
    grain: Grain = "one"
    profile: str = "pi-1.6.0"

    @property
    def name(self) -> str:
        """Such as `schedules-2x1-abort-cancel`."""
        more = [*(["slow"] if self.slow else []), *(["pass"] if self.grain == "pass" else [])]
        return name_of("schedules", self.calls, self.updates, self.beside, self.mode, *more)

    @property
    def title(self) -> str:
        """In words."""
        return title_of("every schedule of tasks", self.calls, self.updates, self.beside)

    @property
    def orders(self) -> None:
        """Nobody knows before they have been played."""
        return

    def plays(self) -> Iterator[Play]:
        """Each schedule."""
        path: Path | None = Path()
        while path is not None:
            yield self._play(path)
            path = path.next()

    def again(self, order: tuple[str, ...]) -> Play:
        """One schedule, by its choices. Raises: OrderError."""
        if not all(choice.isdecimal() for choice in order):
            raise OrderError(
                "a schedule is numbers: which of the runnable tasks goes on, each time, counted from 0"
            )
        try:
            return self._play(Path([int(choice) for choice in order]))
        except UnsteadyError as error:
            raise OrderError(str(error)) from None

    def _play(self, path: Path) -> Play:
        # In trio's own passes nobody is left behind, so who is beside has to come late by itself.
        latest = 1 if self.grain == "one" else 2 * self.updates + 6
        batch = FreeBatch(
            calls=self.calls, updates=self.updates, beside=self.beside, mode=self.mode, slow=self.slow,
            profile=self.profile,
            pick=lambda ready: pick(ready, path, self.grain),
            lateness=lambda: path.choose(latest),
        )  # fmt: skip
        batch.run()
        path.check()
        events = tuple(batch.heard)
        return Play(
            order=tuple(map(str, path.taken)),
            events=events,
            alike=(
                cut_calls(events),
                tuple(batch.executed),
                batch.turns_before_steering(),
                batch.aborted_in_time(),
                batch.failed_at,
            ),
            rest=rest_of(events),
            faults=tuple(self._faults(batch)),
        )

    def _faults(self, batch: FreeBatch) -> Iterator[Fault]:
        if batch.error is not None:
            yield Fault("it settles", repr(batch.error))
            return
        yield from faults_in_events(batch.heard, self.profile)
        yield from faults_of(
            batch.heard,
            calls=self.calls,
            updates=self.updates,
            may_be_cut=batch.aborted_in_time() or batch.failed_at is not None,
            overlapping=self.slow,
        )
        yield from batch.faults()
