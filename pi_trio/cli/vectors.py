"""`pi-trio vectors`: records what a real Pi release does in each scenario, and compares anew.

`record` and `verify` run the release; `rule` runs the runtime, lays its trace beside the recording, and
writes down the lines that differ under the id of a ruling, for a person to review.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Final

import trio

from pi_trio.conformance.cancelling import (
    cancel_golden_path,
    in_both_modes,
    propose_cancelled,
    read_cancel_golden,
)
from pi_trio.conformance.compare import fingerprint, hunks
from pi_trio.conformance.expected import ReferenceFault, consult_runtime, lacking, sound
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.report.prose import count, plain, sent
from pi_trio.conformance.report.terminal import make_console, say
from pi_trio.conformance.ruled import golden_names, golden_path, propose, read_golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.subjects.remote import PATIENCE
from pi_trio.conformance.vectors import Recording, VectorError, Vectors, spec_folder
from pi_trio.conformance.verdict import ExitCode
from pi_trio.profile import PROFILES

from .candidates import release_called
from .material import need_recordings, spec_argument, vectors_of
from .pace import progress
from .refusing import refusing
from .selection import select
from .usage import UsageError, verbose_argument

_MORE: Final = """\
what to do:
  record   drive the release through the scenarios, and write a file for each
  verify   drive it again, and compare with the files; exit 1 if anything differs
  rule     write the golden trace of a scenario in which the runtime differs on purpose:
           each line that differs gets the id given by --ruling (lines that have one
           already keep theirs); review the file, it is what the runtime is judged by
  cancel   the same for the abort that cancels, by what the runtime does when it does not;
           the lines that differ get the id D-10

A release is installed on first use. All but verify write, without --spec into the
vectors that the tester judges by:
  {folder}
