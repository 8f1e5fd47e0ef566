"""`pi-trio mutants`: proves that the suite can fail, by subjects that are right but for one thing."""

from __future__ import annotations

import argparse
import fnmatch
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.mutants.adequacy import JSON, PAGE, faults, matrix_document, page
from pi_trio.conformance.mutants.catalogue import all_mutants
from pi_trio.conformance.mutants.hosts import BEST, HOSTS
from pi_trio.conformance.mutants.matrix import Matrix, try_all
from pi_trio.conformance.mutants.mutant import KINDS, Mutant
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.vectors import spec_folder
from pi_trio.conformance.verdict import ExitCode
from pi_trio.conformance.writing import write_whole
from pi_trio.jsontext import print_json

from .amounts import number_of_jobs
from .pace import progress
from .places import json_argument, write_json
from .refusing import refusing
from .usage import UsageError, verbose_argument

_MORE: Final = """\
A mutant is the runtime of this package with one function replaced ("runtime"), with one
field of its profile as another release has it ("field"), or behind a proxy that changes
what is said ("wire"). Each is judged as conform judges anybody, in the scenarios that
are the evidence of the clauses that it breaks, and is killed if one of these is named.
A "transport" is no agent: what asks a provider has a fault, and is played the recorded
answers that are the evidence of its clauses, without network.

It is tried as each class of hosts: "total", as Pi; "partial", whose order inside a step
is free between calls; "sync", whose listeners are not awaited; and "unquiet", which does
not know when it is at rest. Only as the first every mutant has to be killed: what a host
does not show cannot be seen.

Without a selection all are tried, and then three null subjects are judged, which must
be granted nothing, and the monitors' tables with each transition left out.

examples:
  pi-trio mutants                       all of them; some minutes
  pi-trio mutants --clause 'TOOL-*'     those that break clauses about calls
  pi-trio mutants 'no *' --host total   by their names
  pi-trio mutants --list                what there is

exit codes:
  0 every mutant is killed, or its survival explained; null subjects are granted nothing
  1 somebody survives      2 wrong usage, or no such mutant      130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument(
        "name", metavar="NAME", nargs="*", help="only mutants whose name matches, such as 'no *'"
    )
    parser.add_argument(
        "--clause", metavar="GLOB", action="append", default=[],
        help="only mutants that break such a clause, such as 'TOOL-*'; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--kind", action="append", choices=KINDS, default=[], help="only mutants of this kind"
    )
    parser.add_argument(
        "--host", action="append", choices=[host.name for host in HOSTS], default=[],
        help="try them as this class of hosts only",
    )  # fmt: skip
    parser.add_argument(
        "--list", action="store_true", help="only list the mutants: name, clauses and what is wrong"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=number_of_jobs, default=os.cpu_count() or 1,
        help="processes that run at once (default: %(default)d, as many as there are processors)",
    )  # fmt: skip
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"write what came of it to {JSON} and {PAGE} of the spec; needs all",
    )
    json_argument(parser, "what came of every trial")
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Try, print, and return the exit code."""
    chosen = _chosen(options)
    console = make_console()
    if options.list:
        for mutant in chosen:
            fault = f" ({mutant.fault})" if mutant.fault else ""
            say(console, f"{', '.join(mutant.clauses)}: {mutant.name}{fault}, {mutant.kind}. {mutant.title}.")
        say(console, f"{len(chosen)} mutants")
        return ExitCode.CONFORMANT
    whole = len(chosen) == len(all_mutants())
    hosts = [host for host in HOSTS if host.name in (options.host or [each.name for each in HOSTS])]
    if options.write and not (whole and len(hosts) == len(HOSTS)):
        raise UsageError("--write needs all mutants, tried as every class of hosts")
    begun = time.monotonic()
    with progress(make_console(stderr=True), "mutants") as tick:
        matrix = try_all(
            [mutant.name for mutant in chosen], hosts, besides=whole, jobs=options.jobs, progress=tick
        )
    clauses = Clauses.shipped()
    wrong = faults(matrix, clauses)
    _show(console, matrix, clauses, verbose=options.verbose)
    for each in wrong:
        say(console, each)
    say(console, _summary(matrix, clauses, whole=whole, seconds=time.monotonic() - begun))
    code = ExitCode.NOT_CONFORMANT if wrong else ExitCode.CONFORMANT
    if options.json is not None:
        write_json(options.json, {**matrix_document(matrix), "exitCode": int(code)})
    if options.write:
        _write(spec_folder(), matrix, clauses)
    return code


def _chosen(options: argparse.Namespace) -> Sequence[Mutant]:
    """The mutants that are meant. Raises: UsageError: there are none."""

    def is_meant(mutant: Mutant) -> bool:
        names = not options.name or any(fnmatch.fnmatchcase(mutant.name, glob) for glob in options.name)
        clauses = not options.clause or any(fnmatch.filter(mutant.clauses, glob) for glob in options.clause)
        return names and clauses and mutant.kind in (options.kind or KINDS)

    chosen = [mutant for mutant in all_mutants().values() if is_meant(mutant)]
    if not chosen:
        raise UsageError(f"none of the {len(all_mutants())} mutants is selected; --list shows them")
    return chosen


def _show(console: Console, matrix: Matrix, clauses: Clauses, *, verbose: bool) -> None:
    """The matrix: how many were killed, by the host; and if that is wanted, each trial."""
    if verbose:
        for trial in matrix.trials:
            how = "killed" if trial.killed else ("survives" if trial.offered else "not tried")
            say(
                console,
                f"{how:9} as {trial.host}: {trial.mutant}; named: {', '.join(trial.named) or 'nothing'}",
            )
    for host in HOSTS:
        trials = [trial for trial in matrix.trials if trial.host == host.name]
        if trials:
            offered = [trial for trial in trials if trial.offered]
            killed = sum(trial.killed for trial in offered)
            proven = len(matrix.proofs(host.name))
            say(
                console,
                f"as {host.name}: {killed} of {len(offered)} killed, {proven} of {len(clauses)} clauses proven",
            )


def _summary(matrix: Matrix, clauses: Clauses, *, whole: bool, seconds: float) -> str:
    tried = len(matrix.mutants())
    survivors = len(matrix.survivors())
    proven = f"{len(matrix.proofs(BEST.name))} of {len(clauses)} clauses proven; " if whole else ""
    return f"{proven}{tried} mutants, {survivors} survive; {seconds:.0f} seconds"


def _write(spec: Path, matrix: Matrix, clauses: Clauses) -> None:
    write_whole(spec / JSON, f"{print_json(matrix_document(matrix), indent=1)}\n".encode())
    write_whole(spec / PAGE, page(matrix, clauses).encode())
