"""`pi-trio scopes`: plays small scopes of the runtime whole: every order of gates, every schedule of tasks."""

from __future__ import annotations

import argparse
import fnmatch
import shlex
from typing import Final

from pi_trio.conformance.report.scoped import (
    clears,
    coverages_document,
    show_coverages,
    show_play,
    show_scopes,
)
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.scopes import Coverage, OrderError, Scope, catalogue
from pi_trio.conformance.verdict import ExitCode
from pi_trio.profile import PROFILES

from .candidates import DEFAULT_PROFILE, checked_profile
from .pace import progress
from .places import json_argument, write_json
from .refusing import refusing
from .usage import UsageError, verbose_argument

_MORE: Final = """\
gates-3x2 is a batch of three calls that report twice each. Whatever can happen next
waits for the tester, who lets it happen in every order that there is; with `abort` and
`steer` in its name these happen once, at every point. `signal` and `cancel` are what an
abort is: advice, or the end of all that waits for the outside.

schedules-2x1 is a batch of two calls that report once. Nothing waits for the tester:
whenever several tasks could run, every choice is tried, so each may be left behind for
as long as one likes; with `pass` in its name, each runs once before any runs again, as
in trio itself. `slow` is a listener that takes its time.

Each play is judged by the clauses, by what must hold of a batch in any order, and by
the other plays: the order decides what is told when, and nothing else.

columns: the scope; how many plays that is; how many orders of reports and ends a
listener has told apart; how many outcomes there are (which calls an abort has cut, and
what became of the steering message); and what is wrong.

examples:
  pi-trio scopes                                     what takes a minute
  pi-trio scopes --all                               what takes the time for a meal
  pi-trio scopes --scope 'gates-3x1*'
  pi-trio scopes --scope gates-2x1 --order 't1 t2 t2 t1'       one order, as it is heard

exit codes:
  0 nothing is wrong   1 something is   2 wrong usage, or no such scope or order
  4 fault of pi-trio   130 interrupted; what was played up to there is shown
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument(
        "--scope", metavar="GLOB", action="append", default=[],
        help="only scopes whose name matches, of all that there are; may be given several times",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="also those that take long")
    parser.add_argument(
        "--list", action="store_true", help="only list the scopes: name, plays if known, title"
    )
    parser.add_argument(
        "--order", metavar="WORDS", help="show one order of one scope, as a listener heard it"
    )
    parser.add_argument(
        "--profile",
        default=DEFAULT_PROFILE,
        help=f"as what the runtime behaves: {', '.join(PROFILES)}, or a composite (default: %(default)s)",
    )
    json_argument(parser, "what was played and found")
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Play, print, and return the exit code."""
    scopes = _selected(options)
    console = make_console()
    if options.list:
        show_scopes(console, scopes)
        return ExitCode.CONFORMANT
    if options.order is not None:
        return _show_order(options, scopes)
    coverages: list[Coverage] = []
    try:
        for scope in scopes:
            coverages.append(Coverage(scope))
            with progress(make_console(stderr=True), scope.name) as tick:
                coverages[-1].fill(tick)
    finally:
        if coverages:
            show_coverages(console, coverages, again=lambda scope, order: _again(options, scope, order))
    if options.json is not None:
        write_json(options.json, coverages_document(coverages))
    return ExitCode.CONFORMANT if clears(coverages) else ExitCode.NOT_CONFORMANT


def _selected(options: argparse.Namespace) -> tuple[Scope, ...]:
    """Raises: UsageError: no scope is."""
    known = catalogue(checked_profile(options.profile), whole=options.all or bool(options.scope))
    globs: list[str] = options.scope or ["*"]
    chosen = tuple(each for each in known if any(fnmatch.fnmatchcase(each.name, glob) for glob in globs))
    if not chosen:
        raise UsageError(f"no scope is called {' or '.join(globs)}; `pi-trio scopes --list --all` lists them")
    return chosen


def _show_order(options: argparse.Namespace, scopes: tuple[Scope, ...]) -> int:
    if len(scopes) != 1:
        raise UsageError(f"--order is one of one scope, and {len(scopes)} are selected; name it with --scope")
    try:
        play = scopes[0].again(tuple(options.order.split()))
    except OrderError as error:
        raise UsageError(f"--order {options.order!r}: {error}") from None
    show_play(make_console(), scopes[0], play)
    return ExitCode.NOT_CONFORMANT if play.faults else ExitCode.CONFORMANT


def _again(options: argparse.Namespace, scope: Scope, order: tuple[str, ...]) -> str:
    """The command that shows one order."""
    words = ["pi-trio", "scopes", "--scope", scope.name, "--order", " ".join(order)]
    if options.profile != DEFAULT_PROFILE:
        words += ["--profile", options.profile]
    return shlex.join(words)