So to try something out, name a folder of your own with --spec.
"""

_RULING: Final = re.compile(r"D-\d\d")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE.format(folder=_shipped())
    parser.add_argument("action", choices=("record", "verify", "rule", "cancel"), help="see below")
    parser.add_argument(
        "scenarios", metavar="NAME", nargs="*", default=[],
        help="only these scenarios (globs); `rule` needs one",
    )  # fmt: skip
    parser.add_argument(
        "--release",
        default="1.6.0",
        help="the release of Pi, or a folder that holds it (default: %(default)s)",
    )
    parser.add_argument("--scenario", metavar="GLOB", action="append", default=[], help="the same as NAME")
    spec_argument(parser)
    parser.add_argument(
        "--ruling", metavar="ID", type=_ruling, help="the ruling that `rule` enters, such as D-02"
    )
    verbose_argument(parser)


def _ruling(text: str) -> str:
    if not _RULING.fullmatch(text):
        raise argparse.ArgumentTypeError(
            "the id of a ruling is such as D-02; spec/deviations/rulings.md has them"
        )
    return text


def _shipped() -> str:
    """Where this installation has its vectors, to be read."""
    try:
        return str(spec_folder() / "vectors")
    except VectorError:
        return "(this installation has none)"


@refusing
def run(options: argparse.Namespace) -> int:
    """Do it, and return the exit code."""
    globs = [*options.scenarios, *options.scenario]
    scenarios = select(globs)
    vectors = vectors_of(options, new=options.action != "verify")
    if options.action != "verify":
        _see_to(vectors)
    if options.action in ("rule", "cancel") and f"pi-{options.release}" not in PROFILES:
        known = ", ".join(profile.release for profile in PROFILES.values())
        raise UsageError(f"--release {options.release}: the runtime can be as {known}")
    with first_in_first_out():
        match options.action:
            case "record":
                return trio.run(_record, options.release, scenarios, vectors, not globs)
            case "verify":
                return trio.run(_verify, options.release, scenarios, vectors, not globs)
            case "cancel":
                return trio.run(_cancel, options.release, scenarios, vectors)
            case _:
                if not globs or not options.ruling:
                    raise UsageError("`rule` needs the name of a scenario, and --ruling")
                _check_ruling(options.ruling, vectors)
                return trio.run(_rule, options.release, scenarios, vectors, options.ruling)


def _see_to(vectors: Vectors) -> None:
    """See that there is a folder to write into, before that takes long.

    Raises:
        UsageError: there is none.
    """
    folder = vectors.spec
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--spec {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} cannot be written; name a folder of your own with --spec")


def _check_ruling(ruling: str, vectors: Vectors) -> None:
    """Raises: UsageError: nobody has written down what that ruling says."""
    own, shipped = (spec / "deviations" / "rulings.md" for spec in (vectors.spec, spec_folder()))
    path = own if own.is_file() else shipped
    ids = re.findall(r"^## (D-\d\d) ", path.read_text(encoding="utf-8"), re.MULTILINE)
    if ruling not in ids:
        raise UsageError(f"--ruling {ruling}: {path} has no such ruling; it has {', '.join(ids)}")


async def _run_release(release: str, opener: Opener, scenarios: Sequence[Scenario]) -> list[Run]:
    """What the release does in each scenario that it can play.

    Raises:
        SubjectUnavailable: it does not start (again).
    """
    console = make_console(stderr=True)
    runs: list[Run] = []
    try:
        async with open_keeper(opener) as keeper:
            await keeper.start()
            with progress(console, f"pi@{release}") as tick:
                for scenario in scenarios:
                    if not lacking(scenario, keeper.hello):
                        runs.append(await keeper.drive(scenario))
                    tick(scenario.name, len(scenarios))
    except SubjectUnstartable as fault:
        raise SubjectUnavailable(f"pi@{release}: {fault.message} {fault.stderr}") from None
    return runs


async def _record(
    reference: str, scenarios: Sequence[Scenario], vectors: Vectors, everything: bool
) -> ExitCode:
    console = make_console()
    release, opener = await release_called(reference, PATIENCE)
    runs = await _run_release(release, opener, scenarios)
    broken = [run for run in runs if run.fault is not None]
    for run in runs:
        if run.fault is None:
            vectors.write(Recording(scenario=run.scenario, release=release, lines=run.lines))
    if everything:
        for name in sorted(vectors.names(release) - {run.scenario.name for run in runs}):
            vectors.path(release, name).unlink()
            say(console, f"removed {name}: there is no such scenario any more, or not for this release")
    for names in _coinciding(runs):
        say(console, f"coincide, and count once: {', '.join(names)}")
    for run in broken:
        say(console, f"not recorded: {run.scenario.name}: {run.fault}")
    distinct = len({fingerprint(run.lines) for run in runs}) - len({fingerprint(run.lines) for run in broken})
    folder = vectors.path(release, "").parent
    say(
        console,
        f"{len(runs) - len(broken)} recorded in {folder}, {distinct} of them distinct, {len(broken)} broke off, "
        f"{len(scenarios) - len(runs)} not offered by {release}",
    )
    return ExitCode.NOT_CONFORMANT if broken else ExitCode.CONFORMANT


async def _verify(
    reference: str, scenarios: Sequence[Scenario], vectors: Vectors, everything: bool
) -> ExitCode:
    console = make_console()
    release, opener = await release_called(reference, PATIENCE)
    need_recordings(vectors, release)
    runs = await _run_release(release, opener, scenarios)
    troubles = 0
    for run in runs:
        if trouble := _compare(run, release, vectors):
            troubles += 1
            say(console, f"{run.scenario.name}: {trouble}")
    stale = sorted(
        (vectors.names(release) | golden_names(vectors, release)) - {run.scenario.name for run in runs}
    )
    for name in stale if everything else ():
        troubles += 1
        say(console, f"{name}: there is a file of it, but no such scenario for this release")
    distinct = len({fingerprint(run.lines) for run in runs})
    say(
        console,
        f"{count(len(runs), 'scenario')} compared with pi {release}, {distinct} of them distinct, {troubles} differ",
    )
    return ExitCode.NOT_CONFORMANT if troubles else ExitCode.CONFORMANT


def _compare(run: Run, release: str, vectors: Vectors) -> str:
    """What is wrong with the files of a scenario, given a new run of the release; empty if nothing is."""
    recording = vectors.read(release, run.scenario.name)
    if recording is None:
        return "not recorded yet"
    if recording.scenario != run.scenario:
        return "the scenario has changed since it was recorded"
    if found := hunks(recording.lines, run.lines):
        was = plain(found[0].expected[0]) if found[0].expected else "nothing"
        now = plain(found[0].got[0]) if found[0].got else "nothing"
        return f"step {found[0].step}: recorded {was}; now {now}; {len(found)} places differ"
    golden = read_golden(vectors, release, run.scenario.name)
    if golden is None:
        return ""
    if faults := golden.faults():
        return f"golden trace: {'; '.join(faults)}"
    if fingerprint(golden.release_side()) != fingerprint(run.lines):
        return "golden trace: its lines of the release are not what the release says"
    return ""


def _coinciding(runs: Sequence[Run]) -> list[list[str]]:
    """Names of scenarios whose traces are one and the same."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(fingerprint(run.lines), []).append(run.scenario.name)
    return [names for names in groups.values() if len(names) > 1]


