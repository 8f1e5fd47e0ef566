"""`pi-trio conform`: judges a subject by all scenarios, and tells the verdict.

Without arguments it is the runtime of this package that is judged, in this process and over stdio, by what real Pi
did, and where aborts cancel by reviewed traces: offline, from the vectors that come with the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import trio
from rich.console import Console

from pi_trio.conformance.baseline import Baseline
from pi_trio.conformance.fitting import Explanation
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.by_clause import clauses_document
from pi_trio.conformance.report.document import document
from pi_trio.conformance.report.fitted import explained, show_explanation
from pi_trio.conformance.report.terminal import (
    make_console,
    say,
    show_heading,
    show_report,
    show_scenarios,
    show_summaries,
)
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.twins import with_twins
from pi_trio.conformance.verdict import ExitCode, Report
from pi_trio.profile import PROFILES

from .amounts import number_of_jobs
from .candidates import subject_arguments, whole_command
from .judging import Judged, judge_all
from .material import spec_argument, vectors_of
from .places import checked_place, json_argument, write_json
from .refusing import refusing
from .selection import select_with_twins
from .usage import UsageError

_MORE: Final = """\
A subject is any program that speaks the driver protocol on stdin and stdout, or at a
WebSocket. It is started once, and again after each crash; only the scenario that broke
it is lost. After three scenarios in a row in which it died, or did not start again, it
is given up.

examples:
  pi-trio conform                             the runtime, by what real Pi did; offline
  pi-trio conform --subject pi@1.6.0          a real Pi release, by the runtime
  pi-trio conform --exec 'node my-adapter.js' your implementation, by the runtime
  pi-trio conform --subject pi@0.85.0 --profile pi-1.6.0       one release as another
  pi-trio conform --exec './adapter' --profile all             as each release in turn
  pi-trio conform --scenario 'tool_*' -v      some scenarios, each with its verdict

The last line counts scenarios; failed ones include hangs and crashes. A scenario that
needs what the subject does not offer is not run, and is never a success. Who declares
`abort: both` plays each scenario with an abort once more, with aborts that cancel: that
one is called NAME (cancel), counts by itself, and is run whenever NAME is; or alone, if
it is named alone: --scenario '*(cancel)' are all of them.

Then clauses are counted, by what they are about. MUST is what every release named in the
clause does; rulings are what pi_trio promises beyond that: “kept”, or “non-strict” where
the subject does as the release instead, which is no fault. What is broken is shown once
for each cause; `pi-trio explain ID` has the rule. Words such as “turn begun” are places
in the state machines of spec/diagrams/.

A baseline is a TOML file of what is known to fail, by name or pattern, with a reason:
  [[known]]
  scenario = "abort_*"
  reason = "abort is not implemented yet"
What it covers is run and shown, but does not fail the run. An entry of which nothing
fails any more does. --update-baseline adds what fails; the reasons are yours to give,
and until then the file is refused.

exit codes:
  0 conformant: nothing failed, something passed, every required command is offered
  1 not conformant      2 wrong usage, or no such scenario   3 the subject did not start
  4 fault of the tester (--verbose shows the traceback)
  130 interrupted, by Ctrl-C or SIGTERM
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    subject_arguments(parser, all_profiles=True)
    spec_argument(parser)
    parser.add_argument(
        "--scenario", metavar="GLOB", action="append", default=[],
        help="only scenarios whose name matches, such as 'tool_*'; may be given several times",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="only list the scenarios: name, topic and title")
    parser.add_argument(
        "--baseline", metavar="FILE", type=Path, help="known failures, which do not fail the run; see below"
    )
    parser.add_argument(
        "--update-baseline",
        action="store_true",
        help="write the baseline anew: what fails now, with the reasons that it has already",
    )
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument(
        "--jobs", metavar="N", type=number_of_jobs, default=1,
        help="processes of the subject that run at once (default: %(default)d); behind --ws there is always one",
    )  # fmt: skip
    json_argument(parser, "all verdicts and differences")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="what the protocol does not know is a difference, and not ignored",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="list every scenario, show every failure with what was sent and received, and tracebacks",
    )  # fmt: skip


