"""The report as a person sees it: a table, what is worth knowing about single scenarios, and one line that
says it all.

Whatever comes from a subject is printed as it is, never as markup, and without control characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from pi_trio.conformance.compare import Hunk, canonical
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.standing import ClauseVerdict
from pi_trio.conformance.twins import names_twin
from pi_trio.conformance.verdict import (
    FAILURES,
    ExitCode,
    Leg,
    Outcome,
    Report,
    Verdict,
    failures,
    summary,
    tally,
)

from .by_clause import show_clauses
from .parted import alike, parted
from .prose import clean, count, one_line, plain
from .unoffered import show_unoffered

_STYLES: Final = {
    Outcome.PASS: "green", Outcome.NON_STRICT: "yellow", Outcome.NOT_OFFERED: "dim", Outcome.KNOWN: "yellow",
    Outcome.FAIL: "red",
    Outcome.HANG: "red", Outcome.CRASH: "red", Outcome.HARNESS: "magenta",
}  # fmt: skip

SHOWN: Final = 10
"""Failures that are shown in full, if not all are wanted."""

_CONTEXT: Final = 3
_STDERR_LINES: Final = 20


def make_console(*, stderr: bool = False) -> Console:
    """A console that prints what it is given: no markup, no highlighting."""
    return Console(markup=False, highlight=False, emoji=False, stderr=stderr)


def say(console: Console, text: str) -> None:
    """Print one line, however long."""
    console.print(Text(text), soft_wrap=True)


def show_scenarios(console: Console, scenarios: Sequence[Scenario]) -> None:
    """Print a line for each scenario: name, topic, title."""
    names = max(len(scenario.name) for scenario in scenarios)
    topics = max(len(scenario.topic) for scenario in scenarios)
    for scenario in scenarios:
        say(console, f"{scenario.name:{names}}  {scenario.topic:{topics}}  {scenario.title}")


class Tick(Protocol):
    """What is told how far a long run has come."""

    def __call__(self, name: str, total: int | None, /, *, step: int = 1, also: str = "") -> None:
        """Go on.

        Args:
            name: what is done.
            total: how many there are; None: nobody knows.
            step: how many more that makes; 0 if it is only a part of one.
            also: what else can be counted.
        """


@contextmanager
def progress(console: Console, label: str) -> Generator[Tick]:
    """A bar that grows with each name that is told, of so many, and is gone at the end. Only on a terminal.

    Where nobody knows how many there are, it is told how many have been.
    """

    def tick(name: str, total: int | None, /, *, step: int = 1, also: str = "") -> None:
        bar.update(task, advance=step, total=total, name=", ".join(filter(None, (also, name))))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[name]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=None, name="")
        yield tick


def show_report(
    console: Console,
    report: Report,
    *,
    whole: Callable[[str], str],
    verbose: bool,
    clauses: Sequence[ClauseVerdict] = (),
    put_down: Collection[str] = (),
    explain: Callable[[], None] = lambda: None,
) -> None:
    """Print a report.

    Args:
        whole: the command that shows a scenario whole.
        verbose: every scenario, every clause, every failure, and tracebacks.
        clauses: the verdicts by clause.
        put_down: failed scenarios that show there, once for each cause, and not one by one.
        explain: prints what explains the failures; before all else, for it is what to mend first.
    """
    for leg in report.legs:
        _introduce(console, leg)
    worst = list(report.worst())
    if len(report.legs) > 1:
        say(console, f"each scenario counts once: the worst that came of these {len(report.legs)}")
    if number := sum(names_twin(verdict.name) for verdict in worst):
        say(console, f"{count(number, 'scenario')} once more, with aborts that cancel: NAME (cancel)")
    explain()
    if worst:
        console.print(_table(worst))
    if verbose:
        _list_all(console, report)
    _show_rulings(console, worst)
    show_unoffered(console, worst, report.legs)
    _show_ignored(console, report)
    _show_known(console, report)
    _show_failures(console, report, whole, put_down=put_down, verbose=verbose)
    if clauses:
        show_clauses(console, clauses, whole=whole, verbose=verbose)
    counts = report.tally()
    if names := report.missing_commands():
        console.print(Text(f"missing required commands: {', '.join(names)}", style="red"), soft_wrap=True)
    for line in report.stale:
        console.print(Text(f"stale in the baseline: {clean(line)}", style="red"), soft_wrap=True)
    if unrun := sum(leg.unrun for leg in report.legs):
        console.print(Text(f"stopped at the first failure; not run: {unrun}", style="red"))
    if untried := report.untried():
        console.print(
            Text(f"given up, and not driven through {untried} more, which count as failed", style="red"),
            soft_wrap=True,
        )
    code = report.exit_code()
    if code is ExitCode.NOT_CONFORMANT and not failures(counts) and not counts[Outcome.PASS]:
        console.print(Text("no scenario passed, so nothing is shown to be right", style="red"))
    console.print(
        Text(summary(counts), style="bold green" if code is ExitCode.CONFORMANT else "bold red"),
        soft_wrap=True,
    )


def show_heading(console: Console, text: str) -> None:
    """Print what the report that follows is about."""
    console.print()
    console.rule(Text(text, style="bold"), align="left")


def show_summaries(console: Console, reports: Mapping[str, Report]) -> None:
    """Print the line that says it all for each of several reports, by name."""
    console.print()
    width = max(len(name) for name in reports)
    for name, report in reports.items():
        style = "bold green" if report.exit_code() is ExitCode.CONFORMANT else "bold red"
        console.print(Text(f"{name:{width}}  {summary(report.tally())}", style=style), soft_wrap=True)


def _introduce(console: Console, leg: Leg) -> None:
    if leg.hello is None:
        console.print(Text(f"{leg.label} did not start: {clean(leg.fault)}", style="red"), soft_wrap=True)
        _show_stderr(console, leg.stderr)
        return
    hello = leg.hello
    console.print(
        Text(clean(f"{leg.label}: {hello['subject']} {hello['version']}, profile {hello['profile']}")),
        soft_wrap=True,
    )


def _table(worst: list[Verdict]) -> Table:
    """A row for each topic; a scenario counts as its worst leg has it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("topic")
    known = any(verdict.outcome is Outcome.KNOWN for verdict in worst)
    for heading in ("passed", "non-strict", "not offered", *(("known",) if known else ()), "failed"):
        table.add_column(heading, justify="right")
    by_topic: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in worst:
        by_topic[verdict.topic].append(verdict)
    for topic, verdicts in by_topic.items():
        counts = tally(verdicts)
        failed = failures(counts) + counts[Outcome.HARNESS]
        cells = [counts[Outcome.PASS], counts[Outcome.NON_STRICT], counts[Outcome.NOT_OFFERED]]
        cells += [counts[Outcome.KNOWN], failed] if known else [failed]
        table.add_row(topic, *(str(cell) if cell else "·" for cell in cells), style="red" if failed else "")
    return table


