"""A subject that is a program of its own, reached over its stdin and stdout.

The child runs in a session of its own, so that it and whatever it starts can be ended together and a Ctrl-C
at the terminal reaches the tester alone. Of its stderr the end is kept, which is what tells why it died.
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

from .remote import HELLO_WITHIN, PATIENCE, RemoteSubject
from .tail import Tail

_PARTING: Final = 2.0
"""Seconds that a child has to end by itself after its stdin was closed, and for its last words."""


class ProcessSubject(RemoteSubject):
    """A running child; made by `open_process_subject`."""

    def __init__(self, process: trio.Process, patience: float, limits: Limits) -> None:
        super().__init__(patience, limits)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._framing = Framing(limits.line)
        self._lines: deque[bytes] = deque()
        self._tail = Tail()
        self._stderr_ended = trio.Event()

    async def keep_stderr(self) -> None:
        """Read stderr until it ends."""
        try:
            async for chunk in self._stderr:
                self._tail.add(chunk)
        except trio.BrokenResourceError:
            pass
        finally:
            self._stderr_ended.set()

    async def _send(self, text: str) -> None:
        try:
            await self._stdin.send_all(f"{text}\n".encode())
        except trio.BrokenResourceError:
            raise SubjectDied(f"it does not read its stdin any more; {await self._fate()}") from None

    async def _next(self) -> Object:
        while not self._lines:
            chunk = await self._stdout.receive_some(65536)
            if not chunk:
                rest = self._framing.rest
                unfinished = (
                    f" in the middle of a line ({rest[:60].decode('utf-8', 'replace')!a})" if rest else ""
                )
                raise SubjectDied(f"its stdout ended{unfinished}; {await self._fate()}")
            self._count(len(chunk))
            self._lines.extend(self._framing.feed(bytes(chunk)))
        return decode(self._lines.popleft())

    async def _fate(self) -> str:
        """What became of the process."""
        with trio.move_on_after(_PARTING):
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
            with suppress(ProcessLookupError, PermissionError):  # nothing is left of it
                os.killpg(self._process.pid, signal.SIGKILL)
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
                await subject.introduce(hello_within)
                yield subject
                nursery.cancel_scope.cancel()
    finally:
        await subject.end()
