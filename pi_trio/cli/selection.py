"""What several commands share: which scenarios are meant, who is to be judged, and where a report goes."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

from pi_trio.conformance.decide import Decide, judge, judge_release, judge_runtime
from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.choice import (
    program,
    release_of_pi,
    runtime_inside,
    runtime_process,
    websocket,
)
from pi_trio.conformance.subjects.remote import PATIENCE
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.writing import write_whole
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import JSON
from pi_trio.profile import PROFILES, UnknownProfileError, get_profile

from .pace import told

DEFAULT_PROFILE: Final = "pi-1.6.0"


class UsageError(Exception):
    """What was asked for makes no sense; the message says why."""


def spec_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where vectors lie."""
    parser.add_argument(
        "--spec", metavar="FOLDER", type=Path, help="another spec folder than that of this installation"
    )


def vectors_of(options: argparse.Namespace, *, new: bool = False) -> Vectors:
    """The vectors that are meant.

    Args:
        new: they are to be written, so the folder need not be there yet.

    Raises:
        UsageError: that is no folder.
        VectorError: this installation has none.
    """
    if options.spec is None:
        return Vectors.shipped()
    if not os.path.isdir(options.spec) and not (new and not os.path.exists(options.spec)):
        raise UsageError(f"--spec {options.spec}: there is no such folder")
    return Vectors(options.spec)


def need_recordings(vectors: Vectors, release: str) -> None:
    """See that there is something to judge by, or to compare with.

    Raises:
        UsageError: nothing is recorded of that release.
    """
    if not vectors.names(release):
        raise UsageError(
            f"{vectors.spec} holds no recordings of Pi {release}, without which nobody can be judged; "
            f"`{vectors.command('record', release)}` makes them"
        )


def verbose_argument(parser: argparse.ArgumentParser) -> None:
    """Declare that tracebacks are wanted."""
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks")


def reporter() -> Callable[[str], None]:
    """Tells people line by line, on standard error, what an installation is about."""
    console = make_console(stderr=True)
    return lambda line: console.print(line, style="dim")


def json_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare a file for the report; `what` is what stands in it."""
    parser.add_argument("--json", metavar="FILE", type=_place, help=f"write {what} to FILE")


def _place(text: str) -> Path:
    try:
        return checked_place(Path(text))
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def checked_place(path: Path) -> Path:
    """The path, if a file can be there: asked before, so that what took long is not lost for want of a place.

    Raises:
        UsageError: it has no folder, or is one.
    """
    folder = path.absolute().parent
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no folder {folder}")
    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if is_folder:
        raise UsageError(f"{path}: that is a folder")
    return path


def write_json(path: Path, value: JSON) -> None:
    """Write a report where `--json` wants it.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_whole(path, f"{print_json(value, indent=2)}\n".encode())
    except OSError as error:
        raise UsageError(f"--json {path}: {error.strerror}") from None


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
        names = [each.name for each in known]
        near = [name for glob in globs for name in difflib.get_close_matches(glob, names)]
        hint = f"did you mean {' or '.join(near)}?" if near else f"such as {', '.join(names[:3])}"
        raise UsageError(f"no scenario is called {' or '.join(globs)}; there are {len(known)}, {hint}")
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
        "--profile", type=_name,
        help=f"what to judge as: {', '.join(PROFILES)}, or one of them with fields of another, such as "
        f"pi-0.85.0,prepare_next_turn=pi-0.80.2 (default: {DEFAULT_PROFILE}; for pi@RELEASE that release); "
        "`conform` also takes `all`, which is each of them in turn. spec/profiles.md has the fields",
    )  # fmt: skip
    parser.add_argument(
        "--patience", metavar="SECONDS", type=_seconds, default=PATIENCE,
        help="how long a reply may take before it counts as a hang (default: %(default)g)",
    )  # fmt: skip


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a name is needed")
    return text


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < (value := float(text)) < float("inf"):
            return value
    raise argparse.ArgumentTypeError("a number of seconds above 0 is needed")


@attrs.frozen(kw_only=True)
class Candidate:
    """One subject, and how it is judged: `by_runtime`, or, as the runtime itself, by the vectors.

    `many`: there can be several of it at once.
    """

    label: str
    opener: Opener
    decide: Decide = judge
    by_runtime: bool = True
    many: bool = True


