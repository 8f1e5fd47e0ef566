"""A call of a built-in tool, with the files that it finds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from pi_trio.builtin import DIALECTS


@attrs.frozen(kw_only=True)
class Case:
    """One call.

    Attributes:
        files: by name; a text for a link's target, None for a folder.
        args: in them and in `cwd`, names are relative to the case's folder.
        abort_at: abort when a report holds this text; an empty one: before the call.
        keep_background: as for `bash_tool`.
        otherwise: by release, the named decision by which pi_trio does something else.
    """

    name: str
    tool: str
    args: Mapping[str, Any]
    files: Mapping[str, bytes | str | None] = attrs.Factory(dict)
    cwd: str = "."
    abort_at: str | None = None
    keep_background: bool = False
    otherwise: Mapping[str, str] = attrs.Factory(dict)

    def digest(self) -> str:
        """What the case is, in short. A recording of another case is worth nothing."""
        files = {
            name: hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else content
            for name, content in self.files.items()
        }
        whole = [self.tool, self.args, files, self.cwd, self.abort_at, self.keep_background]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:12]

    def lay_out(self, folder: Path) -> None:
        """Make the case's files in its folder, which is made, too."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.mkdir()
            elif isinstance(content, str):
                os.symlink(content, place)
            else:
                place.write_bytes(content)


def in_all(decision: str) -> Mapping[str, str]:
    """The decision holds for all releases."""
    return dict.fromkeys(DIALECTS, decision)
