"""`pi-trio explain`: a clause, a surprise or a ruling of the spec, as a page."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, Final

import attrs

from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.clauses import FAMILIES, RELEASES, Clause, Clauses, read_clauses
from pi_trio.conformance.deviations import Deviation, postconditions, read_deviations
from pi_trio.conformance.report.pages import (
    Evidence,
    clause_document,
    deviation_document,
    show_clause,
    show_deviation,
    show_list,
)
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.standing import CANCELS
from pi_trio.conformance.transport.vector import read_transport_vectors
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import ExitCode
from pi_trio.jsontext import print_json

from .material import spec_argument, vectors_of
from .refusing import refusing
from .usage import UsageError, verbose_argument

_MORE: Final = """\
A clause is one rule of the spec, with what it is good for, what implementations get
wrong, and the scenarios that show it on real releases (or, in the family MODEL, recorded
answers of servers). S-01 and D-01 are the surprises of Pi and the rulings that answer
some of them. A family is listed.

examples:
  pi-trio explain TURN-05           a clause
  pi-trio explain S-13 D-05         a surprise, and the ruling on it
  pi-trio explain TURN              the clauses about turns
"""

_NO_MODE: Final = (
    'have no aborts that cancel, as upstream (`abort` is then "advisory", and what this asks for is not offered); '
    "where its aborts cancel, do "
)
"""What answers to doing as upstream under the ruling on a mode that upstream does not have."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs="+",
        help=f"a clause, a surprise, a ruling, or a family: {', '.join(FAMILIES)}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, a list with an object for each")
    spec_argument(parser)
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Look up, print, and return the exit code."""
    book = _Book.open(vectors_of(options))
    found = [book.find(asked) for asked in options.ids]
    if options.json:
        documents = [document for each in found for document in book.documents(each)]
        print(print_json(documents, indent=2))
        return ExitCode.CONFORMANT
    console = make_console()
    for number, each in enumerate(found):
        if number:
            console.print()
        book.show(each)
    return ExitCode.CONFORMANT


@attrs.frozen
class _Book:
    """The spec, open to look things up."""

    vectors: Vectors
    clauses: Clauses
    deviations: dict[str, Deviation]

    @classmethod
    def open(cls, vectors: Vectors) -> _Book:
        """Raises: VectorError."""
        return cls(vectors, read_clauses(vectors.spec), read_deviations(vectors.spec))

    def find(self, asked: str) -> str:
        """The id that is meant, however it is written.

        Raises:
            UsageError: there is none; the message names the nearest.
        """
        name = re.sub(r"^([A-Z]+)-?(\d+)$", lambda match: f"{match[1]}-{int(match[2]):02}", asked.upper())
        known = [*FAMILIES, *self.clauses, *self.deviations]
        if name in known:
            return name
        if not asked.strip():
            raise UsageError("an id is empty; one is such as TURN-05, D-05 or TURN")
        if asked in {scenario.name for scenario in all_scenarios()}:
            raise UsageError(f"{asked} is a scenario, which `pi-trio explain-run {asked}` shows")
        near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
        if not near:
            near = [*FAMILIES, "S-01", "D-01"]
        raise UsageError(f"the spec has no {asked}; near it are {', '.join(near)}")

    def show(self, name: str) -> None:
        """Print what there is."""
        console = make_console()
        if name in FAMILIES:
            show_list(console, self.clauses.of_family(name))
        elif name in self.clauses:
            clause = self.clauses[name]
            show_clause(console, clause, self.evidence(clause), self.title)
        else:
            show_deviation(console, self.deviations[name], self.referring(name), port=self.port(name))

    def documents(self, name: str) -> Sequence[dict[str, Any]]:
        """The same as JSON."""
        if name in FAMILIES:
            return [clause_document(each, self.evidence(each)) for each in self.clauses.of_family(name)]
        if name in self.clauses:
            clause = self.clauses[name]
            return [clause_document(clause, self.evidence(clause))]
        return [deviation_document(self.deviations[name], self.referring(name), port=self.port(name))]

    def port(self, name: str) -> str:
        """What a port may do under a ruling; empty for a surprise."""
        if not name.startswith("D-"):
            return ""
        asked = postconditions(self.vectors.spec).get(name)
        if asked is None:
            return "(nothing of it shows in a trace, so nothing is judged)"
        upstream = _NO_MODE if name == CANCELS else "do as upstream (NON-STRICT), "
        return f"{upstream}as pi_trio, or otherwise as long as: {asked}"

    def title(self, name: str) -> str:
        """What an id is about."""
        if name in self.clauses:
            return self.clauses[name].title
        return self.deviations[name].title if name in self.deviations else "(not in this spec)"

    def referring(self, name: str) -> list[Clause]:
        """The clauses that come from a ruling, or see it."""
        return [each for each in self.clauses.values() if name == each.ruling or name in each.see]

    def evidence(self, clause: Clause) -> list[Evidence]:
        """The scenarios of a clause, with the releases that show it."""
        if clause.of_transport:
            return self.answers(clause)
        titles = {scenario.name: scenario.title for scenario in all_scenarios()}
        return [
            Evidence(
                scenario=name,
                title=titles.get(name, "(no such scenario)"),
                releases=tuple(release for release in RELEASES if self._shows(release, name, clause.ruling)),
            )
            for name in clause.evidence
        ]

    def answers(self, clause: Clause) -> list[Evidence]:
        """The vectors of the transport that show a clause."""
        vectors = read_transport_vectors(self.vectors.spec)
        return [
            Evidence(scenario=name, title=vectors[name].title, releases=vectors[name].releases)
            for name in clause.evidence
            if name in vectors
        ]

    def _shows(self, release: str, name: str, ruling: str | None) -> bool:
        if ruling is None:
            return self.vectors.path(release, name).is_file()
        read = read_cancel_golden if ruling == CANCELS else read_golden
        golden = read(self.vectors, release, name)
        return golden is not None and ruling in golden.rulings()