def _sound(name: str, run: Run | Exception) -> Run:
    """The runtime's run, if it can be written down: one that broke off is no measure of anybody."""
    try:
        return sound(run)
    except ReferenceFault as fault:
        raise ReferenceFault(f"{name}: {fault}") from None


async def _rule(release: str, scenarios: Sequence[Scenario], vectors: Vectors, ruling: str) -> ExitCode:
    console = make_console()
    runs = await consult_runtime(runtime_inside(f"pi-{release}", PATIENCE), scenarios)
    code = ExitCode.CONFORMANT
    for name, run in runs.items():
        recording = vectors.read(release, name)
        if recording is None:
            again = vectors.command("record", release, name)
            raise UsageError(f"{name} is not recorded: run `{again}` first")
        played = _sound(name, run)
        path = golden_path(vectors, release, name)
        golden = propose(
            name, release, recording.lines, played.lines, ruling, former=read_golden(vectors, release, name)
        )
        if golden is None:
            code = ExitCode.NOT_CONFORMANT
            say(
                console,
                f"{name}: nothing differs, so there is nothing to rule{f'; remove {path}' if path.exists() else ''}",
            )
            continue
        golden.write(path)
        differing = sum(entry.mark != "=" for entry in golden.entries)
        entered = golden.entries[golden.enters].line.get("send", {})
        say(
            console,
            f"{path}: {differing} lines differ, under {', '.join(golden.rulings())}, from line {golden.enters} on",
        )
        say(
            console,
            f"  it enters at: {' '.join(sent(entered)) if entered else '(no command)'}; review each line",
        )
    return code


async def _cancel(release: str, scenarios: Sequence[Scenario], vectors: Vectors) -> ExitCode:
    console = make_console()
    written = 0
    async with open_keeper(runtime_inside(f"pi-{release}", PATIENCE)) as keeper:
        await keeper.start()

        async def drive(scenario: Scenario) -> Run:
            return _sound(scenario.name, await keeper.drive(scenario))

        played = [scenario for scenario in scenarios if not lacking(scenario, keeper.hello)]
        for scenario in played:
            traces = await in_both_modes(scenario, drive)
            former = read_cancel_golden(vectors, release, scenario.name)
            golden = propose_cancelled(scenario.name, release, traces, former)
            path = cancel_golden_path(vectors, release, scenario.name)
            if golden is not None:
                golden.write(path)
                written += 1
            elif former is not None:
                path.unlink()
                say(console, f"removed {path}: the modes do not differ any more")
    say(
        console, f"{count(len(played), 'scenario')} in both modes, {written} of them differ; review each line"
    )
    return ExitCode.CONFORMANT
