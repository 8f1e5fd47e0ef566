"""`pi-trio explain-run`: shows what happens in one scenario, as a sequence to read from top to bottom."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import trio

from pi_trio.conformance.expected import ReferenceFault, in_its_own_way
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.lockstep import Guide, Run
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.prose import clean
from pi_trio.conformance.report.sequence import show_golden, show_sequence
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import VectorError
from pi_trio.conformance.verdict import ExitCode
from pi_trio.errors import CodecError
from pi_trio.jsontext import parse_json, print_json
from pi_trio.profile import PROFILES

from .selection import UsageError, complain, judgings, select, spec_argument, subject_arguments, vectors_of

_MORE: Final = """\
Commands of the tester are numbered; what the subject does follows under each. A
callback that waits for an answer stands with its name and what it is about, a listener
with its own name. Answers that say nothing are left out, unless --all is given.

examples:
  pi-trio explain-run tools_parallel_reverse                      the runtime
  pi-trio explain-run tools_parallel_reverse --recorded           real Pi, from the vectors
  pi-trio explain-run stream_double_start --ruled                 both, where a ruling applies
  pi-trio explain-run tools_parallel_reverse --subject pi@1.6.0   real Pi, live
  pi-trio explain-run my-scenario.json --exec 'node my-adapter.js'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="the name of a scenario, or a JSON file that holds one"
    )
    subject_arguments(parser)
    spec_argument(parser)
    stored = parser.add_mutually_exclusive_group()
    stored.add_argument(
        "--recorded",
        action="store_true",
        help="show what the release did when it was recorded, and run nothing",
    )
    stored.add_argument(
        "--ruled",
        action="store_true",
        help="show the golden trace: where the runtime differs from the release, and why",
    )
    parser.add_argument("--all", action="store_true", help="show every command and reply")
    parser.add_argument(
        "--jsonl", action="store_true", help="print the raw trace, one JSON line for each entry"
    )


def run(options: argparse.Namespace) -> int:
    """Run or look up, print, and return the exit code: 1 if the subject broke off."""
    try:
        scenario = _find(options.scenario)
        if options.recorded:
            return _show(options, scenario, *_recorded(options, scenario))
        if options.ruled:
            return _show_ruled(options, scenario)
        with first_in_first_out():
            source, played = trio.run(_play, options, scenario)
    except SubjectUnavailable as error:
        return complain(str(error), ExitCode.NOT_STARTED)
    except SubjectUnstartable as fault:
        return complain(
            clean(f"the subject did not start: {fault.message}\n{fault.stderr}".rstrip()),
            ExitCode.NOT_STARTED,
        )
    except (UsageError, VectorError) as error:
        return complain(str(error), ExitCode.USAGE)
    except ReferenceFault as error:
        return complain(clean(str(error)), ExitCode.HARNESS)
    _show(options, scenario, source, played.lines)
    if played.fault is not None:
        return complain(
            clean(f"{played.fault.message}\n{played.fault.stderr}".rstrip()), ExitCode.NOT_CONFORMANT
        )
    return ExitCode.CONFORMANT


def _find(asked: str) -> Scenario:
    """Raises: UsageError: there is no such scenario, or the file holds none."""
    if not asked.endswith(".json"):
        return select([asked])[0]
    try:
        value: Any = parse_json(Path(asked).read_bytes())
        return Scenario.from_json(value)
    except OSError as error:
        raise UsageError(f"{asked}: {error.strerror}") from None
    except CodecError as error:
        raise UsageError(f"{asked}: {error}") from None


def _recorded(options: argparse.Namespace, scenario: Scenario) -> tuple[str, Sequence[Object]]:
    release = options.profile.removeprefix("pi-")
    recording = vectors_of(options).read(release, scenario.name)
    if recording is None:
        raise UsageError(f"{scenario.name} is not recorded from pi {release}")
    return f"pi {release}, recorded", recording.lines


def _show_ruled(options: argparse.Namespace, scenario: Scenario) -> int:
    release = options.profile.removeprefix("pi-")
    golden = read_golden(vectors_of(options), release, scenario.name)
    if golden is None:
        raise UsageError(
            f"{scenario.name} has no golden trace: no ruling makes the runtime differ from pi {release}"
        )
    if options.jsonl:
        return _show(options, scenario, "", [entry.to_json() for entry in golden.entries])
    show_golden(make_console(), scenario, golden, everything=options.all)
    return ExitCode.CONFORMANT


async def _play(options: argparse.Namespace, scenario: Scenario) -> tuple[str, Run]:
    console = make_console(stderr=True)
    profile, subjects = await judgings(options, lambda line: console.print(line, style="dim"))
    async with open_keeper(subjects[0].opener) as keeper:
        await keeper.start()
        hello = keeper.hello
        guide: Guide | None = None
        if profile in PROFILES:
            runtime = runtime_inside(profile, options.patience)
            scenario, guide = await in_its_own_way(runtime, scenario, hello, keeper.rest)
        played = await keeper.drive(scenario, guide)
        return clean(f"{subjects[0].label}: {hello['subject']} {hello['version']}, profile {profile}"), played


def _show(options: argparse.Namespace, scenario: Scenario, source: str, lines: Sequence[Object]) -> int:
    console = make_console()
    if options.jsonl:
        for line in lines:
            console.out(print_json(line), highlight=False)
    else:
        show_sequence(console, scenario, lines, source, everything=options.all)
    return ExitCode.CONFORMANT
