"""Searches in this process, or in several at once, whose results are added up."""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import queue
import signal
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeAlias

from pi_trio.conformance.explore.outcome import Outcome
from pi_trio.conformance.subjects.pi_releases import cache_folder
from pi_trio.errors import PiTrioError

from .exploring import exploring, subject_words
from .usage import UsageError

Take: TypeAlias = Callable[[int, Outcome], None]
"""Is given what a search has come to so far, with its number."""

_OFTEN: Final = 0.5
"""Seconds between two reports of a process."""


class Results:
    """What all searches have come to so far."""

    def __init__(self) -> None:
        self._parts: dict[int, Outcome] = {}
        self.tell: Callable[[], None] = lambda: None
        """Called whenever there is more."""

    def take(self, index: int, outcome: Outcome) -> None:
        """Enter what one of them has come to."""
        self._parts[index] = outcome
        self.tell()

    def whole(self) -> Outcome:
        """All of it."""
        whole = Outcome()
        for part in self._parts.values():
            whole.add(part)
        return whole

    def so_far(self) -> str:
        """In one line."""
        whole = self.whole()
        return f"{whole.seconds:,.0f} s: {whole.steps:,} steps, {len(whole.found)} faults found"


def search_here(options: argparse.Namespace, index: int, take: Take) -> None:
    """Search in this process. Raises: as `exploring`."""
    from pi_trio.conformance.explore.examples import ExamplesError, open_examples
    from pi_trio.conformance.explore.search import search

    home = cache_folder() / "examples"
    try:
        examples = open_examples(options.examples or home, _subject(options))
    except ExamplesError as error:
        raise UsageError(str(error)) from None
    with exploring(options) as explored:
        outcome = search(
            explored.house, explored.lockstep, seconds=60 * options.minutes, examples=examples, home=home,
            start=None if options.seed is None else options.seed + index, fail_fast=options.fail_fast,
            report=partial(take, index),
        )  # fmt: skip
        take(index, outcome)


def share_out(options: argparse.Namespace, take: Take) -> None:
    """Search in as many processes as there are jobs.

    Raises:
        PiTrioError: one of them has broken off.
    """
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    workers: list[BaseProcess] = [
        context.Process(target=_work, args=(options, index, results), daemon=True)
        for index in range(options.jobs)
    ]
    for worker in workers:
        worker.start()
    try:
        left, gone = set(range(options.jobs)), set[int]()
        while left:
            try:
                index, outcome, error = results.get(timeout=1)
            except queue.Empty:
                # What it has said at its end may still be on the way when it is gone; a second later it is not.
                if gone & left:
                    raise PiTrioError("a process that searches has ended before its time") from None
                gone = {index for index, worker in enumerate(workers) if not worker.is_alive()}
                continue
            if outcome is not None:
                take(index, outcome)
                continue
            if error is not None:
                raise error
            left.discard(index)
            if options.fail_fast:
                break
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _work(options: argparse.Namespace, index: int, results: Any) -> None:
    """Search, and tell who has started this process what comes of it. Ctrl-C is that one's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told, latest = 0.0, Outcome()

    def take(number: int, outcome: Outcome) -> None:
        nonlocal told, latest
        latest = outcome
        if time.monotonic() - told >= _OFTEN:
            told = time.monotonic()
            results.put((number, outcome, None))

    try:
        search_here(options, index, take)
        results.put((index, latest, None))
        results.put((index, None, None))
    except Exception as error:
        results.put((index, None, error))


def _subject(options: argparse.Namespace) -> str:
    """A word for the subject, under which its examples are kept."""
    words = subject_words(options) or ["runtime"]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
