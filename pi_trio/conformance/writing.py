"""Writes a file whole or not at all, so that who is interrupted loses nothing that was there before."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Give a file new content: whoever looks sees the old one or the new one, and nothing between.

    A file that exists keeps its mode, a link its target. What is no file, such as a pipe or a terminal, is written to.

    Raises:
        OSError: it cannot be written, and is as it was; `filename` is `path`.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(target: Path, content: bytes) -> None:
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_mask()
    handle, draft = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _mask() -> int:
    """What the process takes from the mode of a new file; it can only be asked for by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
