"""A port's own list of its known failures: what may fail without failing the run, and why.

The list is a file of the port, in TOML:

    [[known]]
    scenario = "abort_*"
    reason = "abort comes with our version 2"

An entry names a scenario, or many by a pattern as in a shell. What it covers is run and shown like everything
else. An entry is *stale* when nothing that it covers fails any more, or when there is nothing of that name;
a stale entry fails the run, so that the list never says more than is so.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from pi_trio.errors import PiTrioError
from pi_trio.jsontext import print_json

from .report.prose import count, one_line
from .verdict import FAILURES, Outcome, Report, Verdict
from .writing import write_whole

_HEADER: Final = """\
# Known failures, for `pi-trio conform --baseline`. Each entry needs a reason; one that no longer fails has to go.
"""

_DRAFT: Final = "say why"
"""How a reason ends that nobody has given yet."""

_NAMED: Final = 3
"""Entries without a reason that are named, at most."""

_FINE: Final = frozenset({Outcome.PASS, Outcome.NON_STRICT})


class BaselineError(PiTrioError):
    """A baseline cannot be read. The message names the file and the place."""


@attrs.frozen
class Entry:
    """What may fail: the name of a scenario, or a pattern, and why."""

    scenario: str
    reason: str

    def covers(self, name: str) -> bool:
        return fnmatch.fnmatchcase(name, self.scenario)


@attrs.frozen
class Baseline:
    """The known failures of a port, in the order of the file."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path, *, drafts: bool = False) -> Baseline:
        """Read a file.

        Args:
            drafts: reasons may still be missing.

        Raises:
            BaselineError: it cannot be read, or an entry is not what it must be.
        """
        try:
            value = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BaselineError(f"{path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BaselineError(f"{path}: {error}") from None
        known: Any = value.pop("known", [])
        if value or not isinstance(known, list):
            raise BaselineError(f"{path}: a baseline has entries [[known]], and nothing else")
        entries = tuple(_entry(path, number, item) for number, item in enumerate(known, 1))
        unexplained = [entry.scenario for entry in entries if entry.reason.strip().endswith(_DRAFT)]
        if unexplained and not drafts:
            some = ", ".join(unexplained[:_NAMED]) + (", …" if len(unexplained) > _NAMED else "")
            raise BaselineError(
                f"{path}: {count(len(unexplained), 'reason')} not given yet, of {some}: put yours where "
                f"an entry ends with “{_DRAFT}”"
            )
        return cls(entries)

    def write(self, path: Path) -> None:
        """Write the file anew. Raises: OSError."""
        entries = (
            f"\n[[known]]\nscenario = {_quoted(entry.scenario)}\nreason = {_quoted(entry.reason)}\n"
            for entry in self.entries
        )
        write_whole(path, (_HEADER + "".join(entries)).encode())

    def mark(self, verdict: Verdict) -> Verdict:
        """The verdict; if it is a failure that an entry covers, as a known one."""
        if verdict.outcome not in FAILURES:
            return verdict
        for entry in self.entries:
            if entry.covers(verdict.name):
                return attrs.evolve(
                    verdict, outcome=Outcome.KNOWN, known=entry.reason, failed_as=verdict.outcome
                )
        return verdict

    def stale(self, report: Report, names: Iterable[str]) -> tuple[str, ...]:
        """What is no longer so, each in one line.

        Args:
            names: of all scenarios that there are. What was not run is not judged.
        """
        known = tuple(names)
        return tuple(
            f"{entry.scenario}: {why}" for entry in self.entries if (why := _staleness(entry, report, known))
        )

    def updated(self, report: Report, names: Sequence[str]) -> Baseline:
        """Without what is stale, and with what fails without being covered; reasons are kept, and new ones are due."""
        kept = [entry for entry in self.entries if not _staleness(entry, report, names)]
        new = {
            verdict.name: Entry(verdict.name, one_line(f"{verdict.outcome}: {_reason(verdict)}"))
            for verdict in report.worst()
            if verdict.outcome in FAILURES
        }
        return Baseline((*kept, *new.values()))


def _staleness(entry: Entry, report: Report, names: Sequence[str]) -> str:
    """Why an entry is stale; empty if it is not, or if that cannot be told."""
    if not any(entry.covers(name) for name in names):
        return "there is no such scenario"
    outcomes = {
        verdict.outcome for leg in report.legs for verdict in leg.verdicts if entry.covers(verdict.name)
    }
    if outcomes & _FINE and not outcomes - _FINE - {Outcome.NOT_OFFERED}:
        return "it does not fail any more"
    return ""


def _entry(path: Path, number: int, item: Any) -> Entry:
    fields = item if isinstance(item, dict) else {}
    if fields.keys() != {"scenario", "reason"} or not all(
        isinstance(value, str) and value.strip() for value in fields.values()
    ):
        raise BaselineError(
            f"{path}: entry {number} needs a scenario and a reason, both texts, and nothing else"
        )
    return Entry(fields["scenario"], fields["reason"])


def _reason(verdict: Verdict) -> str:
    """What stands for a reason until somebody gives one."""
    return f"{verdict.reason}; {_DRAFT}" if verdict.reason else _DRAFT


def _quoted(text: str) -> str:
    """A string of TOML: as in JSON, but for one control character."""
    return print_json(text).replace("\x7f", "\\u007f")
