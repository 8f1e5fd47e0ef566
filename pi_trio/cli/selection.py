"""What several commands share: which scenarios are meant, who is to be judged, and how a command refuses."""

from __future__ import annotations

import argparse
import fnmatch
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import attrs

from pi_trio.conformance.decide import Decide, judge, judge_release
from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.subjects.choice import (
    program,
    release_of_pi,
    runtime_inside,
    runtime_process,
    websocket,
)
from pi_trio.conformance.subjects.remote import PATIENCE
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import ExitCode
from pi_trio.profile import PROFILES

DEFAULT_PROFILE: Final = "pi-1.6.0"


class UsageError(Exception):
    """What was asked for makes no sense; the message says why."""


def spec_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where vectors lie."""
    parser.add_argument(
        "--spec", metavar="FOLDER", type=Path, help="another spec folder than that of this installation"
    )


def vectors_of(options: argparse.Namespace) -> Vectors:
    """The vectors that are meant.

    Raises:
        VectorError: this installation has none.
    """
    return Vectors.shipped() if options.spec is None else Vectors(options.spec)


def complain(message: str, code: ExitCode) -> ExitCode:
    """Say what is wrong, and with which code the command ends."""
    print(f"pi-trio: {message}", file=sys.stderr)
    return code


def select(globs: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios whose names match one of the globs; all of them without a glob.

    Raises:
        UsageError: none does.
    """
    known = all_scenarios()
    chosen = tuple(
        each for each in known if not globs or any(fnmatch.fnmatchcase(each.name, glob) for glob in globs)
    )
    if not chosen:
        examples = ", ".join(each.name for each in known[:3])
        raise UsageError(
            f"no scenario is called {' or '.join(globs)}; there are {len(known)}, such as {examples}"
        )
    return chosen


def subject_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how a subject is named."""
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--subject", metavar="WHO",
        help="reference (the runtime of this package, which is the default), or pi@RELEASE (installed on first use), "
        "or pi@FOLDER",
    )  # fmt: skip
    who.add_argument(
        "--exec", metavar="CMD", dest="command",
        help="the command line of a subject; ` --profile PROFILE` is appended, and PI_PROFILE is in its environment",
    )  # fmt: skip
    who.add_argument(
        "--ws",
        metavar="URL",
        help="a subject that waits at a WebSocket; to start it again means to connect again",
    )
    parser.add_argument(
        "--profile", default=DEFAULT_PROFILE, help="the profile for --exec and --ws (default: %(default)s)"
    )
    parser.add_argument(
        "--patience", metavar="SECONDS", type=_seconds, default=PATIENCE,
        help="how long a reply may take before it counts as a hang (default: %(default)g)",
    )  # fmt: skip


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("a number of seconds above 0 is needed")
    return value


@attrs.frozen(kw_only=True)
class Judging:
    """One subject, and how it is judged: `by_runtime`, or, as the runtime itself, by the vectors.

    `many`: there can be several of it at once.
    """

    label: str
    opener: Opener
    decide: Decide = judge
    by_runtime: bool = True
    many: bool = True


def check_profile(profile: str) -> None:
    """See that the runtime can behave so.

    Raises:
        UsageError: it has no such profile.
    """
    if profile not in PROFILES:
        raise UsageError(
            f"the runtime has no profile {profile}, so nothing can be judged by it; it has {', '.join(PROFILES)}"
        )


async def judgings(options: argparse.Namespace, report: Callable[[str], None]) -> tuple[str, list[Judging]]:
    """Who is to be judged, and under which profile.

    Raises:
        SubjectUnavailable: a release of Pi cannot be had.
        UsageError: there is no such subject.
    """
    patience: float = options.patience
    profile: str = options.profile
    if options.command is not None:
        try:
            return profile, [
                Judging(label=options.command, opener=program(options.command, profile, patience))
            ]
        except ValueError as error:
            raise UsageError(f"--exec {options.command}: {error}") from None
    if options.ws is not None:
        try:
            return profile, [Judging(label=options.ws, opener=websocket(options.ws, patience), many=False)]
        except ValueError as error:
            raise UsageError(f"--ws {options.ws}: {error}") from None
    kind, _, reference = (options.subject or "reference").partition("@")
    if kind == "pi" and reference:
        release, opener = await release_of_pi(reference, patience, report)
        return f"pi-{release}", [Judging(label=options.subject, opener=opener, decide=judge_release)]
    if kind == "reference":
        check_profile(profile)
        return profile, [
            Judging(
                label="runtime, in this process",
                opener=runtime_inside(profile, patience),
                by_runtime=False,
                many=False,
            ),
            Judging(label="runtime, over stdio", opener=runtime_process(profile, patience), by_runtime=False),
        ]
    raise UsageError(
        f"--subject is reference, pi@RELEASE or pi@FOLDER, not {options.subject!r}; for a program use --exec or --ws"
    )


def whole_command(options: argparse.Namespace, name: str) -> str:
    """The command that shows one scenario whole on the same subject."""
    words = ["pi-trio", "explain-run", name]
    if options.command is not None:
        words += ["--exec", options.command]
    elif options.ws is not None:
        words += ["--ws", options.ws]
    elif options.subject is not None:
        words += ["--subject", options.subject]
    if options.profile != DEFAULT_PROFILE:
        words += ["--profile", options.profile]
    return shlex.join(words)
