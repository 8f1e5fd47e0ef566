"""A subject that is a program of its own, reached over its stdin and stdout.

The child runs in a session of its own, so that it and whatever it starts can be ended together and a Ctrl-C
at the terminal reaches the tester alone. When it ends, so does all that it has started: whoever inherited its
pipes is not the subject. Of its stderr the end is kept, which is what tells why it died.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import trio

from pi_trio.conformance.faults import SubjectDied, SubjectUnstartable
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.protocol import LIMITS, Framing, Limits, Object, decode
from pi_trio.happening import Happening

from .remote import HELLO_WITHIN, PATIENCE, RemoteSubject
from .tail import Tail

_PARTING: Final = 2.0
"""Seconds that a child has to end by itself after its stdin was closed, and for its last words."""


_CHUNK: Final = 65536

_IN_A_PIPE: Final = 1024 * 1024
"""Bytes that a pipe holds at most."""


class _Output:
    """What the child writes into a pipe. It ends with the child, even if others hold the pipe open."""

    def __init__(self, stream: trio.abc.ReceiveStream | None) -> None:
        assert isinstance(stream, trio.lowlevel.FdStream)
        self._stream = stream
        self._waiting = trio.CancelScope()
        self._finished = False
        self._remains = _IN_A_PIPE

    async def chunk(self) -> bytes:
        """The next piece; empty at the end."""
        if not self._finished:
            with trio.CancelScope() as self._waiting:
                return bytes(await self._stream.receive_some(_CHUNK))
        if self._remains <= 0:
            return b""
        self._remains -= _CHUNK
        try:
            return os.read(self._stream.fileno(), _CHUNK)
        except BlockingIOError:
            return b""

    def finish(self) -> None:
        """The child is gone: what lies in the pipe is all."""
        self._finished = True
        self._waiting.cancel()

    async def aclose(self) -> None:
        await self._stream.aclose()


class ProcessSubject(RemoteSubject):
    """A running child; made by `open_process_subject`."""

    def __init__(self, process: trio.Process, patience: float, limits: Limits) -> None:
        super().__init__(patience, limits)
        assert process.stdin is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout, self._stderr = _Output(process.stdout), _Output(process.stderr)
        self._framing = Framing(limits.line)
        self._lines: deque[bytes] = deque()
        self._tail = Tail()
        self._stderr_ended = Happening()
        self._group_killed = False

    async def keep_stderr(self) -> None:
        """Read stderr until it ends."""
        try:
            while chunk := await self._stderr.chunk():
                self._tail.add(chunk)
        except trio.BrokenResourceError:
            pass
        finally:
            self._stderr_ended.set()

    async def watch(self) -> None:
        """Wait for the child's end, and end with it what it has started."""
        await self._process.wait()
        self._kill_group()
        self._stdout.finish()
        self._stderr.finish()

    def _kill_group(self) -> None:
        """Once: when its leader was waited for and the rest is killed, the group's number may become another's."""
        if self._group_killed:
            return
        self._group_killed = True
        with suppress(ProcessLookupError, PermissionError):  # nothing is left of it
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _send(self, text: str) -> None:
        try:
            await self._stdin.send_all(f"{text}\n".encode())
        except trio.BrokenResourceError:
            raise SubjectDied(f"it does not read its stdin any more; {await self._fate()}") from None

    async def _next(self) -> Object:
        while not self._lines:
            chunk = await self._stdout.chunk()
            if not chunk:
                rest = self._framing.rest
                unfinished = (
                    f" in the middle of a line ({rest[:60].decode('utf-8', 'replace')!a})" if rest else ""
                )
                raise SubjectDied(f"its stdout ended{unfinished}; {await self._fate()}")
            self._count(chunk)
            self._lines.extend(self._framing.feed(chunk))
        return decode(self._lines.popleft())

    def _arrived(self) -> Object | None:
        return decode(self._lines.popleft()) if self._lines else None

    async def _fate(self) -> str:
        """What became of the process. What it is depends on nobody's patience."""
        with trio.move_on_after(_PARTING, shield=True):
            code = await self._process.wait()
            if code >= 0:
                return f"it exited with code {code}"
            return f"it was killed by signal {-code} ({signal.strsignal(-code)})"
        return "it still runs"

    async def _last_words(self) -> None:
        if self._process.poll() is not None:
            with trio.move_on_after(_PARTING):
                await self._stderr_ended.wait()

    def _stderr_text(self) -> str:
        return self._tail.text()

    async def end(self) -> None:
        """End the child and all that it has started. One that is at rest may first end by itself.

        Shielded from cancellation, and bounded.
        """
        with trio.CancelScope(shield=True):
            await self._stdin.aclose()
            with trio.move_on_after(_PARTING if self.at_rest else 0):
                await self._process.wait()
            self._kill_group()
            await self._process.wait()
            await self._stdout.aclose()
            await self._stderr.aclose()


@asynccontextmanager
async def open_process_subject(
    command: Sequence[str],
    *,
    profile: str,
    patience: float = PATIENCE,
    hello_within: float = HELLO_WITHIN,
    limits: Limits = LIMITS,
) -> AsyncGenerator[ProcessSubject]:
    """Start a program as a subject, and end it when the block is left.

    Args:
        command: program and arguments; ` --profile PROFILE` must already be among them if the program wants
            it.
        profile: put into the child's environment as PI_PROFILE.
        patience: seconds for each reply.
        hello_within: seconds for the `hello`.
        limits: how much the subject may say.

    Raises:
        SubjectUnstartable: there is no such program, or it did not introduce itself.
    """
    try:
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PI_PROFILE": profile},
            start_new_session=True,
        )
    except OSError as error:
        raise SubjectUnstartable(f"{' '.join(command)}: {error.strerror}") from None
    subject = ProcessSubject(process, patience, limits)
    try:
        with single_errors():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(subject.keep_stderr)
                nursery.start_soon(subject.watch)
                await subject.introduce(hello_within)
                yield subject
                nursery.cancel_scope.cancel()
    finally:
        await subject.end()
