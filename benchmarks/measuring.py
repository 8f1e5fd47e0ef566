"""Processes that are timed: each measurement is a process of its own, and the subjects take turns.

A machine that slows down, for whatever reason, slows down all of them so; figures are medians over the rounds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.workloads import Manner, Workload

CHECKOUT: Final = Path(__file__).parent.parent

PATIENCE: Final = 600
"""So many seconds a process may take."""


class CannotRunError(Exception):
    """A subject does not do what it is asked for; the text is one line that says why."""


@dataclass(frozen=True)
class Subject:
    """Somebody who runs workloads.

    Attributes:
        command: starts it on a workload.
        rows: what it is called in tables, and the number of the run in its process that counts there.
        says_all: whether it says all events that Pi says.
    """

    command: Callable[[Workload, Manner, int], Sequence[str]]
    rows: Mapping[str, int]
    says_all: bool = True

    def run(self, workload: Workload, manner: Manner) -> dict[str, Sample]:
        """One process of it.

        Raises:
            CannotRunError: it failed, took too long, or said another number of events.
        """
        _, *told = answers(self.command(workload, manner, 1 + max(self.rows.values())))
        samples = {row: Sample(**told[index]) for row, index in self.rows.items()}
        for sample in samples.values():
            if self.says_all and sample.events != workload.events:
                raise CannotRunError(f"{sample.events} events, {workload.events} were expected")
        return samples


@dataclass(frozen=True)
class Sample:
    """One run: what was heard, and the time that it took, in seconds, by the clock and of the processor."""

    events: int
    seconds: float
    cpu: float


@dataclass
class Row:
    """The samples of a row of a table, or why there are none."""

    samples: list[Sample] = field(default_factory=list[Sample])
    problem: str | None = None

    @property
    def events(self) -> int:
        return self.samples[0].events

    @property
    def seconds(self) -> float:
        return statistics.median(sample.seconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        return statistics.median(sample.cpu for sample in self.samples)


def python_module(name: str, python: str | Path = sys.executable) -> list[str]:
    """The command that starts a subject written in Python."""
    return [str(python), "-m", f"benchmarks.subjects.{name}"]


def answers(command: Sequence[str]) -> list[dict[str, Any]]:
    """The lines that a subject answers with. Its first names versions."""
    try:
        done = subprocess.run(
            command, cwd=CHECKOUT, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotRunError(f"took more than {PATIENCE} s") from None
    except OSError as error:
        raise CannotRunError(str(error)) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise CannotRunError(lines[-1])
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(
    subjects: Iterable[Subject],
    workload: Workload,
    manner: Manner,
    *,
    rounds: int,
    report: Callable[[str], None],
) -> dict[str, Row]:
    """Let all subjects run a workload, in turns. Who fails once is left out from then on."""
    rows: dict[str, Row] = {}
    for round_ in range(1, rounds + 1):
        for subject in subjects:
            names = list(subject.rows)
            if any(rows.setdefault(name, Row()).problem for name in names):
                continue
            report(f"{workload.name} of {workload.size:,}, {manner}, round {round_} of {rounds}: {names[0]}")
            try:
                for name, sample in subject.run(workload, manner).items():
                    rows[name].samples.append(sample)
            except CannotRunError as error:
                for name in names:
                    rows[name].problem = str(error)
    return rows
