"""`pi-trio explain-run`: shows what happens in one scenario, as a sequence to read from top to bottom."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import trio

from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import in_its_own_way, lacking
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.prose import clean
from pi_trio.conformance.report.sequence import show_compared, show_golden, show_sequence
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.twins import Twin, twin, written
from pi_trio.conformance.verdict import ExitCode
from pi_trio.errors import CodecError
from pi_trio.jsontext import parse_json, print_json
from pi_trio.profile import PROFILES, releases_in

from .candidates import DEFAULT_PROFILE, checked_profile, one_subject, subject_arguments
from .expecting import Comparison, compared
from .material import spec_argument, vectors_of
from .refusing import complain, refusing
from .selection import select_one
from .usage import UsageError, verbose_argument

_AN_ID: Final = re.compile(r"[A-Z]+-\d+")
"""What rulings, surprises and clauses are called by."""

_MORE: Final = """\
Commands of the tester are numbered; what the subject does follows under each. A
callback that waits for an answer stands with its name and what it is about, a listener
with its own name. Answers that say nothing are left out, unless --all is given. Where
a subject departs from what is expected of it, what was to come is marked with - and
what came with +. Of two lines about the same thing the first place that differs is
named, with both values.

examples:
  pi-trio explain-run tools_parallel_reverse                      the runtime
  pi-trio explain-run tools_parallel_reverse --recorded           real Pi, from the vectors
  pi-trio explain-run stream_double_start --ruled                 both, where a ruling applies
  pi-trio explain-run abort_with_queues --cancelling              an abort that cancels
  pi-trio explain-run abort_with_queues --ruled --cancelling      both modes of the abort
  pi-trio explain-run tools_parallel_reverse --subject pi@0.85.0  a release of Pi, live
  pi-trio explain-run my-scenario.json --exec 'node my-adapter.js'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="the name of a scenario, or a JSON file that holds one; NAME (cancel) is NAME with --cancelling",
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
    parser.add_argument(
        "--cancelling",
        action="store_true",
        help="play it with aborts that cancel (D-10); with --ruled, show where that makes the runtime differ",
    )
    parser.add_argument("--all", action="store_true", help="show every command and reply")
    parser.add_argument(
        "--jsonl", action="store_true", help="print the raw trace, one JSON line for each entry"
    )
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Run or look up, print, and return the exit code: 1 if the subject broke off."""
    scenario = _find(options.scenario)
    options.cancelling |= isinstance(scenario, Twin)
    if options.cancelling:
        scenario = twin(written(scenario))
    if options.recorded and options.cancelling:
        raise UsageError("no release has aborts that cancel, so --cancelling goes with no recording")
    if options.recorded:
        return _show(options, scenario, *_recorded(options, scenario))
    if options.ruled:
        return _show_ruled(options, scenario)
    with first_in_first_out():
        source, played, held = trio.run(_play, options, scenario)
    _show(options, scenario, source, played.lines, words=played.words, held=held)
    if played.fault is not None:
        return complain(
            clean(f"{played.fault.message}\n{played.fault.stderr}".rstrip()), ExitCode.NOT_CONFORMANT
        )
    return ExitCode.CONFORMANT


def _find(asked: str) -> Scenario:
    """Raises: UsageError: there is no such scenario, or more than one, or the file holds none."""
    if _AN_ID.fullmatch(asked):
        raise UsageError(f"{asked} is no scenario; `pi-trio explain {asked}` says what it is")
    if not asked.endswith(".json"):
        return select_one(asked)
    try:
        value: Any = parse_json(Path(asked).read_bytes())
        return Scenario.from_json(value)
    except OSError as error:
        raise UsageError(f"{asked}: {error.strerror}") from None
    except CodecError as error:
        raise UsageError(f"{asked}: {error}") from None


def _release(options: argparse.Namespace) -> str:
    """The release whose files are meant.

    Raises:
        UsageError: there is no such profile, or no such release.
    """
    _, named, release = (options.subject or "").partition("pi@")
    if named and options.profile is None and f"pi-{release}" not in PROFILES:
        known = ", ".join(f"pi@{profile.release}" for profile in PROFILES.values())
        raise UsageError(f"--subject {options.subject}: there are files of {known}")
    return releases_in(checked_profile(options.profile or (f"pi-{release}" if named else DEFAULT_PROFILE)))[0]


def _recorded(options: argparse.Namespace, scenario: Scenario) -> tuple[str, Sequence[Object]]:
    release = _release(options)
    recording = vectors_of(options).read(release, scenario.name)
    if recording is None:
        raise UsageError(f"{scenario.name} is not recorded from pi {release}")
    return f"pi {release}, recorded", recording.lines


def _show_ruled(options: argparse.Namespace, scenario: Scenario) -> int:
    release = _release(options)
    vectors = vectors_of(options)
    name = written(scenario).name
    of_mode = read_cancel_golden(vectors, release, name)
    golden = of_mode if options.cancelling else read_golden(vectors, release, name)
    if golden is None and options.cancelling:
        raise UsageError(f"{name} has no golden trace of aborts that cancel: they change nothing in it")
    if golden is None:
        also = "; where aborts cancel it does: add --cancelling" if of_mode is not None else ""
        raise UsageError(
            f"{name} has no golden trace: no ruling makes the runtime differ from pi {release}{also}"
        )
    if options.jsonl:
        return _show(options, scenario, "", [entry.to_json() for entry in golden.entries])
    show_golden(make_console(), scenario, golden, everything=options.all, cancelling=options.cancelling)
    return ExitCode.CONFORMANT


async def _play(options: argparse.Namespace, scenario: Scenario) -> tuple[str, Run, Comparison | None]:
    profile, subject = await one_subject(options)
    async with open_keeper(subject.opener) as keeper:
        await keeper.start()
        hello = keeper.hello
        if options.cancelling and (lacks := lacking(scenario, hello)):
            raise UsageError(f"{subject.label} does not offer {', '.join(lacks)}")
        runtime = runtime_inside(profile, options.patience)
        own, guide = await in_its_own_way(runtime, scenario, hello, keeper.rest)
        played = await keeper.drive(own, guide)
    source = f"{subject.label}: {hello['subject']} {hello['version']}, profile {profile}"
    held = None if options.jsonl else await compared(options, profile, subject, hello, scenario, played)
    if held is not None and held.allowed:
        source += f"; {held.allowed}"
    return clean(source), played, held


def _show(
    options: argparse.Namespace,
    scenario: Scenario,
    source: str,
    lines: Sequence[Object],
    *,
    words: Mapping[int, str] | None = None,
    held: Comparison | None = None,
) -> int:
    console = make_console()
    if options.jsonl:
        for line in lines:
            console.out(print_json(line), highlight=False)
    elif held is not None and fingerprint(held.lines) != fingerprint(lines):
        show_compared(
            console,
            scenario,
            held.lines,
            lines,
            source,
            whose=held.whose,
            everything=options.all,
            words=words,
        )
    else:
        show_sequence(console, scenario, lines, source, everything=options.all, words=words)
    return ExitCode.CONFORMANT
