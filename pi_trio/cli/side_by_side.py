"""Several scopes at once, each played whole by a process of its own."""

from __future__ import annotations

import argparse
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import attrs

from pi_trio.conformance.scopes import Coverage, Gates, Scope

#: Gives the scopes that a command line selects, in a process that has made none of them yet.
Select: TypeAlias = Callable[[argparse.Namespace], Sequence[Scope]]

_UNKNOWN: Final = 10_000
"""How many plays a scope is taken to have of which nobody knows."""

_known: dict[str, Scope] = {}
"""In a process of its own: the scopes that it may be asked to play."""


def played_side_by_side(
    options: argparse.Namespace, select: Select, scopes: Sequence[Scope], jobs: int
) -> Iterator[Coverage]:
    """What came of each, as they are done; those that take longest are begun first."""
    own = {scope.name: scope for scope in scopes}
    fresh = multiprocessing.get_context("spawn")  # a fork would take over threads and signals of this process
    with fresh.Pool(jobs, _begin, (options, select)) as pool:
        for coverage in pool.imap_unordered(_play, _longest_first(scopes)):
            coverage.scope = own[coverage.scope.name]
            yield coverage


def _longest_first(scopes: Iterable[Scope]) -> list[str]:
    return [each.name for each in sorted(scopes, key=lambda each: -(each.orders or _UNKNOWN))]


def _begin(options: argparse.Namespace, select: Select) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it ends it
    _known.update({scope.name: scope for scope in select(options)})


def _play(name: str) -> Coverage:
    coverage = Coverage(_known[name])
    coverage.fill()
    if isinstance(coverage.scope, Gates):
        coverage.scope = attrs.evolve(coverage.scope, subject=None)  # who opens it is of this process alone
    return coverage
