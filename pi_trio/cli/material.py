"""What is judged by: the spec folder, and its recordings."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

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
