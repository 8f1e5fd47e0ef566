"""`pi-trio list`: the clauses of the spec, all or some."""

from __future__ import annotations

import argparse
from typing import Final

from pi_trio.conformance.clauses import FAMILIES, GROUPS, LEVELS, read_clauses
from pi_trio.conformance.report.pages import clause_document, show_list
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.verdict import ExitCode
from pi_trio.jsontext import print_json

from .candidates import checked_profile
from .material import spec_argument, vectors_of
from .refusing import refusing
from .usage import UsageError, verbose_argument

_MORE: Final = """\
Filters that are given together all hold; one that is given several times holds if one
of its values does. `pi-trio explain ID` shows a clause whole, `pi-trio conform --list`
lists the scenarios.

examples:
  pi-trio list --family TURN --profile pi-0.85.0
  pi-trio list --level RULING
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    for name, values, what in (
        ("family", FAMILIES, "what they are about"),
        ("group", GROUPS, "what they are counted under"),
        ("level", LEVELS, "how much they ask"),
    ):
        parser.add_argument(
            f"--{name}", action="append", choices=values, type=str.upper if values is not GROUPS else str.lower,
            help=f"only those of this {name}: {what}",
        )  # fmt: skip
    parser.add_argument("--profile", help="only those in force there: pi-0.85.0, or a composite")
    parser.add_argument("--json", action="store_true", help="print JSON, a list with an object for each")
    spec_argument(parser)
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Select, print, and return the exit code."""
    clauses = read_clauses(vectors_of(options).spec)
    chosen = (
        clauses.in_force(checked_profile(options.profile))
        if options.profile is not None
        else clauses.values()
    )
    selected = [
        clause
        for clause in chosen
        if clause.family in (options.family or FAMILIES)
        and clause.group in (options.group or GROUPS)
        and clause.level in (options.level or LEVELS)
    ]
    if not selected:
        raise UsageError(f"none of the {len(clauses)} clauses is selected")
    if options.json:
        print(print_json([clause_document(clause) for clause in selected], indent=2))
        return ExitCode.CONFORMANT
    console = make_console()
    show_list(console, selected)
    say(console, f"{len(selected)} of {len(clauses)} clauses")
    return ExitCode.CONFORMANT
