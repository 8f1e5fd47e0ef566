"""`pi-trio scopes`: plays small scopes whole: every order of gates, and every schedule of the runtime's tasks."""

from __future__ import annotations

import argparse
import fnmatch
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import attrs
import trio

from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.scoped import (
    clears,
    coverages_document,
    show_coverages,
    show_not_offered,
    show_play,
    show_scopes,
)
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.scopes import Coverage, Gates, OrderError, Scope, catalogue, catalogue_for_others
from pi_trio.conformance.verdict import ExitCode
from pi_trio.conformance.writing import write_whole
from pi_trio.jsontext import print_json

from .amounts import number_of_jobs
from .candidates import DEFAULT_PROFILE, checked_profile, one_subject, subject_arguments
from .pace import progress
from .places import json_argument, write_json
from .refusing import complain, refusing
from .side_by_side import played_side_by_side
from .usage import UsageError, verbose_argument

S = TypeVar("S", bound=Scope)

_MORE: Final = """\
gates-3x2 is a batch of three calls that report twice each. Whatever can happen next
waits for the tester, who lets it happen in every order that there is; with `abort` and
`steer` in its name these happen once, at every point. `signal` and `cancel` are what an
abort is: advice, or the end of all that waits for the outside. `late`: each call
reports once more when it has returned, which nobody must hear. Anybody can be driven so
whose quiescence is exact and whose order is total.

schedules-2x1 is a batch of two calls that report once, in the runtime of this package.
Nothing waits for the tester: whenever several tasks could run, every choice is tried,
so each may be left behind for as long as one likes; with `pass` in its name, each runs
once before any runs again, as in trio itself. `slow` is a listener that takes its time,
`fail` one that fails once.

Each play is judged by the clauses, by what must hold of a batch in any order, and by
the other plays: the order decides what is told when, and nothing else.

Each scope is played whole; nothing is drawn by lot. What takes long is left out, and
how much that is is told; --all leaves out nothing.

columns: the scope; how many plays that is; how many orders of reports and ends a
listener has told apart; how many outcomes there are (which calls an abort has cut, and
what became of the steering message); and what is wrong.

examples:
  pi-trio scopes                                     the runtime: what takes a minute or two
  pi-trio scopes --all --jobs 2                      what takes an hour of one processor
  pi-trio scopes --subject pi@1.6.0                  a release of Pi
  pi-trio scopes --exec 'node my-adapter.js'         your implementation
  pi-trio scopes --scope gates-2x1 --order 't1 t2 t2 t1'       one order, as it is heard

exit codes:
  0 nothing is wrong                           2 wrong usage, or no such scope or order
  1 something is, or no scope can be played    3 the subject did not start
  4 fault of pi-trio     130 interrupted; what was played up to there is shown
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    subject_arguments(parser)
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
        "--emit", metavar="FILE.json", type=Path,
        help="with --order: write it as a scenario, which `pi-trio explain-run FILE.json` shows step by step",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", metavar="N", type=number_of_jobs, default=1,
        help="scopes that are played at once, each in a process of its own (default: %(default)d)",
    )  # fmt: skip
    json_argument(parser, "what was played and found")
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Play, print, and return the exit code."""
    console = make_console()
    if options.emit is not None and options.order is None:
        raise UsageError("--emit goes with --order")
    if options.list:
        profile = checked_profile(options.profile or DEFAULT_PROFILE)
        show_scopes(console, _selected(options, catalogue(profile, whole=_whole(options))))
        return ExitCode.CONFORMANT
    choice = _choose(options)
    show_not_offered(console, choice.lacking.items())
    if not choice.scopes:
        return complain("the subject offers none of the selected scopes", ExitCode.NOT_CONFORMANT)
    if options.order is not None:
        return _show_order(options, choice.scopes)
    coverages: list[Coverage] = []
    try:
        for coverage in _played(options, choice.scopes):
            coverages.append(coverage)  # noqa: PERF402 - what was given before an interrupt stays
    finally:
        if coverages:
            coverages.sort(key=lambda each: choice.scopes.index(each.scope))
            show_coverages(
                console, coverages, choice.left_out, again=lambda scope, order: _again(options, scope, order)
            )
    if options.json is not None:
        write_json(options.json, coverages_document(coverages, choice.left_out))
    return ExitCode.CONFORMANT if clears(coverages) else ExitCode.NOT_CONFORMANT