@refusing
def run(options: argparse.Namespace) -> int:
    """Judge, print, and return the exit code."""
    scenarios = select_with_twins(options.scenario)
    if options.list:
        show_scenarios(make_console(), scenarios)
        return ExitCode.CONFORMANT
    vectors, baseline = vectors_of(options), _baseline_of(options)
    profiles = list(PROFILES) if options.profile == "all" else [options.profile]
    with first_in_first_out():
        judged = trio.run(judge_all, options, profiles, scenarios, vectors, baseline)
    reports, updated = _hold_to(
        baseline,
        {profile: each.report for profile, each in judged.items()},
        update=options.update_baseline,
    )
    judged = {profile: attrs.evolve(judged[profile], report=report) for profile, report in reports.items()}
    _show(judged, options)
    if options.json is not None:
        write_json(options.json, _document(judged))
    if updated is not None:
        _write(updated, options.baseline)
    return max(report.exit_code() for report in reports.values())


def _show(judged: Mapping[str, Judged], options: argparse.Namespace) -> None:
    console = make_console()
    for profile, each in judged.items():
        if len(judged) > 1:
            show_heading(console, f"as {profile}")
        show_report(
            console,
            each.report,
            whole=partial(whole_command, options, profile),
            verbose=options.verbose,
            clauses=each.clauses,
            put_down=each.put_down,
            explain=partial(_show_explanation, console, profile, each.explanation),
        )
    if len(judged) > 1:
        show_summaries(console, {profile: each.report for profile, each in judged.items()})


def _show_explanation(console: Console, profile: str, explanation: Explanation | None) -> None:
    if explanation is not None:
        show_explanation(console, profile, explanation)


def _document(judged: Mapping[str, Judged]) -> Object:
    """One report as it is, several under their profiles."""
    documents: list[Object] = []
    for profile, each in judged.items():
        why = {} if each.explanation is None else {"explained": explained(each.explanation)}
        clauses = {"clauses": clauses_document(each.clauses)} if each.clauses else {}
        documents.append({**document(each.report, profile), **clauses, **why})
    return documents[0] if len(documents) == 1 else {"profiles": documents}


def _baseline_of(options: argparse.Namespace) -> Baseline:
    """The baseline that is meant; an empty one without."""
    if options.update_baseline:
        if options.baseline is None:
            raise UsageError("--update-baseline needs --baseline FILE")
        if options.fail_fast:
            raise UsageError("--update-baseline needs all verdicts, so it does not go with --fail-fast")
        if not checked_place(options.baseline).exists():
            return Baseline()
    if options.baseline is None:
        return Baseline()
    return Baseline.read(options.baseline, drafts=options.update_baseline)


def _hold_to(
    baseline: Baseline, reports: dict[str, Report], *, update: bool
) -> tuple[dict[str, Report], Baseline | None]:
    """The reports as the baseline has it, which holds for all profiles; and a new baseline, if one is to be written."""
    names = [scenario.name for scenario in with_twins(all_scenarios())]
    everything = Report(legs=tuple(leg for report in reports.values() for leg in report.legs))
    if not update or not any(leg.verdicts for leg in everything.legs):
        last = list(reports)[-1]
        stale = baseline.stale(everything, names)
        return {**reports, last: attrs.evolve(reports[last], stale=stale)}, None
    updated = baseline.updated(everything, names)
    return {profile: _marked(updated, report) for profile, report in reports.items()}, updated


def _write(baseline: Baseline, path: Path) -> None:
    """Raises: UsageError: it cannot be written."""
    try:
        baseline.write(path)
    except OSError as error:
        raise UsageError(f"--baseline {path}: {error.strerror}") from None
    say(make_console(stderr=True), f"{path}: {len(baseline.entries)} entries")


def _marked(baseline: Baseline, report: Report) -> Report:
    legs = (attrs.evolve(leg, verdicts=tuple(map(baseline.mark, leg.verdicts))) for leg in report.legs)
    return attrs.evolve(report, legs=tuple(legs))
