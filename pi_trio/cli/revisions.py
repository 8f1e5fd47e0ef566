"""`pi-trio revisions`: what changed from one release to another, clause by clause."""

from __future__ import annotations

import argparse
from typing import Final

from pi_trio.conformance.changes import changes
from pi_trio.conformance.clauses import RELEASES, read_clauses
from pi_trio.conformance.report.changed import changes_document, show_changes
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.verdict import ExitCode
from pi_trio.jsontext import print_json
from pi_trio.profile import UnknownProfileError, get_profile

from .material import spec_argument, vectors_of
from .refusing import refusing
from .usage import UsageError, verbose_argument

_MORE: Final = """\
Each field of the profile that differs stands with its two values, and below it what the
clauses said (-) and what they say now (+). At the end stands what is merely there or
not: hooks, commands, options.

examples:
  pi-trio revisions 0.85.0 1.0.3
  pi-trio revisions pi-1.6.0 pi-1.6.0,durations=pi-1.0.3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    for name, which in (("old", "from this one"), ("new", "to this one")):
        parser.add_argument(
            name, metavar=name.upper(), help=f"{which}: {', '.join(RELEASES)}, or a composite profile"
        )
    parser.add_argument("--json", action="store_true", help="print JSON")
    spec_argument(parser)
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Compare, print, and return the exit code, which is 0 whatever changed."""
    changed = changes(read_clauses(vectors_of(options).spec), _profile(options.old), _profile(options.new))
    console = make_console()
    if options.json:
        print(print_json(changes_document(changed), indent=2))
    elif changed:
        show_changes(console, changed)
    else:
        say(console, f"{changed.old} and {changed.new} behave alike: nothing changes between them")
    return ExitCode.CONFORMANT


def _profile(asked: str) -> str:
    """The name of a profile; a release's number stands for its own.

    Raises:
        UsageError: there is none.
    """
    name = f"pi-{asked}" if asked.partition(",")[0] in RELEASES else asked
    try:
        return get_profile(name).name
    except UnknownProfileError as error:
        raise UsageError(str(error)) from None
