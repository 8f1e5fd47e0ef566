"""`pi-trio replay`: plays a counterexample again, from the token that `pi-trio fuzz` has printed."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Final

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.explore.replay import replay
from pi_trio.conformance.explore.token import Token, TokenError
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.explored import show_fault
from pi_trio.conformance.report.sequence import show_sequence
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.verdict import ExitCode
from pi_trio.jsontext import print_json

from .candidates import subject_arguments
from .exploring import exploring, subject_words
from .refusing import refusing
from .usage import UsageError

_MORE: Final = """\
A token holds the whole conversation and the profile that it was judged by, so nothing
else is needed. --emit prints it as commands, one JSON line each, with addresses instead
of ids: they can be piped into any adapter, under a debugger say.

examples:
  pi-trio replay TOKEN                                    on the runtime
  pi-trio replay TOKEN --subject pi@1.6.0                 on a release of Pi
  pi-trio replay TOKEN --emit > it.jsonl; node my-adapter.js --profile pi-1.6.0 < it.jsonl

exit codes:
  0 nothing is wrong any more   1 the fault is still there   2 wrong usage
  3 the subject did not start   4 fault of the tester   130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument("token", metavar="TOKEN", help="what `pi-trio fuzz` has printed")
    subject_arguments(parser)
    parser.add_argument("--emit", action="store_true", help="print the commands, to be piped into an adapter")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show every command, the whole wire, and tracebacks"
    )


@refusing
def run(options: argparse.Namespace) -> int:
    """Play it, print what comes of it, and return the exit code."""
    try:
        token = Token.read(options.token)
    except TokenError as error:
        raise UsageError(str(error)) from None
    words = shlex.join([token.text(), *subject_words(options)])
    if options.profile is None and not (options.subject or "").startswith("pi@"):
        options.profile = token.profile
    console = make_console()
    with exploring(options) as explored:
        played = replay(explored.house, explored.lockstep, token.scenario)
        if options.emit:
            for number, command in enumerate(_commands(played.run.lines)):
                console.out(print_json({"id": number, **command}), highlight=False)
            return ExitCode.CONFORMANT
        if played.fault is not None:
            show_fault(
                console,
                played.fault,
                played.run,
                explored.label,
                words,
                Clauses.shipped(),
                everything=options.verbose,
            )
            return ExitCode.NOT_CONFORMANT
        show_sequence(
            console,
            token.scenario,
            played.run.lines,
            explored.label,
            everything=options.verbose,
            words=played.run.words,
        )
        say(console, "nothing is wrong")
        return ExitCode.CONFORMANT


def _commands(lines: Sequence[Object]) -> list[Object]:
    return [line["send"] for line in lines if "send" in line]
