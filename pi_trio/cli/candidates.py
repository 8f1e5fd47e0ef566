"""Who is to be judged, and as what."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from collections.abc import Callable
from typing import Final

import attrs

from pi_trio.conformance.decide import Decide, judge, judge_release, judge_runtime
from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.report.terminal import make_console
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.choice import (
    program,
    release_of_pi,
    runtime_inside,
    runtime_process,
    websocket,
)
from pi_trio.conformance.subjects.remote import PATIENCE
from pi_trio.profile import PROFILES, UnknownProfileError, get_profile

from .amounts import amount_of
from .pace import told
from .usage import UsageError

DEFAULT_PROFILE: Final = "pi-1.6.0"


def subject_arguments(parser: argparse.ArgumentParser, *, all_profiles: bool = False) -> None:
    """Declare how a subject is named; `all_profiles`: it may be judged as each of them in turn."""
    every = "; `all` is each of them in turn" if all_profiles else ""
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
        f"pi-0.85.0,prepare_next_turn=pi-0.80.2 (default: {DEFAULT_PROFILE}; for pi@RELEASE that release)"
        f"{every}. spec/profiles.md has the fields",
    )  # fmt: skip
    parser.add_argument(
        "--patience", metavar="SECONDS", type=amount_of("seconds"), default=PATIENCE,
        help="how long a reply may take before it counts as a hang (default: %(default)g)",
    )  # fmt: skip


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a name is needed")
    return text


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
        raise SubjectUnavailable(
            f"the subject did not start: {name or repr(name)} is no program that can be run"
        )


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


def reporter() -> Callable[[str], None]:
    """Tells people line by line, on standard error, what an installation is about."""
    console = make_console(stderr=True)
    return lambda line: console.print(line, style="dim")


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
