"""Where a report goes: a file that is known to have its place before the work begins."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pi_trio.conformance.writing import write_whole
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import JSON

from .usage import UsageError


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