def checked_profile(name: str) -> str:
    """The name, if the runtime can behave so.

    Raises:
        UsageError: it has no such profile.
    """
    if name == "all":
        raise UsageError(
            f"--profile all goes with `pi-trio conform` alone; here name one: {', '.join(PROFILES)}"
        )
    try:
        return get_profile(name).name
    except UnknownProfileError as error:
        raise UsageError(f"--profile {name}: {error}") from None


async def one_subject(options: argparse.Namespace) -> tuple[str, Candidate]:
    """Who is asked, and as what. The runtime can be so as any mixture of releases; everybody else is what it is.

    Raises:
        SubjectUnavailable: a release of Pi cannot be had.
        UsageError: there is no such subject, or no such profile.
    """
    if options.command is None and options.ws is None and options.subject in (None, "reference"):
        profile = checked_profile(options.profile or DEFAULT_PROFILE)
        return profile, _runtime(profile, options.patience)
    profile, (candidate, *_) = await candidates(options, options.profile)
    return profile, candidate


def _runtime(profile: str, patience: float) -> Candidate:
    return Candidate(
        label="runtime, in this process",
        opener=runtime_inside(profile, patience),
        decide=judge_runtime,
        by_runtime=False,
        many=False,
    )


def _see_program(command_line: str) -> None:
    """See that there is one, before the runtime is asked what to expect of it, which takes its time.

    Raises:
        SubjectUnavailable: there is none.
    """
    name = shlex.split(command_line)[0]
    if shutil.which(name) is None:
        raise SubjectUnavailable(f"the subject did not start: {name} is no program that can be run")


async def candidates(options: argparse.Namespace, profile: str | None) -> tuple[str, list[Candidate]]:
    """Who is to be judged, and as what.

    Args:
        profile: what the user wants it judged as; None for the newest release, and for a release of Pi itself.

    Raises:
        SubjectUnavailable: a release of Pi cannot be had.
        UsageError: there is no such subject, or no such profile.
    """
    patience: float = options.patience
    judged = checked_profile(profile or DEFAULT_PROFILE)
    if options.command is not None:
        try:
            opener = told(options.command, program(options.command, judged, patience))
        except ValueError as error:
            raise UsageError(f"--exec {options.command}: {error}") from None
        _see_program(options.command)
        return judged, [Candidate(label=options.command, opener=opener)]
    if options.ws is not None:
        try:
            opener = told(options.ws, websocket(options.ws, patience))
            return judged, [Candidate(label=options.ws, opener=opener, many=False)]
        except ValueError as error:
            raise UsageError(f"--ws {options.ws}: {error}") from None
    kind, _, reference = (options.subject or "reference").partition("@")
    if kind == "pi" and reference:
        release, opener = await release_called(reference, patience)
        own = f"pi-{release}"
        if profile in (None, own):
            return checked_profile(own), [
                Candidate(label=options.subject, opener=opener, decide=judge_release)
            ]
        return judged, [Candidate(label=f"{options.subject} as {judged}", opener=opener)]
    if kind == "reference":
        if judged not in PROFILES:
            raise UsageError(
                f"--profile {judged}: no release behaves so, so the runtime cannot be held to one"
            )
        runtime, over_stdio = _runtime(judged, patience), runtime_process(judged, patience)
        return judged, [
            runtime,
            attrs.evolve(runtime, label="runtime, over stdio", opener=over_stdio, many=True),
        ]
    raise UsageError(
        f"--subject is reference, pi@RELEASE or pi@FOLDER, not {options.subject!r}; for a program use --exec or --ws"
    )


def _homeless(path: str) -> bool:
    return path.startswith("~") and os.path.expanduser(path) == path


async def release_called(reference: str, patience: float) -> tuple[str, Opener]:
    """A release of Pi, by its number or from a folder, and that number; people are told of an installation.

    Raises:
        SubjectUnavailable: it cannot be had.
        UsageError: it lies in the home of nobody.
    """
    if _homeless(reference):
        raise UsageError(f"pi@{reference}: there is no such home")
    return await release_of_pi(reference, patience, reporter())


def whole_command(options: argparse.Namespace, profile: str, name: str) -> str:
    """The command that shows one scenario whole on the same subject, judged as `profile`."""
    words = ["pi-trio", "explain-run", name]
    if options.command is not None:
        words += ["--exec", options.command]
    elif options.ws is not None:
        words += ["--ws", options.ws]
    elif options.subject is not None:
        words += ["--subject", options.subject]
    if options.profile is not None:
        words += ["--profile", profile]
    return shlex.join(words)
