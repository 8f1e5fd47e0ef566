"""How fast it is: the runtime beside bare trio, and beside others who do the same.

    python benchmarks/run.py [--quick] [--others] [--rounds 5] [W1 W2 W3 growth layers imports]

Prints tables in Markdown; says on stderr what it is about. Without names it does everything. Nothing leaves the
machine, but for `--others`, which installs what it compares with, on first use.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measuring import CannotRunError, Row, Subject, answers, measure, python_module
from benchmarks.others import others
from benchmarks.workloads import MANNERS, WORKLOADS, Manner, Workload

BARE: Final = "bare trio"
OURS: Final = "pi_trio"

GROWTH: Final = {"W2": (500, 1000, 2000), "W3": (65_536, 131_072, 262_144)}
"""The sizes whose times are compared; each is twice the one before."""

QUICK: Final = 20
"""With `--quick` everything is so many times smaller."""


def _local(program: str) -> Callable[[Workload, Manner, int], Sequence[str]]:
    def command(workload: Workload, manner: Manner, times: int) -> Sequence[str]:
        return [*python_module(program), workload.name, manner, str(workload.size), str(times)]

    return command


LOCAL: Final = (Subject(_local("bare_trio"), {BARE: 0}), Subject(_local("pi_trio_agent"), {OURS: 0}))


def report(line: str) -> None:
    """Say what is going on."""
    print(f"... {line}", file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def print_workload(workload: Workload, manner: Manner, rows: dict[str, Row]) -> None:
    """The table of a workload in one manner."""
    print(f"**{workload.name}, {manner}**: {workload.title}; {MANNERS[manner]}\n")
    bare, ours = rows[BARE], rows[OURS]
    cells: list[Sequence[str]] = []
    for name, row in rows.items():
        if row.problem is not None:
            cells.append([name, f"cannot: {row.problem}", *[""] * 5])
            continue
        share = (bare.cpu / bare.events) / (row.cpu / row.events)
        times = row.cpu / ours.cpu if ours.samples else 0
        cells.append([
            name,
            f"{row.seconds:.3f}",
            f"{row.cpu:.3f}",
            f"{row.events:,}",
            f"{row.cpu / row.events * 1e6:.2f}",
            f"{share:.2f}",
            f"{times:.2f}",
        ])  # fmt: skip
    table(
        (
            "",
            "seconds",
            "of the processor",
            "events",
            "µs an event",
            f"rate, of {BARE}'s",
            f"time, of {OURS}'s",
        ),
        cells,
    )


def print_growth(shrink: int, rounds: int) -> None:
    """How the time grows with the size."""
    print("**Growth**: what a workload of twice the size takes, of the processor (reads)\n")
    cells: list[Sequence[str]] = []
    for name, sizes in GROWTH.items():
        before: float | None = None
        for size in sizes:
            workload = WORKLOADS[name].of_size(max(1, size // shrink))
            row = measure(LOCAL[1:], workload, "reads", rounds=rounds, report=report)[OURS]
            if row.problem is not None:
                raise SystemExit(f"{name}: {row.problem}")
            times = "" if before is None else f"{row.cpu / before:.2f}"
            unit = "turns" if workload.calls else "deltas"
            cells.append([f"{name}, {workload.size:,} {unit}", f"{row.cpu:.3f}", times])
            before = row.cpu
    table(("", "seconds", "times the size before"), cells)


def print_layers(shrink: int, rounds: int) -> None:
    """What each layer costs on its own."""
    print("**Layers**: what each costs on its own, of the processor\n")
    report("layers")
    _, *told = answers([*python_module("layers"), str(shrink), str(rounds)])
    table(("layer", "µs", "a"), [(line["layer"], f"{line['us']:.2f}", line["unit"]) for line in told])


def print_imports(rounds: int) -> None:
    """What importing costs, in a new process each time."""
    print("**Imports**\n")
    cells: list[Sequence[str]] = []
    for statement in ("import pi_trio", "from pi_trio import Agent", "import trio"):
        report(statement)
        found = [answers([*python_module("importing"), statement])[0] for _ in range(rounds)]
        seconds, cpu = (statistics.median(line[key] for line in found) for key in ("seconds", "cpu"))
        hypothesis = "yes" if any(line["hypothesis"] for line in found) else "no"
        cells.append((f"`{statement}`", f"{seconds:.3f}", f"{cpu:.3f}", str(found[0]["modules"]), hypothesis))
    table(("", "seconds", "of the processor", "modules", "imports hypothesis"), cells)


def print_versions(subjects: Iterable[Subject]) -> None:
    """Who is measured, on what."""
    print(f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors; medians of rounds.")
    for subject in subjects:
        try:
            (versions, *_) = answers(subject.command(WORKLOADS["W1"].of_size(1), "reads", 1))
        except CannotRunError as error:
            raise SystemExit(f"{next(iter(subject.rows))}: {error}") from None
        print(f"- {next(iter(subject.rows))}: {versions['versions']}")
    print(flush=True)


def main() -> None:
    """Measure what is asked for, and print it."""
    parts = (*WORKLOADS, "growth", "layers", "imports")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(parts)} (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"everything {QUICK} times smaller")
    parser.add_argument("--others", action="store_true", help="also Pi on Node and packages like this one")
    parser.add_argument("--rounds", type=int, default=5, help="of which medians are taken (default: 5)")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    if options.rounds < 1:
        parser.error("at least one round")
    wanted = options.parts or parts
    shrink = QUICK if options.quick else 1
    subjects = [*LOCAL, *(others(report) if options.others else ())]
    print_versions(subjects)
    for workload in (WORKLOADS[name] for name in WORKLOADS if name in wanted):
        smaller = workload.of_size(max(1, workload.size // shrink))
        for manner in MANNERS:
            rows = measure(subjects, smaller, manner, rounds=options.rounds, report=report)
            if problem := rows[BARE].problem or rows[OURS].problem:
                raise SystemExit(f"{workload.name}: {problem}")
            print_workload(smaller, manner, rows)
    if "growth" in wanted:
        print_growth(shrink, options.rounds)
    if "layers" in wanted:
        print_layers(shrink, options.rounds)
    if "imports" in wanted:
        print_imports(options.rounds)


if __name__ == "__main__":
    main()
