"""What a command has said: its end in memory, and all of it in a file once it is too much to show.

A command may say more than the memory holds. The model gets the end of it and the path of the file, which is the
user's alone to read and stays when the call is over.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from typing import Final

import attrs
import trio

from .failure import told_as
from .truncation import MAX_BYTES, MAX_LINES, Truncation, byte_length, end_of, keep_tail, without_rest

#: So much of the end is kept: more than is ever shown, so that one sees that there was more.
_KEPT: Final = 2 * MAX_BYTES
_BOM: Final = "\ufeff"


class Output:
    """The output of one command.

    Attributes:
        path: of the file that holds all of it; None while it can be shown whole.
        heard: how many bytes it is so far.
        last_line_bytes: how long what follows the last newline is.
    """

    def __init__(self) -> None:
        self.path: str | None = None
        self.heard = self.last_line_bytes = 0
        self._file: int | None = None
        self._raw = bytearray()  # all of it, until there is a file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = False
        self._tail = ""
        self._bytes = self._newlines = 0

    async def add(self, data: bytes) -> None:
        """The command has said something more. Not to be cancelled: the file misses nothing.

        Raises:
            BuiltinToolError: the file cannot be written.
        """
        self._hear(self._decoder.decode(data))
        self.heard += len(data)
        if self._file is None and not self._is_long():
            self._raw += data
            return
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._store, data)

    async def finish(self) -> None:
        """The command says nothing more.

        Raises:
            BuiltinToolError: the file cannot be written.
        """
        self._hear(self._decoder.decode(b"", True))
        with trio.CancelScope(shield=True):
            if self._file is None and self._is_long():
                await trio.to_thread.run_sync(self._store, b"")
            self.close()

    def close(self) -> None:
        """Close the file. What comes later is lost."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def shown(self) -> Truncation:
        """The end of what was said so far."""
        return attrs.evolve(keep_tail(self._tail), total_lines=self._lines, total_bytes=self._bytes)

    async def whole(self, most: int) -> tuple[str, bool]:
        """All that was said, after `finish`; or its first and its last half of `most` bytes, and True.

        Raises:
            BuiltinToolError: the file cannot be read.
        """
        if self.path is None:
            return _decoded(self._raw), False
        return await trio.to_thread.run_sync(_ends_of, self.path, most)

    @property
    def _lines(self) -> int:
        return self._newlines + (self.last_line_bytes > 0)

    def _is_long(self) -> bool:
        return self.heard > MAX_BYTES or self._bytes > MAX_BYTES or self._lines > MAX_LINES

    def _hear(self, text: str) -> None:
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix(_BOM)
        self._bytes += byte_length(text)
        head, newline, last = text.rpartition("\n")
        self._newlines += head.count("\n") + len(newline)
        self.last_line_bytes = byte_length(last) + (0 if newline else self.last_line_bytes)
        self._tail += text
        if len(self._tail) > 2 * _KEPT:  # characters: no more of them than bytes
            self._tail = end_of(self._tail.encode(), _KEPT)

    def _store(self, data: bytes) -> None:
        if self._file is None:
            with told_as("open", tempfile.gettempdir()):
                self._file, self.path = tempfile.mkstemp(prefix="pi-bash-", suffix=".log")
            data = bytes(self._raw) + data
            self._raw.clear()
        rest = memoryview(data)
        while rest:
            with told_as("write", self.path or ""):
                rest = rest[os.write(self._file, rest) :]


def _decoded(text: bytes | bytearray) -> str:
    return text.decode("utf-8", "replace").removeprefix(_BOM)


def _ends_of(path: str, most: int) -> tuple[str, bool]:
    with told_as("open", path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            return _decoded(file.read()), False
        half = most // 2
        head = file.read(half)
        file.seek(half - most, os.SEEK_END)
        tail = without_rest(file.read())
    # A character that the first half cuts is left out.
    beginning = codecs.getincrementaldecoder("utf-8")("replace").decode(head).removeprefix(_BOM)
    return f"{beginning}\n\n[... {size - most} bytes omitted ...]\n\n{_decoded(tail)}", True