def _list_all(console: Console, report: Report) -> None:
    for leg in report.legs:
        console.print()
        console.print(Text(leg.label, style="bold"))
        for verdict in leg.verdicts:
            notes = (
                ", ".join(verdict.rulings)
                if verdict.outcome in (Outcome.PASS, Outcome.NON_STRICT)
                else clean(verdict.known or verdict.reason)
            )
            console.print(
                Text.assemble(
                    (f"  {verdict.outcome:12}", _STYLES[verdict.outcome]), f"{verdict.name}  ", (notes, "dim")
                ),
                soft_wrap=True,
            )


def _show_rulings(console: Console, worst: Iterable[Verdict]) -> None:
    """Every scenario that differs under a ruling; of those that pass only how many each ruling has."""
    golden: Counter[str] = Counter()
    listed: list[Verdict] = []
    for verdict in worst:
        if verdict.outcome is Outcome.PASS:
            golden.update(verdict.rulings)
        elif verdict.outcome is Outcome.NON_STRICT:
            listed.append(verdict)
    if listed:
        console.print()
        console.print(
            Text("differs from the runtime where a ruling says so:", style=_STYLES[Outcome.NON_STRICT])
        )
        width = max(len(verdict.name) for verdict in listed)
        for verdict in listed:
            console.print(Text(f"  {verdict.name:{width}}  {', '.join(verdict.rulings)}"), soft_wrap=True)
    if golden:
        console.print()
        counts = ", ".join(f"{ruling} in {count}" for ruling, count in sorted(golden.items()))
        say(
            console,
            "held to a reviewed golden trace where a ruling departs from the release "
            f"(see `pi-trio explain {min(golden)}`): {counts}",
        )


def _show_ignored(console: Console, report: Report) -> None:
    ignored: Counter[str] = Counter()
    for leg in report.legs:
        for verdict in leg.verdicts:
            ignored.update(verdict.ignored)
    if ignored:
        console.print()
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(ignored.items()))
        console.print(
            Text(clean(f"unknown to the protocol, and ignored: {listed}"), style="dim"), soft_wrap=True
        )


def _show_known(console: Console, report: Report) -> None:
    """Failures that the baseline knows, with the reason that it gives."""
    known = {
        (verdict.name, str(verdict.failed_as), verdict.known)
        for leg in report.legs
        for verdict in leg.verdicts
        if verdict.outcome is Outcome.KNOWN
    }
    if known:
        console.print()
        console.print(Text("known failures:", style="bold"))
    for name, outcome, reason in sorted(known):
        console.print(Text(f"  {name}: {outcome}; {clean(reason)}"), soft_wrap=True)


# Failures.


