"""Runs `npm ci`: exactly what a lock says, no scripts, and nothing left running afterwards.

npm is read while it works: its log tells how many packages it has fetched, and it tells of damage that its
exit code hides (on a full disk it warns about every file that it could not write, and then succeeds).
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from .child import run_child

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .node import Node

#: How long npm may take to end when it is asked to, in seconds; then it is killed.
_GRACE = 5

_FLAGS = (
    "--ignore-scripts",
    "--install-strategy=hoisted",
    "--loglevel=http",
    "--no-audit",
    "--no-color",
    "--no-fund",
    "--no-progress",
    "--no-update-notifier",
    # One more attempt, soon: somebody waits, and a registry that is out of reach stays so.
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=2000",
)

_FETCHED = re.compile(r"npm http fetch GET 200 \S+\.tgz ")
_CODE = re.compile(r"npm (?:error|ERR!) code (\S+)")
_COMPLAINT = re.compile(r"npm (?:error|ERR!) (?!code |errno |syscall |path )(\S.*)")
_UNWRITTEN = re.compile(r"TAR_ENTRY_ERROR (\w+)")


class NpmError(Exception):
    """npm did not do what it was asked to.

    Attributes:
        code: npm's word for the fault, such as ENOTFOUND or ENOSPC; empty if it gave none.
        text: its first complaint in its own words, or how it ended.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}" if code else text)
        self.code = code
        self.text = text


async def npm_ci(node: Node, folder: Path, *, fetched: Callable[[int], None]) -> None:
    """Installs in `folder` what the `package-lock.json` there names.

    Args:
        node: runs npm; it must have one.
        folder: holds `package.json` and `package-lock.json`, and gets `node_modules`.
        fetched: called after each package that came from the registry, with their number so far.

    Raises:
        NpmError: npm failed, or left something out. What it has written then stays.

    When this is cancelled or interrupted, npm is asked to end, killed if it does not, and waited for.
    """
    if node.npm is None:
        raise NpmError("", f"{node.path} has no npm")
    command = [str(node.path), str(node.npm), "ci", *_FLAGS]
    log = _Log(fetched)
    status = await run_child(command, output="stderr", hear=log.feed, cwd=folder, grace=_GRACE)
    if status == -signal.SIGXFSZ:
        raise NpmError("EFBIG", "the system's limit for the size of a file ended npm")
    if status != 0:
        how = f"signal {-status} ended it" if status < 0 else f"it ended with status {status}"
        raise NpmError(log.code, log.complaint or how)


class _Log:
    """What npm's log has told so far: the code of its first fault and its first complaint, or empty texts."""

    def __init__(self, fetched: Callable[[int], None]) -> None:
        self.code = ""
        self.complaint = ""
        self._count = 0
        self._fetched = fetched
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace"))

    def _line(self, line: str) -> None:
        if _FETCHED.match(line):
            self._count += 1
            self._fetched(self._count)
        elif found := _UNWRITTEN.search(line):
            # There is no use in waiting for the rest: npm would go on for long, and call it a success.
            raise NpmError(found[1], "a file could not be written")
        elif found := _CODE.match(line):
            self.code = self.code or found[1]
        elif found := _COMPLAINT.match(line):
            self.complaint = self.complaint or found[1]
