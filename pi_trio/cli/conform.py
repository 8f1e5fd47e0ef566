"""`pi-trio conform`: judges a subject by all scenarios, and tells the verdict.

Without arguments it is the runtime of this package that is judged, once in this process and once over stdio,
by what real Pi did: offline, from the vectors that come with the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import trio

from pi_trio.conformance.baseline import Baseline, BaselineError
from pi_trio.conformance.expected import OfOthers, expected_of_runtime
from pi_trio.conformance.judge import Expect, Fit, judge_subject
from pi_trio.conformance.report.document import document
from pi_trio.conformance.report.terminal import make_console, progress, say, show_report, show_scenarios
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import VectorError, Vectors
from pi_trio.conformance.verdict import ExitCode, Leg, Report
from pi_trio.jsontext import print_json

from .selection import (
    UsageError,
    check_profile,
    complain,
    judgings,
    select,
    spec_argument,
    subject_arguments,
    vectors_of,
    whole_command,
)

_MORE: Final = """\
A subject is any program that speaks the driver protocol on stdin and stdout, or at a
WebSocket. It is started once, and again after each crash; only the scenario that broke
it is lost. After three deaths in a row it is given up.

examples:
  pi-trio conform                             the runtime, by what real Pi did; offline
  pi-trio conform --subject pi@1.6.0          a real Pi release, by the runtime
  pi-trio conform --exec 'node my-adapter.js' your implementation, by the runtime
  pi-trio conform --scenario 'tool_*' -v      some scenarios, each with its verdict

The last line counts scenarios; failed ones include hangs and crashes. A scenario that
needs what the subject does not offer is not run, and is never a success.

A baseline is a TOML file of what is known to fail, by name or pattern, with a reason:
  [[known]]
  scenario = "abort_*"
  reason = "abort is not implemented yet"
What it covers is run and shown, but does not fail the run. An entry of which nothing
fails any more does.

exit codes:
  0 conformant: nothing failed, something passed, every required command is offered
  1 not conformant      2 wrong usage, or no such scenario   3 the subject did not start
  4 fault of the tester (--verbose shows the traceback)      130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    subject_arguments(parser)
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
        "--jobs", metavar="N", type=_jobs, default=1,
        help="processes of the subject that run at once (default: %(default)d)",
    )  # fmt: skip
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write all verdicts and differences to FILE"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="what the protocol does not know is a difference, and not ignored",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="list every scenario, show every failure with what was sent and received, and tracebacks",
    )  # fmt: skip


def _jobs(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a number from 1 is needed")
    return value


def run(options: argparse.Namespace) -> int:
    """Judge, print, and return the exit code."""
    try:
        scenarios = select(options.scenario)
        if options.list:
            show_scenarios(make_console(), scenarios)
            return ExitCode.CONFORMANT
        vectors = vectors_of(options)
        if options.json is not None and not options.json.absolute().parent.is_dir():
            raise UsageError(f"--json {options.json}: there is no folder {options.json.absolute().parent}")
        baseline = _baseline_of(options)
        with first_in_first_out():
            profile, report = trio.run(_judge_all, options, scenarios, vectors, baseline)
        report = _hold_to(baseline, report, options)
    except SubjectUnavailable as error:
        return complain(str(error), ExitCode.NOT_STARTED)
    except (UsageError, BaselineError) as error:
        return complain(str(error), ExitCode.USAGE)
    except VectorError as error:
        return complain(str(error), ExitCode.HARNESS)
    console = make_console()
    show_report(console, report, whole=partial(whole_command, options), verbose=options.verbose)
    if options.json is not None:
        try:
            options.json.write_text(f"{print_json(document(report, profile), indent=2)}\n", encoding="utf-8")
        except OSError as error:
            return complain(f"--json {options.json}: {error.strerror}", ExitCode.USAGE)
    return report.exit_code()


def _baseline_of(options: argparse.Namespace) -> Baseline:
    """The baseline that is meant; an empty one without."""
    if options.update_baseline:
        if options.baseline is None:
            raise UsageError("--update-baseline needs --baseline FILE")
        if options.fail_fast:
            raise UsageError("--update-baseline needs all verdicts, so it does not go with --fail-fast")
        if not options.baseline.exists():
            return Baseline()
    return Baseline() if options.baseline is None else Baseline.read(options.baseline)


def _hold_to(baseline: Baseline, report: Report, options: argparse.Namespace) -> Report:
    """The report as the baseline has it; the baseline is written anew if that was asked for."""
    names = [scenario.name for scenario in all_scenarios()]
    if not options.update_baseline or not any(leg.verdicts for leg in report.legs):
        return attrs.evolve(report, stale=baseline.stale(report, names))
    updated = baseline.updated(report, names)
    try:
        updated.write(options.baseline)
    except OSError as error:
        raise UsageError(f"--baseline {options.baseline}: {error.strerror}") from None
    say(make_console(stderr=True), f"{options.baseline}: {len(updated.entries)} entries")
    legs = (attrs.evolve(leg, verdicts=tuple(map(updated.mark, leg.verdicts))) for leg in report.legs)
    return attrs.evolve(report, legs=tuple(legs))


async def _judge_all(
    options: argparse.Namespace, scenarios: Sequence[Scenario], vectors: Vectors, baseline: Baseline
) -> tuple[str, Report]:
    console = make_console(stderr=True)
    profile, subjects = await judgings(options, lambda line: console.print(line, style="dim"))
    check_profile(profile)
    release = profile.removeprefix("pi-")
    if not vectors.names(release):
        raise UsageError(
            f"{vectors.spec} holds no recordings of Pi {release}, without which the runtime is no judge; "
            f"`pi-trio vectors record --release {release}` makes them"
        )
    legs: list[Leg] = []
    for subject in subjects:
        expect: Expect = partial(expected_of_runtime, vectors, release)
        fit: Fit | None = None
        if subject.by_runtime:
            others = OfOthers(runtime_inside(profile, options.patience), scenarios, vectors, release)
            await others.consult()
            expect, fit = others.of, others.fit
        with progress(console, subject.label, len(scenarios)) as tick:
            leg = await judge_subject(
                subject.label, subject.opener, scenarios,
                expect=expect, decide=subject.decide, fit=fit, strict=options.strict, mark=baseline.mark,
                jobs=options.jobs if subject.many else 1, fail_fast=options.fail_fast, progress=tick,
            )  # fmt: skip
        legs.append(leg)
        if leg.unrun:
            break
    return profile, Report(legs=tuple(legs))
