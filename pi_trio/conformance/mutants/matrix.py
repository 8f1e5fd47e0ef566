"""All trials at once, in several processes, and what they prove.

A mutant is one task: it is tried as each class of hosts in turn. Null subjects and the monitors' tables are tasks too.
Each process has a court of its own, which learns as it goes; nothing depends on who has tried what.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from typing import Final, TypeAlias

import attrs

from ..clauses import Clauses
from .catalogue import all_mutants
from .hosts import BEST, HOSTS, Host
from .nulls import NULLS, Score, score
from .tables import TableTrial, try_tables
from .transported import TransportMutant, try_transport
from .trial import Court, Trial

#: Told the name of each task when it is done, and how many there are.
Progress: TypeAlias = Callable[[str, int], None]

TABLES: Final = "the monitors' tables"


@attrs.frozen(kw_only=True)
class Matrix:
    """What came of all trials.

    Attributes:
        trials: of each mutant as each host, in the order of the catalogue.
        scores: of the null subjects; and the `tables`. Empty if they were not asked for.
    """

    trials: tuple[Trial, ...]
    scores: tuple[Score, ...] = ()
    tables: tuple[TableTrial, ...] = ()

    def of(self, mutant: str) -> Mapping[str, Trial]:
        """The trials of one mutant, by the host."""
        return {trial.host: trial for trial in self.trials if trial.mutant == mutant}

    def mutants(self) -> tuple[str, ...]:
        """The names of the mutants that were tried."""
        return tuple(dict.fromkeys(trial.mutant for trial in self.trials))

    def proofs(self, host: str = BEST.name) -> Mapping[str, tuple[str, ...]]:
        """By each clause that is proven as that host, the mutants that prove it."""
        found: dict[str, tuple[str, ...]] = {}
        for trial in self.trials:
            if trial.host == host:
                for clause in trial.proves:
                    found[clause] = (*found.get(clause, ()), trial.mutant)
        return found

    def survivors(self, host: str = BEST.name) -> tuple[Trial, ...]:
        """The trials of those that could be tried as that host, and were not killed."""
        return tuple(each for each in self.trials if each.host == host and each.offered and not each.killed)

    def troubled(self) -> tuple[Trial, ...]:
        """The trials in which something was wrong with the tester."""
        return tuple(trial for trial in self.trials if trial.trouble)


def try_all(
    names: Sequence[str],
    hosts: Sequence[Host] = HOSTS,
    *,
    besides: bool = True,
    jobs: int = 1,
    progress: Progress = lambda _, __: None,
) -> Matrix:
    """Try mutants.

    Args:
        names: of the mutants.
        hosts: as which they are tried.
        besides: try the null subjects and the tables, too.
        jobs: how many processes.
        progress: told of each task that is done.
    """
    trials: dict[str, tuple[Trial, ...]] = {}
    scores: list[Score] = []
    tables: tuple[TableTrial, ...] = ()
    tasks = [*(_NULL + name for name in NULLS), TABLES] if besides else []
    tasks += names
    for task, came in _done(tasks, [host.name for host in hosts], jobs):
        progress(task, len(tasks))
        for each in came:
            match each:
                case Trial():
                    trials[task] = (*trials.get(task, ()), each)
                case Score():
                    scores.append(each)
                case TableTrial():
                    tables = (*tables, each)
    scores.sort(key=lambda each: list(NULLS).index(each.name))
    return Matrix(
        trials=tuple(trial for name in names for trial in trials[name]), scores=tuple(scores), tables=tables
    )


_NULL: Final = "null subject: "

_Came: TypeAlias = Sequence[Trial | Score | TableTrial]


def _done(tasks: Sequence[str], hosts: Sequence[str], jobs: int) -> Iterator[tuple[str, _Came]]:
    """Each task with what came of it, as they are done."""
    if jobs == 1:
        yield from ((task, _do(task, hosts)) for task in tasks)
        return
    fresh = multiprocessing.get_context(
        "spawn"
    )  # a fork would take over the threads and signals of this process
    pool = ProcessPoolExecutor(jobs, mp_context=fresh, initializer=_leave_ctrl_c_to_the_parent)
    try:
        doing = {pool.submit(_do, task, hosts): task for task in tasks}
        for future in as_completed(doing):
            yield doing[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def _court() -> Court:
    return Court()


def _do(task: str, hosts: Iterable[str]) -> _Came:
    if task == TABLES:
        return try_tables()
    if task.startswith(_NULL):
        return [score(task.removeprefix(_NULL), _court())]
    mutant = all_mutants()[task]
    tried = [host for host in HOSTS if host.name in hosts]
    if isinstance(mutant, TransportMutant):
        return [try_transport(mutant, host, Clauses.shipped()) for host in tried]
    return [_court().try_mutant(mutant, host) for host in tried]