@attrs.frozen(kw_only=True)
class _Choice:
    """The scopes that are played; those that take too long for that; and of some what the subject lacks for them."""

    scopes: Sequence[Scope]
    left_out: Sequence[Scope]
    lacking: Mapping[Scope, tuple[str, ...]] = attrs.field(factory=dict[Scope, tuple[str, ...]])


def _choose(options: argparse.Namespace) -> _Choice:
    """Raises: UsageError, and what `_who` raises."""
    profile, other = trio.run(_who, options)

    def known(*, whole: bool) -> Sequence[Scope]:
        if other is None:
            return catalogue(profile, whole=whole)
        return catalogue_for_others(profile, whole=whole, subject=other[0])

    def lacks(scope: Scope) -> tuple[str, ...]:
        return scope.lacks(other[1]) if other is not None and isinstance(scope, Gates) else ()

    short = known(whole=_whole(options))
    selected = _selected(options, short)
    lacking = {scope: found for scope in selected if (found := lacks(scope))}
    left_out = [scope for scope in known(whole=True) if scope not in short and not lacks(scope)]
    return _Choice(
        scopes=[scope for scope in selected if scope not in lacking], left_out=left_out, lacking=lacking
    )


def _scopes(options: argparse.Namespace) -> Sequence[Scope]:
    return _choose(options).scopes


def _played(options: argparse.Namespace, scopes: Sequence[Scope]) -> Iterator[Coverage]:
    """What came of each scope. One after the other, each is given before it is played, which may be interrupted."""
    console = make_console(stderr=True)
    if options.jobs == 1 or len(scopes) == 1:
        for scope in scopes:
            coverage = Coverage(scope)
            yield coverage
            with progress(console, scope.name) as tick:
                coverage.fill(tick)
        return
    with progress(console, "scopes") as tick:
        for coverage in played_side_by_side(options, _scopes, scopes, options.jobs):
            tick(coverage.scope.name, len(scopes))
            yield coverage


async def _who(options: argparse.Namespace) -> tuple[str, tuple[Opener, Object] | None]:
    """As what somebody is judged, and who it is and what it says of itself, if it is not the runtime in this process.

    Raises:
        SubjectUnavailable, SubjectUnstartable: it cannot be had, or does not start.
        UsageError: there is no such subject, or no such profile.
    """
    profile, candidate = await one_subject(options)
    if not candidate.by_runtime:
        return profile, None
    async with open_keeper(candidate.opener) as keeper:
        await keeper.start()
        return profile, (candidate.opener, keeper.hello)


def _whole(options: argparse.Namespace) -> bool:
    return options.all or bool(options.scope)


def _selected(options: argparse.Namespace, known: Iterable[S]) -> list[S]:
    """Raises: UsageError: no scope is."""
    globs: list[str] = options.scope or ["*"]
    chosen = [each for each in known if any(fnmatch.fnmatchcase(each.name, glob) for glob in globs)]
    if not chosen:
        raise UsageError(
            f"no scope is called {' or '.join(globs)}; `pi-trio scopes --list --all` lists them, of which those of "
            "schedules are the runtime's alone"
        )
    return chosen


def _show_order(options: argparse.Namespace, scopes: Sequence[Scope]) -> int:
    if len(scopes) != 1:
        raise UsageError(f"--order is one of one scope, and {len(scopes)} are selected; name it with --scope")
    try:
        play = scopes[0].again(tuple(options.order.split()))
    except OrderError as error:
        raise UsageError(f"--order {options.order!r}: {error}") from None
    if options.emit is not None:
        _emit(options.emit, scopes[0], play.order)
    show_play(make_console(), scopes[0], play)
    return ExitCode.NOT_CONFORMANT if play.faults else ExitCode.CONFORMANT


def _emit(path: Path, scope: Scope, order: tuple[str, ...]) -> None:
    if not isinstance(scope, Gates):
        raise UsageError(f"--emit {path}: a schedule is the runtime's own, and no scenario")
    write_whole(path, f"{print_json(scope.scenario(order).to_json())}\n".encode())


def _again(options: argparse.Namespace, scope: Scope, order: tuple[str, ...]) -> str:
    """The command that shows one order."""
    words = ["pi-trio", "scopes", "--scope", scope.name, "--order", " ".join(order)]
    named = {
        "--exec": options.command,
        "--ws": options.ws,
        "--subject": options.subject,
        "--profile": options.profile,
    }
    return shlex.join(
        [*words, *(word for name, value in named.items() if value is not None for word in (name, value))]
    )
