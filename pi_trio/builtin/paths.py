"""Which file a tool means by the path that the model gave it.

As in Pi: relative to the tool's folder; `~` is the home folder; a leading `@`, with which people mention files, is
dropped; spaces of other kinds are plain ones; a `file://` URL is its path. What is only read is also looked for by the
name that macOS would have given it, since models write down names with other spaces and apostrophes than they have.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import can_ada

from ..tools.js_value import well_formed
from .failure import BuiltinToolError

_SPACES: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_BEFORE_NOON_OR_AFTER: Final = re.compile(r" (AM|PM)\.", re.IGNORECASE)


def resolve(path: str, cwd: str) -> str:
    """The absolute path that is meant, without `.` and `..`. Looks at no file.

    Args:
        path: as the model gave it.
        cwd: an absolute path.

    Raises:
        BuiltinToolError: it holds a NUL, or is a URL that stands for no path.
    """
    path = _SPACES.sub(" ", well_formed(path)).removeprefix("@")
    if path == "~" or path.startswith("~/"):
        path = f"{Path.home()}/{path[2:]}"
    elif path.startswith("file://"):
        path = _path_of_url(path)
    if "\0" in path:
        raise BuiltinToolError(f"There is a NUL in the path {path!r}")
    # normpath keeps two slashes at the start, which mean nothing here.
    return "/" + os.path.normpath(f"{cwd}/{path}" if not path.startswith("/") else path).lstrip("/")


def resolve_for_reading(path: str, cwd: str) -> str:
    """As `resolve`; where there is no such file, one of which the name differs as on macOS. For a thread.

    Raises:
        BuiltinToolError: as for `resolve`.
    """
    resolved = resolve(path, cwd)
    return next((one for one in (resolved, *_as_on_macos(resolved)) if _exists(one)), resolved)


def _as_on_macos(path: str) -> Iterator[str]:
    """Names of screenshots have a narrow space and a curly apostrophe; any name is decomposed."""
    yield _BEFORE_NOON_OR_AFTER.sub("\u202f\\1.", path)
    decomposed = unicodedata.normalize("NFD", path)
    yield decomposed
    yield path.replace("'", "\u2019")
    yield decomposed.replace("'", "\u2019")


def _exists(path: str) -> bool:
    return os.access(path, os.F_OK)


def _path_of_url(url: str) -> str:
    try:
        parsed = can_ada.parse(url)
    except ValueError as error:
        raise BuiltinToolError(f"{url} is no URL") from error
    if parsed.hostname or re.search("%2f", parsed.pathname, re.IGNORECASE):
        raise BuiltinToolError(f"{url} stands for no path")
    return well_formed(unquote(parsed.pathname))
