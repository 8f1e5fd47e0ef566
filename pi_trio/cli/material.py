"""What is judged by, and in what: the spec folder, its recordings, the scenarios that are meant."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import os
from collections.abc import Sequence
from pathlib import Path

from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.vectors import Vectors

from .usage import UsageError


def spec_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where vectors lie."""
    parser.add_argument(
        "--spec", metavar="FOLDER", type=_folder, help="another spec folder than that of this installation"
    )


def _folder(text: str) -> Path:
    if not text:  # which would be the current folder
        raise argparse.ArgumentTypeError("a name is needed")
    return Path(text)


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
        raise UsageError(
            f"no scenario is called {' or '.join(glob or repr(glob) for glob in globs)}; there are {len(known)}, {hint}"
        )
    return chosen
