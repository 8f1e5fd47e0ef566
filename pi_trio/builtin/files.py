"""Regular files, opened so that nothing can hang: the only ones that the tools read and write.

A FIFO without anybody at its other end, a terminal, a device without end: whoever opens or reads one may wait for ever,
in a thread that nobody can end. So what is no regular file is refused, before it is opened. (And should it become
another one in between, opening does not wait.) A folder is let through to the system call that refuses it.

All of this is for threads, and ends with them: each piece of work asks `Check` between its steps.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeAlias, TypeVar

import trio

from ..abort import AbortSignal
from ..tools.context import ToolAbortedError
from .failure import BuiltinToolError, told_as

T = TypeVar("T")

#: Raises if the call should end: ToolAbortedError when the run is aborted, Cancelled when the call was cancelled.
Check: TypeAlias = Callable[[], None]

_PIECE: Final = 256 * 1024
_MODE: Final = 0o666
_NO_WAITING: Final = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


async def in_thread(job: Callable[[Check], T], signal: AbortSignal) -> T:
    """Do `job(check)` in a worker thread, and return what it does. A cancellation waits until it asks `check`.

    Raises:
        ToolAbortedError: the run was aborted, and the job has noticed.
        BaseException: whatever the job raises.
    """

    def check() -> None:
        if signal.aborted:
            raise ToolAbortedError
        trio.from_thread.check_cancelled()

    if signal.aborted:
        raise ToolAbortedError
    return await trio.to_thread.run_sync(job, check)


def check_access(path: str, mode: int) -> None:
    """Raise if the user may not use the file at `path` as `mode` says (`os.R_OK`, `os.W_OK`, or both).

    Raises:
        OSError: with the number that access(2) gives.
    """
    status = os.stat(path)
    if os.access(path, mode):
        _check_regular(path, status)
        return
    read_only = mode & os.W_OK and os.statvfs(path).f_flag & os.ST_RDONLY
    raise OSError(errno.EROFS if read_only else errno.EACCES, "")


@contextmanager
def reading(path: str) -> Generator[int]:
    """The file at `path`, open for reading, as a file descriptor.

    Raises:
        BuiltinToolError: it cannot be opened.
    """
    with told_as("open", path):
        _check_regular(path, os.stat(path))
        descriptor = os.open(path, os.O_RDONLY | _NO_WAITING)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def pieces(descriptor: int, check: Check) -> Iterator[bytes]:
    """What is in an open file, piece by piece: as much as there is now, however fast it grows.

    Raises:
        BuiltinToolError: reading fails.
        BaseException: what `check` raises between two pieces.
    """
    size = os.fstat(descriptor).st_size
    place = 0
    # Those below /proc say that they are empty, and are read to their end.
    while size == 0 or place < size:
        check()
        with told_as("read"):
            piece = os.read(descriptor, _PIECE if size == 0 else min(_PIECE, size - place))
        if not piece:
            return
        place += len(piece)
        yield piece


def write_whole(path: str, content: bytes) -> None:
    """Make `content` what is in the file at `path`: in place, so that links, owner and mode stay as they are.

    Raises:
        BuiltinToolError: that fails. What is in the file then depends on where it failed.
    """
    with told_as("open", path):
        with suppress(FileNotFoundError):  # it is made
            _check_regular(path, os.stat(path))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_WAITING, _MODE)
    try:
        rest = memoryview(content)
        while rest:
            with told_as("write"):
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def make_folder(path: str) -> None:
    """Make the folder at `path`, and those above it, unless it is there.

    Raises:
        BuiltinToolError: that fails.
    """
    missing: list[str] = []
    while True:
        with told_as("mkdir", path):
            try:
                os.mkdir(path)
            except FileNotFoundError:
                parent = os.path.dirname(path)
                if parent == path or os.path.isdir(parent):
                    raise  # as below /proc, where nothing can be made
                missing.append(path)
                path = parent
                continue
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(path).st_mode):
                    raise
        if not missing:
            return
        path = missing.pop()


def _check_regular(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise BuiltinToolError(f"{path} is not a regular file")
