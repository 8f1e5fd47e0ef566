"""One change of a file at a time: who writes or edits it waits for those who came before.

A model that edits one file in several calls at once means all of the edits, and each begins with what the last one
left. So changes of one file stand in a line, whatever links and names they know it by; others do not wait. Reading
does not, either.

Each `trio.run` has its own lines: programs that share a file have to agree among themselves.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import trio

from .failure import told_as

_GONE: Final = (errno.ENOENT, errno.ENOTDIR)


class MutationQueue:
    """The lines before all files that are being changed."""

    __slots__ = ("_lines", "_register")

    def __init__(self) -> None:
        # Finding out a file's name takes time; in the line, they stand in the order in which they came.
        self._register: Final = trio.Lock()
        self._lines: Final[dict[str, deque[trio.Event]]] = {}

    @asynccontextmanager
    async def turn(self, path: str) -> AsyncGenerator[None]:
        """Wait until it is your turn to change the file at the absolute `path`; it is, until the block ends.

        Cancelling the wait leaves the line as if nobody had stood there.

        Raises:
            BuiltinToolError: which file that is cannot be found out.
        """
        place = trio.Event()
        async with self._register:
            name = await trio.to_thread.run_sync(_real_name, path)
            self._join(name, place)
        try:
            await place.wait()
            yield
        finally:
            self._leave(name, place)

    def _join(self, name: str, place: trio.Event) -> None:
        line = self._lines.setdefault(name, deque())
        line.append(place)
        line[0].set()

    def _leave(self, name: str, place: trio.Event) -> None:
        line = self._lines[name]
        line.remove(place)
        if line:
            line[0].set()
        else:
            del self._lines[name]

    def __len__(self) -> int:
        """How many files are being changed."""
        return len(self._lines)


_queue: trio.lowlevel.RunVar[MutationQueue] = trio.lowlevel.RunVar("pi_trio.mutation_queue")


def current_mutation_queue() -> MutationQueue:
    """The queue of all built-in tools in this `trio.run`. A tool of your own that changes files takes its turn there.

    Raises:
        RuntimeError: called outside trio.
    """
    try:
        return _queue.get()
    except LookupError:
        queue = MutationQueue()
        _queue.set(queue)
        return queue


def _real_name(path: str) -> str:
    with told_as("realpath", path):
        try:
            return os.path.realpath(path, strict=True)
        except OSError as error:
            if error.errno in _GONE:
                return path
            raise
