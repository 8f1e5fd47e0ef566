"""`pi-trio fuzz`: makes conversations up for as long as one likes, and shows what is wrong in them."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.explore.replay import replay
from pi_trio.conformance.explore.token import Token
from pi_trio.conformance.report.explored import show_clauses, show_fault, show_outcome
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.verdict import ExitCode
from pi_trio.errors import PiTrioError

from .amounts import amount_of
from .candidates import subject_arguments
from .exploring import exploring, named, subject_words
from .refusing import refusing
from .searching import Results, search_here, share_out

_MORE: Final = """\
A state machine makes conversations up, step by step, from what is open at each moment:
prompts, provider events in any order, malformed ones too, results and reports of tools,
aborts, queued messages, listeners that are held or fail, every hook with every answer.
They are held on the runtime in this process; its clauses are watched at each step. Any
other subject then plays the same, and has to do as the runtime under its profile and
declared features; where a ruling was entered it may do as its release.

A fault is shown once, in the smallest conversation that was found: as a sequence, on the
wire, and as a token for `pi-trio replay`. What shows one is remembered in the cache
folder, and the next search on the same subject begins with it.

examples:
  pi-trio fuzz --minutes 1                                 the runtime
  pi-trio fuzz --subject pi@1.6.0 --minutes 5 --jobs 2     a release of Pi, by the runtime
  pi-trio fuzz --exec 'node my-adapter.js' --minutes 10    your implementation
  pi-trio fuzz --minutes 60 --examples redis://10.0.0.2    the same on each of several machines

exit codes:
  0 no fault found   1 a fault found   2 wrong usage   3 the subject did not start
  4 fault of the tester   130 interrupted: what was found until then is shown
"""

_SERVERS: Final = ("redis", "rediss")

_JOBS: Final = 64
"""Processes that may search at once, whatever the machine."""

_EVERY: Final = 10.0
"""Seconds between two lines about how far it is, where there is no terminal."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    subject_arguments(parser)
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=amount_of("minutes"),
        default=1.0,
        help="how long to search (default: %(default)g)",
    )
    parser.add_argument(
        "--jobs", metavar="J", type=_number, default=1,
        help="processes that search at once, each with a subject of its own (default: %(default)d)",
    )  # fmt: skip
    parser.add_argument(
        "--seed",
        metavar="S",
        type=int,
        help="a number to begin with: the same one leads to the same conversations, and examples are left out",
    )
    parser.add_argument(
        "--examples",
        metavar="WHERE",
        type=_place,
        help="keep what shows a fault there: a folder, or a Redis server that several machines share "
        "(redis://HOST:PORT/0; needs the package redis)",
    )
    parser.add_argument(
        "--clauses", action="store_true",
        help="list which clauses did not come into play, each with a written scenario that reaches it",
    )  # fmt: skip
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first fault")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show every command, the whole wire, and tracebacks"
    )


def _place(text: str) -> Path | str:
    if text.startswith(tuple(f"{scheme}://" for scheme in _SERVERS)):
        return text
    if not text or "://" in text:
        raise argparse.ArgumentTypeError("a folder, or redis://HOST:PORT/NUMBER is needed")
    return Path(text)


def _number(text: str) -> int:
    most = max(_JOBS, os.cpu_count() or 1)
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"a number from 1 to {most} is needed")
    return int(text)


@refusing
def run(options: argparse.Namespace) -> int:
    """Search, print what came of it, and return the exit code."""
    results = Results()
    try:
        with _pace(results):
            if options.jobs == 1:
                search_here(options, 0, results.take)
            else:
                share_out(options, results.take)
    except (KeyboardInterrupt, PiTrioError):
        if results.whole().shares.conversations or results.whole().found:
            _show(options, results)  # what was found until then
        raise
    _show(options, results)
    return ExitCode.NOT_CONFORMANT if results.whole().found else ExitCode.CONFORMANT


def _show(options: argparse.Namespace, results: Results) -> None:
    """Print the faults, each played once more, and the figures behind them."""
    console, outcome = make_console(), results.whole()
    if outcome.found:
        with exploring(options) as explored:
            for each in outcome.found.values():
                token = Token.read(each.token)
                played = replay(explored.house, explored.lockstep, token.scenario)
                show_fault(
                    console, each.fault, played.run, explored.label, shlex.join([each.token, *subject_words(options)]),
                    Clauses.shipped(), everything=options.verbose,
                )  # fmt: skip
                say(console, "")
    show_outcome(console, named(options), outcome)
    if options.clauses:
        show_clauses(console, outcome, Clauses.shipped())


@contextmanager
def _pace(results: Results) -> Generator[None]:
    """Tells how far it is: in one line that changes on a terminal, else now and then."""
    console = make_console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            results.tell = lambda: status.update(results.so_far())
            yield
        return
    spoke = time.monotonic()

    def tell_quietly() -> None:
        nonlocal spoke
        if time.monotonic() - spoke >= _EVERY:
            spoke = time.monotonic()
            say(console, results.so_far())

    results.tell = tell_quietly
    yield