def _show_failures(
    console: Console, report: Report, whole: Callable[[str], str], *, put_down: Collection[str], verbose: bool
) -> None:
    """What failed. If not all is wanted, what differs and was put down to a clause is shown there, by its causes."""
    every = _failed(report)
    failed = [
        (verdict, labels)
        for verdict, labels in every
        if verbose or verdict.outcome is not Outcome.FAIL or verdict.name not in put_down
    ]
    for verdict, labels in failed if verbose else failed[:SHOWN]:
        where = "" if len(labels) == len(report.legs) else f" ({', '.join(labels)})"
        heading = ((str(verdict.outcome), f"bold {_STYLES[verdict.outcome]}"), " ", (verdict.name, "bold"))
        console.print()
        console.print(Text.assemble(*heading, f"  {verdict.title}{where}"), soft_wrap=True)
        if verdict.reason:
            console.print(Text(f"  {clean(verdict.reason)}"), soft_wrap=True)
        if verdict.hunks:
            first = verdict.hunks[0]
            words = verdict.words.get(first.start, "") if first.got else ""
            _show_hunk(console, first, more=len(verdict.hunks) - 1, words=words)
        if verbose:
            _show_wire(console, verdict.wire)
        _show_stderr(console, verdict.stderr)
        if verdict.traceback:
            shown = (
                clean(verdict.traceback)
                if verbose
                else "  a fault of the tester; --verbose shows its traceback"
            )
            console.print(Text(shown, style="dim"), soft_wrap=True)
        console.print(Text(f"  see it whole: {whole(verdict.name)}", style="dim"), soft_wrap=True)
    cut = 0 if verbose else max(0, len(failed) - SHOWN)
    if more := len(every) - len(failed) + cut:
        console.print()
        console.print(Text(f"{more} more failed; --verbose shows all", style="bold"))
        if number := len(every) - len(failed):
            say(
                console,
                f"  {number} whose cause is named elsewhere here: a clause that is BROKEN, or a field of the profile",
            )
            if cut:
                say(console, f"  {cut} beyond the first {SHOWN}")
    if every:
        console.print()


def _failed(report: Report) -> list[tuple[Verdict, list[str]]]:
    """What failed, each with the legs in which it failed in the same way."""
    found: dict[tuple[str, Outcome, str, str], tuple[Verdict, list[str]]] = {}
    for leg in report.legs:
        for verdict in leg.verdicts:
            if verdict.outcome in FAILURES or verdict.outcome is Outcome.HARNESS:
                key = (
                    verdict.name,
                    verdict.outcome,
                    verdict.reason,
                    canonical([[hunk.at, hunk.expected, hunk.got] for hunk in verdict.hunks]),
                )
                found.setdefault(key, (verdict, []))[1].append(leg.label)
    return list(found.values())


def _show_hunk(console: Console, hunk: Hunk, *, more: int, words: str) -> None:
    """The first line that differs, with what came before it in the same step; and what an error in it says in full."""
    expected, got = (lines[0] if lines else hunk.after for lines in (hunk.expected, hunk.got))
    if hunk.context:
        command, *before = hunk.context
        console.print(Text(f"  step {hunk.step}: {plain(command)}"), soft_wrap=True)
        for shared in before[-_CONTEXT:]:
            console.print(Text(f"      same      {plain(shared)}", style="dim"), soft_wrap=True)
    for heading, style, line in (("expected", "green", expected), ("got", "red", got)):
        said = plain(line) if line is not None else "(nothing more)"
        other = hunk.expected if heading == "got" else hunk.got
        if not other and line is not None and line in (*hunk.context, hunk.after):
            said += "   (once more)"
        elif heading == "got" and not hunk.got and line is not None:
            said += "   (at once, without what is expected here)"
        console.print(Text.assemble((f"      {heading:10}", style), said), soft_wrap=True)
    if words:
        console.print(Text(f"      in full: {clean(words)}"), soft_wrap=True)
    if (
        expected is not None
        and got is not None
        and hunk.expected
        and hunk.got
        and alike(expected, got)
        and (found := parted(expected, got))
    ):
        path, left, right = found
        where = f"at {path}: " if path else ""
        console.print(Text(f"      {where}{left} expected, {right} got"), soft_wrap=True)
    if more:
        places = "1 further place differs" if more == 1 else f"{more} further places differ"
        console.print(Text(f"      {places}", style="dim"))


def _show_wire(console: Console, wire: Sequence[str]) -> None:
    """What was sent (>) and received (<), the end of it if it is long."""
    if wire:
        console.print(Text("  wire:", style="dim"))
    for line in wire:
        console.print(Text(f"    {one_line(line)}"), soft_wrap=True)


def _show_stderr(console: Console, stderr: str) -> None:
    lines = clean(stderr).splitlines()
    if len(lines) > _STDERR_LINES:
        console.print(Text(f"  stderr (last {_STDERR_LINES} of {len(lines)} lines):", style="dim"))
    elif lines:
        console.print(Text("  stderr:", style="dim"))
    for line in lines[-_STDERR_LINES:]:
        console.print(Text(f"    {line}"), soft_wrap=True)
