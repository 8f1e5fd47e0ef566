"""What there is to say of logs: each finding as it comes, with its file and line, and at the end one line for all.

A fault that comes again and again is shown three times and counted. What was found is told at once, because a log may
be followed while it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
from rich.console import Console
from rich.text import Text

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.logs import BARE, WITHOUT_QUIESCENCE, Checked, Remark, keys_given_twice
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.verdict import ExitCode

from .advice import advice
from .prose import clean, one_line

SHOWN: Final = 3
"""How often the same fault is shown, if not all is wanted."""

_STYLES: Final = {"broken": "bold red", "as Pi": "yellow", "unreadable": "bold magenta", "note": "bold cyan"}
_WIDTH: Final = 400
"""Characters of what is told in one piece."""
_IN_A_SESSION: Final = (
    "in a session, whose updates lack the message and whose extensions change what was said"
)
_OF_A_LATE_SUBJECT: Final = (
    "of a subject whose quiescence is none, which may say late what it has done before"
)
_OF_BARE_UPDATES: Final = "of updates without their message"
_APART: Final = (
    "each log fits a release: judge them apart, or, with --profile, all as the one that they are to follow"
)
_CHOICES: Final = 12
"""So many events that would have been allowed are named."""


@attrs.define
class Fault:
    """The same remark, wherever it was made: the first of it, and how many there are."""

    remark: Remark
    count: int = 0
    places: list[Object] = attrs.field(factory=list[Object])


class Teller:
    """Prints remarks as they are made, and counts them.

    Args:
        console: where it prints now.
        verbose: every remark is shown, also what is as Pi does it.
    """

    def __init__(self, console: Console, clauses: Clauses, *, verbose: bool) -> None:
        self.console = console
        self._clauses = clauses
        self._verbose = verbose
        self.faults: dict[str, Fault] = {}

    def of(self, label: str) -> Callable[[Remark], None]:
        """What hears the remarks on one log."""
        return lambda remark: self._tell(label, remark)

    def _tell(self, label: str, remark: Remark) -> None:
        fault = self.faults.get(remark.cause)
        if fault is None:
            fault = self.faults[remark.cause] = Fault(attrs.evolve(remark, raw=b""))
        fault.count += 1
        if len(fault.places) < SHOWN:
            fault.places.append(_place(label, remark))
        if self._verbose or (fault.count <= SHOWN and remark.kind != "as Pi"):
            self._show(label, remark)

    def _show(self, label: str, remark: Remark) -> None:
        finding = remark.finding
        words = [(one_line(f"{label}:{remark.line}: "), ""), (remark.kind.upper(), _STYLES[remark.kind])]
        if finding is None:
            words.append((f" {_said(remark)}", ""))
        else:
            clause = self._clauses.get(finding.clause)
            words.append((f" {finding.clause}", "bold"))
            if clause is not None:
                words.append((f"  {clause.title}  ({clause.full_level})", ""))
        self._print(Text.assemble(*words))
        if finding is None:
            return
        self._print(Text(f"    {_said(remark)}"))
        if allowed := _allowed(remark):
            self._print(Text(f"    allowed: {', '.join(allowed)}", style="green"))
        if remark.kind == "broken" and (twice := keys_given_twice(remark.raw)):
            self._print(
                Text(f"    in this line {_short(', '.join(twice))} is given twice, and the last one counts")
            )

    def _print(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)
        self.console.file.flush()  # somebody may follow it through a pipe

    def show_rest(self) -> None:
        """Say how many more there were of what was shown."""
        for fault in self.faults.values():
            more = fault.count - SHOWN
            if more > 0 and not self._verbose and fault.remark.kind != "as Pi":
                finding = fault.remark.finding
                name = f"{finding.clause}: " if finding is not None else ""
                said = _short(fault.remark.reason or fault.remark.text)
                self._print(Text(f"and {more:,} more of {name}{said}", style="bold"))


def _said(remark: Remark) -> str:
    return _short(remark.text)


def _short(text: str) -> str:
    """The beginning of a text that may have no end, and has no control characters then."""
    return one_line(text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…")


def _allowed(remark: Remark) -> list[str]:
    if remark.finding is None:
        return []
    found = [_short(each) for each in remark.finding.allowed]
    return found if len(found) <= _CHOICES else [*found[:_CHOICES], f"and {len(found) - _CHOICES} more"]


def _place(label: str, remark: Remark) -> Object:
    place = {"log": label, "line": remark.line, "said": _said(remark)}
    allowed = _allowed(remark)
    return {**place, "allowed": allowed} if allowed else place


def show_logs(console: Console, logs: Mapping[str, Checked], teller: Teller, *, verbose: bool) -> ExitCode:
    """Print what there is to say at the end, the last line says it all.

    Args:
        verbose: a line for each log.

    Returns:
        The exit code that fits.
    """
    teller.show_rest()
    whole = _sum(logs.values())
    if len(logs) > 1:
        for label, log in logs.items():
            if verbose or not log.conformant:
                style = "" if log.conformant else "red"
                said = f"{_counts(log)}; {_fit(log)}" if log.judged else f"nothing to judge: {advice(log)}"
                console.print(Text(one_line(f"{label}: {said}"), style=style), soft_wrap=True)
    for what, names in (
        ("of the session, and not of its agent: ", whole.session),
        ("of types that are not known: ", whole.skipped),
    ):
        if names:
            listed = ", ".join(f"{name} ({count:,})" for name, count in sorted(names.items()))
            console.print(Text(clean(f"not judged, {what}{listed}"), style="dim"), soft_wrap=True)
    late, of_messages = whole.left_out & WITHOUT_QUIESCENCE, whole.left_out - WITHOUT_QUIESCENCE
    for where, clauses in (
        (_OF_BARE_UPDATES if of_messages == BARE else _IN_A_SESSION, of_messages),
        (_OF_A_LATE_SUBJECT, late),
    ):
        if clauses:
            console.print(
                Text(f"not judged {where}: {', '.join(sorted(clauses))}", style="dim"), soft_wrap=True
            )
    if whole.rulings:
        listed = ", ".join(f"{ruling} in {count:,}" for ruling, count in sorted(whole.rulings.items()))
        more = "" if verbose else "; --verbose shows them"
        console.print(
            Text(f"as Pi does it, where a ruling is stricter: {listed}{more}", style="yellow"), soft_wrap=True
        )
    if not whole.judged and not whole.interrupted:
        console.print(Text(advice(whole)), soft_wrap=True)
    if whole.judged and all(log.profiles for log in logs.values() if log.judged) and not _fits_one(whole):
        console.print(Text(_APART), soft_wrap=True)
    code = _code(whole)
    style = "bold green" if code is ExitCode.CONFORMANT else "bold red"
    console.print(Text(summary(logs, teller), style=style), soft_wrap=True)
    return code


def summary(logs: Mapping[str, Checked], teller: Teller) -> str:
    """One line for all."""
    whole = _sum(logs.values())
    faults = teller.faults.values()
    broken = sorted({
        fault.remark.finding.clause
        for fault in faults
        if fault.remark.finding is not None and fault.remark.kind == "broken"
    })  # fmt: skip
    where = "" if len(logs) == 1 else f" in {len(logs):,} logs"
    parts = [f"{_counts(whole)}{where}", f"{_number(len(whole.reached), 'clause')} reached"]
    if broken:
        parts.append(f"broken: {', '.join(broken)}")
    if whole.remarks["unreadable"]:
        parts.append(f"{_number(whole.remarks['unreadable'], 'thing')} that cannot be read")
    if whole.judged:
        parts.append(_fit(whole))
    verdict = {True: "conformant", False: "not conformant"}[whole.conformant]
    if not whole.judged:
        verdict = "nothing to judge"
    if whole.interrupted:
        verdict = f"interrupted; so far {verdict}"
    return f"{verdict}: {'; '.join(parts)}"


def _code(whole: Checked) -> ExitCode:
    if whole.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.CONFORMANT if whole.conformant else ExitCode.NOT_CONFORMANT


def _counts(log: Checked) -> str:
    counts = [(log.runs, "run"), (log.responses, "response"), (log.events, "event")]
    left_out = "run" if log.responses and not log.runs else "response" if not log.responses else ""
    return ", ".join(_number(count, what) for count, what in counts if what != left_out)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _fit(log: Checked) -> str:
    """Which profiles it may follow."""
    if log.judged_as is not None:
        return f"judged as {log.judged_as}"
    if _fits_one(log):
        return f"as {' or '.join(sorted(log.profiles))}"
    if len(log.fits) < 2:
        return "as no release"
    if len(set(log.fits.values())) < len(log.fits):
        return "no release fits them all"
    parts = [f"from line {line} on as {' or '.join(sorted(each))}" for each, line in log.fits.items()]
    return f"no release fits all of it: {', '.join(parts)}"


def _fits_one(log: Checked) -> bool:
    return log.judged_as is not None or bool(log.profiles)


def _sum(logs: Iterable[Checked]) -> Checked:
    """All logs as if they were one."""
    logs = list(logs)
    if len(logs) == 1:
        return logs[0]
    whole = Checked()
    judged: set[str | None] = set()
    for log in logs:
        whole.runs += log.runs
        whole.events += log.events
        whole.responses += log.responses
        whole.lines += log.lines
        whole.asked += log.asked
        for mine, its in (
            (whole.session, log.session), (whole.skipped, log.skipped), (whole.remarks, log.remarks),
            (whole.rulings, log.rulings), (whole.sides, log.sides),
        ):  # fmt: skip
            mine.update(its)  # type: ignore[arg-type]
        whole.reached |= log.reached
        whole.left_out |= log.left_out
        whole.complete &= log.complete
        whole.interrupted |= log.interrupted
        if log.judged:
            judged.add(log.judged_as)
            whole.fits.setdefault(log.profiles, 1)
    whole.judged_as = next(iter(judged)) if len(judged) == 1 else None
    return whole


def checked_document(logs: Mapping[str, Checked], teller: Teller, clauses: Clauses) -> Object:
    """The same, fit for `print_json`."""
    whole = _sum(logs.values())
    faults: Sequence[Fault] = list(teller.faults.values())
    return {
        "summary": summary(logs, teller),
        "conformant": whole.conformant and not whole.interrupted,
        "interrupted": whole.interrupted,
        "runs": whole.runs,
        "events": whole.events,
        **({"responses": whole.responses} if whole.responses else {}),
        "logs": [{"log": label, **_log(log)} for label, log in logs.items()],
        "reached": [name for name in clauses if name in whole.reached],
        "findings": [_finding(fault, clauses) for fault in faults if fault.remark.finding is not None],
        "unreadable": [_other(fault) for fault in faults if fault.remark.kind == "unreadable"],
        "notes": [_other(fault) for fault in faults if fault.remark.kind == "note"],
    }


def _log(log: Checked) -> Object:
    return {
        "runs": log.runs,
        "events": log.events,
        **({"responses": log.responses} if log.responses else {}),
        "lines": log.lines,
        "broken": log.remarks["broken"],
        "unreadable": log.remarks["unreadable"],
        "asPi": dict(sorted(log.rulings.items())),
        "complete": log.complete,
        **({"judgedAs": log.judged_as} if log.judged_as is not None else {}),
        "fits": [{"fromLine": line, "profiles": sorted(each)} for each, line in log.fits.items()],
        "notJudged": dict(sorted((log.session + log.skipped).items())),
    }


def _finding(fault: Fault, clauses: Clauses) -> Object:
    finding = fault.remark.finding
    assert finding is not None
    clause = clauses.get(finding.clause)
    return {
        "clause": finding.clause,
        **({"title": clause.title} if clause is not None else {}),
        "kind": finding.kind,
        **({"ruling": finding.ruling} if finding.ruling is not None else {}),
        "cause": finding.cause,
        "count": fault.count,
        "places": fault.places,
    }


def _other(fault: Fault) -> Object:
    return {
        "text": _short(fault.remark.reason or fault.remark.text),
        "count": fault.count,
        "places": fault.places,
    }
